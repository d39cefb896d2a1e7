import {
  type Session,
  type TokenUsage,
  type TurnEndReason,
  type UserMessage,
  interruptedTurnClosers,
} from '@palimpsest/session'
import { throwIfAborted } from './abort.ts'
import type { ModelAnswer } from './ask-model.ts'
import { messageOf } from './failure.ts'
import { settleHead } from './head.ts'
import type { LoopParts } from './loop-config.ts'
import type { TurnResult } from './options.ts'
import { appendPending, runStep } from './step.ts'
import { TurnStop, failTurn } from './turn-stop.ts'
import { addUsage } from './usage.ts'

export interface TurnInput {
  readonly signal: AbortSignal
  /** What the turn begins with and what its steps claim; each message leaves it when it is in the log. */
  readonly pending: UserMessage[]
  /** What waits for the next step. */
  readonly claimStep: () => readonly UserMessage[]
  /** Whether something waits that keeps the turn going. */
  readonly isSteered: () => boolean
}

/**
 * One turn, from `turn/start` to `turn/end`, whatever happens in between. Rejects only when the log refuses one of these
 * or the input.
 */
export async function runTurn(parts: LoopParts, input: TurnInput): Promise<TurnResult> {
  const turn = new Turn(parts, input)
  return turn.run()
}

class Turn {
  readonly #parts: LoopParts
  readonly #input: TurnInput
  readonly #turn: number
  #step = 0
  #text = ''
  #usage: TokenUsage = {}

  constructor(parts: LoopParts, input: TurnInput) {
    this.#parts = parts
    this.#input = input
    this.#turn = parts.log.lastTurn + 1
  }

  async run(): Promise<TurnResult> {
    const { session, log } = this.#parts
    // A listener may have vetoed the end of the turn before: turns do not nest.
    if (log.isTurnOpen) forceClose(session, 'turn')
    session.append('turn/start', { turn: this.#turn })
    const reason = await this.#steps().catch((error: unknown) => this.#reasonOf(error))
    this.#keepInput()
    session.append('turn/end', { turn: this.#turn, reason })
    return { turn: this.#turn, steps: this.#step, reason, text: this.#text, usage: this.#usage }
  }

  async #steps(): Promise<TurnEndReason> {
    const { signal, pending, claimStep, isSteered } = this.#input
    const { maxSteps } = this.#parts
    for (;;) {
      throwIfAborted(signal)
      if (this.#step >= maxSteps) {
        throw failTurn('loop/max-steps', `the turn needed more than ${maxSteps} steps: raise maxSteps or ask for less`)
      }
      if (this.#step > 0) pending.push(...claimStep())
      this.#step += 1
      const { finish, calls } = await runStep(this.#parts, {
        turn: this.#turn,
        step: this.#step,
        signal,
        pending,
        onAnswer: (answer) => this.#count(answer),
      })
      throwIfAborted(signal)
      if (calls > 0) continue
      if (finish === 'length') return { kind: 'max-tokens' }
      if (finish === 'content-filter') return { kind: 'blocked' }
      if (!isSteered()) return { kind: 'completed' }
    }
  }

  #count({ message: { data } }: ModelAnswer): void {
    this.#text = data.message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
    if (data.usage !== undefined) this.#usage = addUsage(this.#usage, data.usage)
  }

  #reasonOf(error: unknown): TurnEndReason {
    // A listener may have vetoed what closes a call or a step: the log must be closed all the same.
    forceClose(this.#parts.session, 'step')
    if (error instanceof TurnStop) return error.reason
    return failTurn('hook/failed', `the turn could not go on: ${messageOf(error)}`).reason
  }

  /** Input that was claimed and not sent: the model reads it with the next turn. */
  #keepInput(): void {
    const { pending } = this.#input
    if (pending.length === 0) return
    const { session, system, createId } = this.#parts
    settleHead(session, system, { turn: this.#turn, step: Math.max(this.#step, 1) }, createId)
    appendPending(this.#parts, pending)
  }
}

/** Closes calls and step, and the turn too when it is asked for. */
function forceClose(session: Session, what: 'step' | 'turn'): void {
  for (const closer of interruptedTurnClosers(session.events)) {
    if (closer.type === 'turn/end') {
      if (what === 'turn') session.append('turn/end', closer.data)
    } else if (closer.type === 'step/end') session.append('step/end', closer.data)
    else if (closer.type === 'tool/result') {
      const { surfaceOp, sourceEventSeqs } = closer
      session.append('tool/result', closer.data, { surfaceOp, ...(sourceEventSeqs && { sourceEventSeqs }) })
    }
  }
}
