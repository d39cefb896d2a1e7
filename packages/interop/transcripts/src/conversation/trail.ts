import { interruptedTurnClosers, messageId } from '@palimpsest/session'
import type { Session, SessionSeq, StepRef, ToolCallId, TurnEndReason } from '@palimpsest/session'

/** The turns and steps of a session that is being written, and the calls still open in it. SPEC 2.3, 4. */
export class Trail {
  readonly #session: Session
  readonly #open = new Set<ToolCallId>()
  readonly #synthetic = new Set<SessionSeq>()
  #turn = 0
  #step = 0
  #stepSeq = 0
  #inTurn = false
  #inStep = false
  #stepHasModel = false

  constructor(session: Session) {
    this.#session = session
  }

  /** Results that nobody gave: closers of calls that the source leaves unanswered. */
  get synthetic(): ReadonlySet<SessionSeq> {
    return this.#synthetic
  }

  get isInTurn(): boolean {
    return this.#inTurn
  }

  /** Turn and step that something belongs to which is no response: the last ones, open or not. */
  get currentStep(): StepRef {
    return { turn: Math.max(this.#turn, 1), step: Math.max(this.#step, 1) }
  }

  /** Begins a turn and its first step. */
  startTurn(): StepRef {
    this.#turn += 1
    this.#step = 0
    this.#session.append('turn/start', { turn: this.#turn })
    this.#inTurn = true
    return this.#startStep()
  }

  /** The step for one API response: the one that waits for it, or a new one. */
  modelStep(): StepRef {
    const step = this.#inStep && !this.#stepHasModel ? { turn: this.#turn, step: this.#step } : this.#startStep()
    this.#stepHasModel = true
    return step
  }

  #startStep(): StepRef {
    this.endStep()
    this.#step += 1
    const step = { turn: this.#turn, step: this.#step }
    this.#stepSeq = this.#session.append('step/start', step).seq
    this.#inStep = true
    this.#stepHasModel = false
    return step
  }

  opened(callId: ToolCallId): void {
    this.#open.add(callId)
  }

  answered(callId: ToolCallId): void {
    this.#open.delete(callId)
  }

  /** Answers what is still open, as after a crash, so that the conversation can go on. Returns the calls. */
  settle(): readonly ToolCallId[] {
    if (this.#open.size === 0) return []
    // The step holds all that is open, so the rest of the log need not be read again.
    for (const closer of interruptedTurnClosers([...this.#session.eventsFrom(this.#stepSeq)])) {
      if (closer.type !== 'tool/result') continue
      const message = { ...closer.data.message, id: messageId(`interrupted-${this.#session.length}`) }
      this.#append({ ...closer, data: { ...closer.data, message } })
    }
    const settled = [...this.#open]
    this.#open.clear()
    return settled
  }

  endStep(): void {
    if (!this.#inStep || this.#open.size > 0) return
    this.#session.append('step/end', { turn: this.#turn, step: this.#step })
    this.#inStep = false
  }

  endTurn(reason: TurnEndReason): void {
    if (!this.#inTurn) return
    this.endStep()
    this.#session.append('turn/end', { turn: this.#turn, reason })
    this.#inTurn = false
  }

  /** Closes what the source leaves open at its end. Returns the calls that nobody answered. SPEC 4. */
  finish(): readonly ToolCallId[] {
    for (const closer of interruptedTurnClosers(this.#session.events)) this.#append(closer)
    const unanswered = [...this.#open]
    this.#open.clear()
    return unanswered
  }

  #append(closer: ReturnType<typeof interruptedTurnClosers>[number]): void {
    if (closer.type === 'tool/result') {
      const { surfaceOp, sourceEventSeqs } = closer
      const intent = { surfaceOp, ...(sourceEventSeqs === undefined ? {} : { sourceEventSeqs }) }
      this.#synthetic.add(this.#session.append('tool/result', closer.data, intent).seq)
    } else if (closer.type === 'step/end') this.#session.append('step/end', closer.data)
    else if (closer.type === 'turn/end') this.#session.append('turn/end', closer.data)
  }
}
