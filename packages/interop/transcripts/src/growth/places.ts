import { remapReferences } from '@palimpsest/compact'
import { sessionSeq, stringifyEvent } from '@palimpsest/session'
import type { SessionEvent, SessionSeq } from '@palimpsest/session'
import type { ImportRegrown } from '../events.ts'

/** Where the events of an import stand in a log that it was extended into. */
export class Places {
  readonly #places: number[] = []
  readonly #turns: number[] = []
  /** What an event replaces in the log that it only follows in the import. */
  readonly #covers = new Map<number, readonly SessionSeq[]>()
  #delta = 0
  #heads: NonNullable<ImportRegrown['heads']> = []
  /** Events of the import that made a head which the log has from an earlier reading. */
  readonly #kept = new Set<number>()

  constructor(here: readonly SessionEvent[]) {
    let covers = false
    for (const [at, event] of here.entries()) {
      if (event.type === 'import/regrown') {
        this.restart(event.data)
        covers = event.data.covers
        continue
      }
      if (covers && event.surfaceOp !== undefined) {
        this.cover(this.length, event.sourceEventSeqs ?? [])
        covers = false
      }
      this.add(at)
    }
  }

  get length(): number {
    return this.#places.length
  }

  /** What follows is a reading of the source from one of its events on. */
  restart({ from, turns, heads = [] }: Pick<ImportRegrown, 'from' | 'turns' | 'heads'>): void {
    this.#places.length = Math.min(this.#places.length, from)
    this.#turns.length = this.#places.length
    for (const event of this.#covers.keys()) if (event >= from) this.#covers.delete(event)
    for (const event of this.#kept) if (event >= from) this.#kept.delete(event)
    this.#delta = turns
    this.#heads = heads
  }

  cover(event: number, covered: readonly SessionSeq[]): void {
    this.#covers.set(event, covered)
  }

  add(at: number): void {
    this.#places.push(at)
    this.#turns.push(this.#delta)
    // The head of the surface stays where it is: no turn that is read again brings another.
    for (let kept = this.#keptNext(); kept !== undefined; kept = this.#keptNext()) {
      this.#kept.add(this.#places.length)
      this.#places.push(kept.at)
      this.#turns.push(0)
    }
  }

  #keptNext(): { readonly at: number } | undefined {
    return this.#heads.find(({ event }) => event === this.#places.length)
  }

  of(seq: number): number {
    return this.#places[seq] ?? seq
  }

  /** An event of the import as it stands in the log. */
  moved(event: SessionEvent): SessionEvent {
    const map = (seq: SessionSeq): SessionSeq => sessionSeq(this.of(seq))
    const moved = { ...remapReferences(event, { cited: map, through: map }), seq: map(event.seq) }
    const { data } = moved as { readonly data: { readonly turn?: unknown } }
    const delta = this.#turns[event.seq] ?? this.#delta
    const turn = delta === 0 || typeof data.turn !== 'number' ? {} : { data: { ...data, turn: data.turn + delta } }
    return { ...moved, ...this.#replacing(event.seq), ...turn } as SessionEvent
  }

  #replacing(event: number): object {
    const covered = this.#covers.get(event)
    const [startSeq, endSeq] = [covered?.[0], covered?.at(-1)]
    if (startSeq === undefined || endSeq === undefined) return {}
    return { surfaceOp: { op: 'replace', startSeq, endSeq }, sourceEventSeqs: covered }
  }

  isAt(fresh: readonly SessionEvent[], seq: number, here: readonly SessionEvent[]): boolean {
    const [event, known] = [fresh[seq], here[this.of(seq)]]
    if (event === undefined || known === undefined) return false
    if (this.#kept.has(seq)) return isSamePrompt(event, known)
    return stringifyEvent(this.moved(event)) === stringifyEvent(known)
  }
}

/** Two readings of one head may differ in their times and turns. */
export function isSamePrompt(left: SessionEvent, right: SessionEvent): boolean {
  if (left.type !== 'system/message' || right.type !== 'system/message') return false
  return JSON.stringify(left.data.message) === JSON.stringify(right.data.message)
}
