import type { SessionEvent, SessionSeq, SurfaceReplacement, TurnEndReason } from '@palimpsest/session'

/** What the rest of a log says about one of its events. */
export class LogFacts {
  readonly #turns: number[] = []
  readonly #ends = new Map<number, TurnEndReason>()
  readonly #callNames = new Map<SessionSeq, string>()
  readonly #covered = new Map<SessionSeq, readonly SessionSeq[]>()
  readonly #coveredBy = new Map<SessionSeq, SessionSeq>()

  constructor(events: readonly SessionEvent[], replacements: readonly SurfaceReplacement[]) {
    const names = new Map<string, string>()
    let turn = 0
    for (const event of events) {
      if (event.type === 'turn/start') turn = event.data.turn
      else if (event.type === 'turn/end') this.#ends.set(event.data.turn, event.data.reason)
      else if (event.type === 'assistant/message') {
        for (const block of event.data.message.content) if (block.type === 'tool-call') names.set(block.id, block.name)
      } else if (event.type === 'tool/result') {
        this.#callNames.set(event.seq, names.get(event.data.message.source.callId) ?? '')
      }
      this.#turns.push(turn)
    }
    for (const { seq, shadowedSeqs } of replacements) {
      this.#covered.set(seq, shadowedSeqs)
      for (const shadowed of shadowedSeqs) this.#coveredBy.set(shadowed, seq)
    }
  }

  /** The turn that an event stands in; 0 before the first one. */
  turnOf(seq: SessionSeq): number {
    return this.#turns[seq] ?? 0
  }

  endOf(turn: number): TurnEndReason | undefined {
    return this.#ends.get(turn)
  }

  /** The tool whose call a result answers; empty where that is not known. */
  callName(seq: SessionSeq): string {
    return this.#callNames.get(seq) ?? ''
  }

  /** Entries that one stands for, in surface order. */
  coveredBy(seq: SessionSeq): readonly SessionSeq[] {
    return this.#covered.get(seq) ?? []
  }

  /** The entry that stands for this one now; absent on the surface. */
  replacedBy(seq: SessionSeq): SessionSeq | undefined {
    return this.#coveredBy.get(seq)
  }
}
