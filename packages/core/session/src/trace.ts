import type { EventOf, SessionEvent, StepRef } from './events.ts'
import type { Finding } from './findings.ts'
import type { SessionSeq, ToolCallId } from './ids.ts'
import { callsOf } from './pairing.ts'

type StepEvent = EventOf<'assistant/message' | 'assistant/attempt' | 'tool/call' | 'tool/result' | 'request/start'>

/**
 * Diagnostics of a log that acceptance does not rule on: turn and step enclosure, and citations. Codes: `trace/turn`,
 * `trace/step`, `trace/enclosure`, `trace/unknown-call`, `trace/uncited-call`, `trace/request`,
 * `trace/undelivered-result`. Pure. SPEC 3.1.
 */
export function traceFindings(events: readonly SessionEvent[]): Finding[] {
  const tracer = new Tracer(events)
  for (const event of events) tracer.see(event)
  return tracer.finish()
}

class Tracer {
  readonly #events: readonly SessionEvent[]
  readonly #findings: Finding[] = []
  /** Open calls, with the last `tool/call` recorded for each. */
  readonly #calls = new Map<ToolCallId, SessionSeq | undefined>()
  readonly #late = new Set<SessionSeq>()
  #turn: number | undefined
  #lastTurn = 0
  #step: StepRef | undefined

  constructor(events: readonly SessionEvent[]) {
    this.#events = events
  }

  see(event: SessionEvent): void {
    switch (event.type) {
      case 'turn/start':
        return this.#startTurn(event)
      case 'turn/end':
        return this.#endTurn(event)
      case 'step/start':
        return this.#startStep(event)
      case 'step/end':
        return this.#endStep(event)
      case 'assistant/message':
        this.#enclosed(event)
        this.#answersRequest(event)
        for (const id of callsOf(event)) this.#calls.set(id, undefined)
        return
      case 'assistant/attempt':
        this.#enclosed(event)
        return this.#answersRequest(event)
      case 'request/start':
        return this.#enclosed(event)
      case 'tool/call':
        return this.#recordCall(event)
      case 'tool/result':
        return this.#settle(event)
      case 'tool/late-result':
        this.#late.add(event.seq)
        return
      case 'user/message':
        for (const seq of event.sourceEventSeqs ?? []) this.#late.delete(seq)
        return
      default:
    }
  }

  finish(): Finding[] {
    for (const seq of this.#late) {
      this.#warn(seq, 'trace/undelivered-result', 'this late result was not delivered to the model yet')
    }
    return this.#findings
  }

  #startTurn({ seq, data }: EventOf<'turn/start'>): void {
    if (this.#turn !== undefined) this.#warn(seq, 'trace/turn', `turn ${data.turn} starts inside turn ${this.#turn}`)
    if (data.turn <= this.#lastTurn)
      this.#warn(seq, 'trace/turn', `turn ${data.turn} starts after turn ${this.#lastTurn}`)
    this.#turn = data.turn
    this.#lastTurn = Math.max(this.#lastTurn, data.turn)
  }

  #endTurn({ seq, data }: EventOf<'turn/end'>): void {
    if (this.#turn !== data.turn) this.#warn(seq, 'trace/turn', `turn ${data.turn} ends but is not open`)
    if (this.#step !== undefined) this.#warn(seq, 'trace/step', `step ${this.#step.step} is open when its turn ends`)
    this.#turn = undefined
    this.#step = undefined
  }

  #startStep({ seq, data }: EventOf<'step/start'>): void {
    if (this.#turn !== data.turn)
      this.#warn(seq, 'trace/step', `step ${data.step} starts outside its turn ${data.turn}`)
    if (this.#step !== undefined)
      this.#warn(seq, 'trace/step', `step ${data.step} starts inside step ${this.#step.step}`)
    this.#step = data
  }

  #endStep({ seq, data }: EventOf<'step/end'>): void {
    if (!this.#isOpen(data))
      this.#warn(seq, 'trace/step', `step ${data.step} of turn ${data.turn} ends but is not open`)
    this.#step = undefined
  }

  #isOpen({ turn, step }: StepRef): boolean {
    return this.#step?.turn === turn && this.#step.step === step
  }

  #enclosed({ seq, type, data }: StepEvent): void {
    if (this.#isOpen(data)) return
    this.#warn(seq, 'trace/enclosure', `this ${type} is of turn ${data.turn}, step ${data.step}, which is not open`)
  }

  #answersRequest({ seq, data }: EventOf<'assistant/message' | 'assistant/attempt'>): void {
    const { requestSeq } = data
    if (requestSeq === undefined) return
    if (requestSeq < seq && this.#events[requestSeq]?.type === 'request/start') return
    this.#warn(seq, 'trace/request', `its requestSeq ${requestSeq} is not an earlier request/start`)
  }

  #recordCall(event: EventOf<'tool/call'>): void {
    this.#enclosed(event)
    const { callId } = event.data
    if (this.#calls.has(callId)) this.#calls.set(callId, event.seq)
    else this.#warn(event.seq, 'trace/unknown-call', `call ${callId} is recorded but no assistant message left it open`)
  }

  #settle(event: EventOf<'tool/result'>): void {
    // A rewritten result keeps the turn, the step and the citations of a call that was settled before.
    if (event.surfaceOp !== 'append') return
    this.#enclosed(event)
    const { callId } = event.data.message.source
    const recorded = this.#calls.get(callId)
    this.#calls.delete(callId)
    if (recorded === undefined || event.sourceEventSeqs?.includes(recorded) === true) return
    this.#warn(
      event.seq,
      'trace/uncited-call',
      `the result of call ${callId} does not cite its tool/call, event ${recorded}`,
    )
  }

  #warn(seq: SessionSeq, code: string, message: string): void {
    this.#findings.push({ code, severity: 'warning', seq, message })
  }
}
