import { countMember, objectMember } from '../json.ts'
import type { LooseObject } from '../json.ts'

/** A row on the surface of the source, and the key of the draft that stands for it here; none where nothing does. */
interface Entry {
  readonly seq: number
  readonly key?: string
}
type Ranked = Entry & { readonly rank: number }

/** Entries of the surface by place, both ends inclusive. */
export interface SurfaceRange {
  readonly start: number
  readonly end: number
}

/** The surface as the source folds it, in the terms of the drafts that were made of its rows. SPEC 1. */
export class SourceSurface {
  /** Ascending by rank. An entry takes the rank of the last one that it replaces. */
  readonly #entries: Ranked[] = []
  /** Of every entry that is or was there. */
  readonly #ranksBySeq = new Map<number, number>()
  readonly #ranksByKey = new Map<string, number>()
  #next = 0

  get length(): number {
    return this.#entries.length
  }

  /** What a row replaces, as far as it is there now. */
  rangeOf(row: LooseObject): SurfaceRange | undefined {
    const replaced = replacedBy(row)
    if (replaced === undefined) return undefined
    const [start, end] = [this.#placeOf(replaced.start), this.#placeOf(replaced.end)]
    return start === -1 || end < start ? undefined : { start, end }
  }

  /** The key of the first entry of a range that something stands for. */
  keyIn({ start, end }: SurfaceRange): string | undefined {
    return this.#entries.slice(start, end + 1).find(({ key }) => key !== undefined)?.key
  }

  /** The keys of what stands behind a range. Looked up when it is asked for: a list for each replacement would be quadratic. */
  behind({ end }: SurfaceRange): ReadonlySet<string> {
    const last = this.#entries[end]?.rank ?? Infinity
    return new Behind((key) => (this.#ranksByKey.get(key) ?? -1) > last)
  }

  append(entry: Entry): void {
    this.#entries.push(this.#ranked(entry, this.#next))
    this.#next += 1
  }

  replace({ start, end }: SurfaceRange, entry: Entry): void {
    const { rank } = this.#entries[end] ?? { rank: this.#next }
    this.#entries.splice(start, end - start + 1, this.#ranked(entry, rank))
  }

  #ranked(entry: Entry, rank: number): Ranked {
    this.#ranksBySeq.set(entry.seq, rank)
    if (entry.key !== undefined) this.#ranksByKey.set(entry.key, rank)
    return { ...entry, rank }
  }

  #placeOf(seq: number): number {
    const wanted = this.#ranksBySeq.get(seq) ?? -1
    let low = 0
    let high = this.#entries.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#entries[middle]?.rank ?? 0) < wanted) low = middle + 1
      else high = middle
    }
    return this.#entries[low]?.seq === seq ? low : -1
  }
}

class Behind extends Set<string> {
  readonly #holds: (key: string) => boolean

  constructor(holds: (key: string) => boolean) {
    super()
    this.#holds = holds
  }

  override has(key: string): boolean {
    return this.#holds(key)
  }
}

/** The seqs that a replacement names, in the members of any version. */
export function replacedBy(row: LooseObject): SurfaceRange | undefined {
  const op = objectMember(row, 'surfaceOp')
  if (op === undefined) return undefined
  const start = countMember(op, 'startSeq') ?? countMember(op, 'start')
  const end = countMember(op, 'endSeq') ?? countMember(op, 'end')
  return start === undefined || end === undefined ? undefined : { start, end }
}
