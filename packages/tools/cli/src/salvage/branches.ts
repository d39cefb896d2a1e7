import { type SessionEvent, stringifyEvent } from '@palimpsest/session'
import type { ReadableRecord } from '@palimpsest/session-persistence-jsonl'
import { History, forkHistory } from './history.ts'
import type { RawPart, SalvagePart } from './sections.ts'

export interface BranchPlan {
  /** Those with the most records first. */
  readonly histories: readonly History[]
  /** Records that equal one of a history. */
  readonly repeats: ReadonlySet<SalvagePart>
}

/**
 * Sorts the records of a damaged log into histories. A record goes on with the history that it continues; of several
 * with the one that it fits, by its turn, step and calls; where that does not tell them apart, the one written to last,
 * or each in turn where they take turns and the log still holds a record for each. One whose seq is taken by another event begins a history
 * of its own, from the history that was written to last, else from one that holds what comes before; one whose predecessors come later in the file waits for them; what is there twice is left out. Pure.
 * Time: records times the histories that could go on at that seq. SPEC 5.2.
 */
export function planBranches(parts: readonly SalvagePart[]): BranchPlan {
  const planner = new Planner(parts)
  for (const [index, part] of parts.entries()) {
    if (part.kind === 'record') planner.sort(part, index)
    else if (part.kind === 'raw') planner.keepRaw(part, part.reason)
    else if (part.kind === 'nul') planner.noteLoss()
  }
  return planner.finish()
}

class Planner {
  readonly #histories: History[] = []
  readonly #byNext = new Map<number, Set<History>>()
  readonly #repeats = new Set<SalvagePart>()
  /** By seq, the first event of it, or the text of each where there are several. */
  readonly #known = new Map<number, SessionEvent | Set<string>>()
  /** By seq, the last part that is a record of it, and how many are still to come. */
  readonly #lastPlace = new Map<number, number>()
  readonly #ahead = new Map<number, number>()
  /** By seq, records that came before one that they follow; the next to be taken is the last. */
  readonly #early = new Map<number, ReadableRecord[]>()
  readonly #count: number
  #current: History
  #longest: History
  #placed = 0
  /** Unreadable bytes stand behind the record that was placed last. */
  #isLossy = false
  /** Records that the current history took one after the other. */
  #run = 0

  constructor(parts: readonly SalvagePart[]) {
    let count = 0
    for (const [index, part] of parts.entries()) {
      if (part.kind !== 'record') continue
      count += 1
      this.#lastPlace.set(part.event.seq, index)
      this.#ahead.set(part.event.seq, (this.#ahead.get(part.event.seq) ?? 0) + 1)
    }
    this.#count = count
    this.#current = this.#begin(new History())
    this.#longest = this.#current
  }

  keepRaw(part: ReadableRecord | RawPart, reason: string): void {
    this.#current.steps.push({ kind: 'bytes', part, reason })
    this.#isLossy = true
  }

  noteLoss(): void {
    this.#isLossy = true
  }

  sort(part: ReadableRecord, index: number): void {
    const { seq } = part.event
    if (this.#isRepeat(part)) return this.#spend(part)
    if (seq > this.#current.next && !this.#byNext.has(seq) && this.#isAwaited(index)) {
      const waiting = this.#early.get(seq)
      if (waiting === undefined) this.#early.set(seq, [part])
      else waiting.push(part)
      return
    }
    this.#place(part)
    for (let each = this.#takeEarly(); each !== undefined; each = this.#takeEarly()) this.#place(each)
  }

  finish(): BranchPlan {
    const left = [...this.#early.values()].flat().toSorted((left, right) => left.event.seq - right.event.seq)
    for (const [index, part] of left.entries()) {
      const { seq } = part.event
      // A lone seq beyond all that the log could hold is a damaged one.
      const isLone = !this.#byNext.has(seq) && left[index + 1]?.event.seq !== seq + 1
      if (!isLone || seq - this.#current.next <= this.#count) this.#place(part)
      else this.keepRaw(part, 'out-of-order')
    }
    const histories = this.#histories.filter(({ steps }) => steps.length > 0)
    return { histories: histories.toSorted((left, right) => right.records - left.records), repeats: this.#repeats }
  }

  /** Whether a record that some history lacks comes later in the file. */
  #isAwaited(index: number): boolean {
    for (const next of this.#byNext.keys()) if ((this.#lastPlace.get(next) ?? -1) > index) return true
    return false
  }

  #place(part: ReadableRecord): void {
    const continued = this.#pick(part.event)
    if (continued !== undefined) this.#current = continued
    else {
      const forked = this.#forkFor(part.event)
      if (forked !== undefined) this.#current = this.#begin(forked)
    }
    this.#isLossy = false
    this.#spend(part)
    const history = this.#current
    const before = this.#byNext.get(history.next)
    before?.delete(history)
    if (before?.size === 0) this.#byNext.delete(history.next)
    history.take(part)
    this.#placed += 1
    this.#run = history.touched === this.#placed - 1 ? this.#run + 1 : 1
    history.touched = this.#placed
    this.#offer(history)
    if (history.next > this.#longest.next) this.#longest = history
  }

  /** The history that the event goes on with; undefined where it follows none. */
  #pick(event: SessionEvent): History | undefined {
    const [only, ...others] = this.#byNext.get(event.seq) ?? []
    if (only === undefined || others.length === 0) return only
    let best: History[] = []
    let bestFit = -Infinity
    for (const history of [only, ...others]) {
      const fit = history.state.fit(event)
      if (fit > bestFit) [best, bestFit] = [[history], fit]
      else if (fit === bestFit) best.push(history)
    }
    const isTurns = this.#run === 1 && (this.#ahead.get(event.seq) ?? 0) >= best.length
    return best.reduce((left, right) => (left.touched < right.touched === isTurns ? left : right))
  }

  /**
   * A new history that begins with the event; undefined where the current one goes on with it, behind what is missing.
   * That one does where something was lost right before the event, or where the event fits there better.
   */
  #forkFor(event: SessionEvent): History | undefined {
    const { seq } = event
    if (seq < this.#current.next) return forkHistory(this.#current, seq)
    let holder: History | undefined = this.#current.parent
    while (holder !== undefined && holder.next <= seq) holder = holder.parent
    if (holder === undefined && this.#longest.next > seq) holder = this.#longest
    if (holder === undefined || this.#isLossy) return undefined
    const forked = forkHistory(holder, seq)
    return this.#current.state.fit(event) > forked.state.fit(event) ? undefined : forked
  }

  #begin(history: History): History {
    this.#histories.push(history)
    this.#offer(history)
    return history
  }

  #offer(history: History): void {
    const waiting = this.#byNext.get(history.next)
    if (waiting === undefined) this.#byNext.set(history.next, new Set([history]))
    else waiting.add(history)
  }

  /** The record has its place, or needs none. */
  #spend({ event: { seq } }: ReadableRecord): void {
    this.#ahead.set(seq, (this.#ahead.get(seq) ?? 1) - 1)
  }

  #isRepeat(part: ReadableRecord): boolean {
    const { seq } = part.event
    const known = this.#known.get(seq)
    if (known === undefined) {
      this.#known.set(seq, part.event)
      return false
    }
    const texts = known instanceof Set ? known : new Set([textOf(known)])
    const text = textOf(part.event)
    const isRepeat = part.isRepeat || (text !== undefined && texts.has(text))
    texts.add(text)
    this.#known.set(seq, texts as Set<string>)
    if (isRepeat) this.#repeats.add(part)
    return isRepeat
  }

  #takeEarly(): ReadableRecord | undefined {
    const waiting = this.#early.get(this.#current.next)
    const part = waiting?.shift()
    if (waiting?.length === 0) this.#early.delete(this.#current.next)
    return part
  }
}

/** Equal for equal events; undefined for one that nests too deep to be written out. */
function textOf(event: SessionEvent): string | undefined {
  try {
    return stringifyEvent(event)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
