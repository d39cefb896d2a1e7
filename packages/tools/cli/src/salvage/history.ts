import type { ReadableRecord } from '@palimpsest/session-persistence-jsonl'
import type { RawPart } from './sections.ts'
import { HistoryState } from './state.ts'

/** One step of a history, in the order in which it is written. */
export type HistoryStep =
  | { readonly kind: 'record'; readonly part: ReadableRecord }
  /** Bytes that hold no record of this history, or one without a place in it. */
  | { readonly kind: 'bytes'; readonly part: ReadableRecord | RawPart; readonly reason: string }
  /** Seqs that the log does not hold, both inclusive. */
  | { readonly kind: 'missing'; readonly from: number; readonly to: number }

/** How many records before a fork are looked at for what the fork is in the middle of. */
const LOOK_BACK = 256

/** A history that grows: what it shares with the one that it forks from is there once. */
export class History {
  /** The history that it shares its begin with; undefined for one that begins on its own. */
  readonly parent: History | undefined
  /** First seq that it has to itself. */
  readonly forkSeq: number
  /** Its own, behind what it shares. */
  readonly steps: HistoryStep[] = []
  readonly state: HistoryState = new HistoryState()
  /** Place of its last record among all that were placed. */
  touched = 0
  next: number
  /** Records, shared ones included. */
  records: number
  /** Seqs of its own records, ascending, and where each stands in `steps`. */
  readonly #seqs: number[] = []
  readonly #places: number[] = []

  constructor(forkSeq = 0, parent?: History) {
    this.forkSeq = forkSeq
    this.parent = parent
    this.next = forkSeq
    this.records = 0
    if (parent === undefined) return
    this.records = parent.records - (parent.#seqs.length - parent.#indexOf(forkSeq))
    for (const { event } of parent.#recordsBefore(forkSeq)) this.state.follow(event)
  }

  take(part: ReadableRecord): void {
    const { seq } = part.event
    if (seq > this.next) this.steps.push({ kind: 'missing', from: this.next, to: seq - 1 })
    this.#seqs.push(seq)
    this.#places.push(this.steps.length)
    this.steps.push({ kind: 'record', part })
    this.state.follow(part.event)
    this.next = seq + 1
    this.records += 1
  }

  /** Every step, shared ones first. */
  allSteps(): readonly HistoryStep[] {
    const parts: (readonly HistoryStep[])[] = [this.steps]
    let [forkSeq, parent] = [this.forkSeq, this.parent]
    for (; parent !== undefined; [forkSeq, parent] = [parent.forkSeq, parent.parent])
      parts.push(parent.#stepsBefore(forkSeq))
    return parts.toReversed().flat()
  }

  #stepsBefore(seq: number): readonly HistoryStep[] {
    const index = this.#indexOf(seq)
    const steps = this.steps.slice(0, this.#places[index] ?? this.steps.length)
    const last = steps.at(-1)
    if (last?.kind !== 'missing' || last.to < seq) return steps
    return [...steps.slice(0, -1), ...(last.from < seq ? [{ ...last, to: seq - 1 }] : [])]
  }

  /** The last records before `seq`, oldest first. */
  #recordsBefore(seq: number): readonly ReadableRecord[] {
    const found: ReadableRecord[] = []
    let [before, history] = [seq, this as History | undefined]
    for (; history !== undefined && found.length < LOOK_BACK; [before, history] = [history.forkSeq, history.parent]) {
      for (let index = history.#indexOf(before) - 1; index >= 0 && found.length < LOOK_BACK; index -= 1) {
        const step = history.steps[history.#places[index] ?? -1]
        if (step?.kind === 'record') found.push(step.part)
      }
    }
    return found.toReversed()
  }

  /** How many own records come before `seq`. */
  #indexOf(seq: number): number {
    let [low, high] = [0, this.#seqs.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#seqs[middle] ?? 0) < seq) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** A history that shares what comes before `seq`, of the given one or of one that it forks from. */
export function forkHistory(history: History, seq: number): History {
  let parent = history
  // In a loop: histories fork as often as records say so.
  while (seq <= parent.forkSeq && parent.parent !== undefined) parent = parent.parent
  return seq <= parent.forkSeq ? new History() : new History(seq, parent)
}
