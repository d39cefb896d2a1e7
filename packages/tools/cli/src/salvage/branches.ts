import { type SessionEvent, stringifyEvent } from '@palimpsest/session'
import type { DamagedLog, ReadableRecord } from '@palimpsest/session-persistence-jsonl'

type Part = DamagedLog['parts'][number]

/** One step of a branch, in the order in which it is written. */
export type BranchStep =
  | { readonly kind: 'record'; readonly part: ReadableRecord }
  /** Bytes that hold no record of this branch; `seq` where they hold one without a place. */
  | { readonly kind: 'bytes'; readonly part: Part; readonly reason: 'unreadable' | 'out-of-order' }
  /** Seqs that the log does not hold, both inclusive. */
  | { readonly kind: 'missing'; readonly from: number; readonly to: number }

/** One history that a damaged log holds. */
export interface Branch {
  readonly steps: readonly BranchStep[]
  /** First seq that this branch has to itself; 0 for the first branch. */
  readonly forkSeq: number
}

export interface BranchPlan {
  /** The longest first. */
  readonly branches: readonly Branch[]
  /** Bytes by what became of them; they sum up to the size of the log. */
  readonly bytes: Readonly<Record<'header' | 'records' | 'repeats' | 'raw' | 'nul' | 'blank', number>>
}

class GrowingBranch {
  readonly steps: BranchStep[]
  readonly bySeq: Map<number, SessionEvent>
  readonly forkSeq: number
  next: number

  constructor(forkSeq: number, steps: BranchStep[] = [], bySeq = new Map<number, SessionEvent>()) {
    this.forkSeq = forkSeq
    this.steps = steps
    this.bySeq = bySeq
    this.next = forkSeq
  }

  take(part: ReadableRecord): void {
    const { seq } = part.event
    if (seq > this.next) this.steps.push({ kind: 'missing', from: this.next, to: seq - 1 })
    this.steps.push({ kind: 'record', part })
    this.bySeq.set(seq, part.event)
    this.next = seq + 1
  }

  /** A new branch that shares what comes before `seq`. */
  split(seq: number): GrowingBranch {
    const end = this.steps.findIndex((step) => step.kind === 'record' && step.part.event.seq >= seq)
    const steps = this.steps.slice(0, end === -1 ? this.steps.length : end)
    const last = steps.at(-1)
    if (last?.kind === 'missing' && last.to >= seq)
      steps.splice(-1, 1, ...(last.from < seq ? [{ ...last, to: seq - 1 }] : []))
    return new GrowingBranch(seq, steps, new Map([...this.bySeq].filter(([known]) => known < seq)))
  }
}

/**
 * Sorts the records of a damaged log into histories. A record goes on with the branch that it continues, the one written
 * to last before any other; one whose seq is taken by another event begins a branch of its own; one whose predecessors
 * come later in the file waits for them; what is there twice is counted and left out. Pure. SPEC 5.2.
 */
export function planBranches({ parts }: Pick<DamagedLog, 'parts'>): BranchPlan {
  const planner = new Planner(parts)
  for (const [index, part] of parts.entries()) {
    if (part.kind === 'record') planner.sort(part, index)
    else planner.account(part)
  }
  return planner.finish()
}

class Planner {
  readonly #bytes = { header: 0, records: 0, repeats: 0, raw: 0, nul: 0, blank: 0 }
  /** By seq, the last part that is a record of it. */
  readonly #lastPlace: ReadonlyMap<number, number>
  readonly #branches: GrowingBranch[]
  /** By seq, records that came before one that they follow. */
  readonly #early = new Map<number, ReadableRecord[]>()
  #current = new GrowingBranch(0)

  constructor(parts: readonly Part[]) {
    this.#branches = [this.#current]
    this.#lastPlace = new Map(
      parts.flatMap((part, index) => (part.kind === 'record' ? [[part.event.seq, index] as const] : [])),
    )
  }

  account(part: Exclude<Part, ReadableRecord>): void {
    const length = part.end - part.start
    if (part.kind === 'stub') this.#keepRaw(part, 'unreadable')
    else this.#bytes[part.kind === 'repeat' ? 'repeats' : part.kind] += length
  }

  sort(part: ReadableRecord, index: number): void {
    const { seq } = part.event
    const { next } = this.#current
    const continuesOther = next !== seq && this.#branches.some((branch) => branch.next === seq)
    if (seq > next && !continuesOther && (this.#lastPlace.get(next) ?? -1) > index) {
      this.#early.set(seq, [...(this.#early.get(seq) ?? []), part])
      return
    }
    for (let each: ReadableRecord | undefined = part; each !== undefined; each = this.#takeEarly()) this.#place(each)
  }

  finish(): BranchPlan {
    for (const part of [...this.#early.values()].flat()) {
      if (this.#branches.some((branch) => part.event.seq <= branch.next)) this.#place(part)
      else this.#keepRaw(part, 'out-of-order')
    }
    return { branches: this.#branches.toSorted((left, right) => right.next - left.next), bytes: this.#bytes }
  }

  #place(part: ReadableRecord): void {
    const { seq } = part.event
    if (part.isRepeat || this.#branches.some((branch) => isSame(branch.bySeq.get(seq), part.event))) {
      this.#bytes.repeats += part.end - part.start
      return
    }
    const { next } = this.#current
    const continued = next === seq ? this.#current : this.#branches.findLast((branch) => branch.next === seq)
    if (continued !== undefined) this.#current = continued
    else if (seq < next) {
      this.#current = this.#current.split(seq)
      this.#branches.push(this.#current)
    }
    this.#bytes.records += part.end - part.start
    this.#current.take(part)
  }

  #takeEarly(): ReadableRecord | undefined {
    const { next } = this.#current
    const [part, ...rest] = this.#early.get(next) ?? []
    if (rest.length > 0) this.#early.set(next, rest)
    else this.#early.delete(next)
    return part
  }

  #keepRaw(part: Part, reason: 'unreadable' | 'out-of-order'): void {
    this.#bytes.raw += part.end - part.start
    this.#current.steps.push({ kind: 'bytes', part, reason })
  }
}

function isSame(left: SessionEvent | undefined, right: SessionEvent): boolean {
  return left !== undefined && stringifyEvent(left) === stringifyEvent(right)
}
