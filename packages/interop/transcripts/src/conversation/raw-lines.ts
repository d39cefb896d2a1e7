import type { Session } from '@palimpsest/session'
import type { UnmappedLine } from '../report.ts'
import type { Draft } from './draft.ts'
import type { Pairing } from './pair.ts'
import type { KeptLine } from './source-lines.ts'

/** The lines that a session keeps as they stand, and when they are written: in file order, before what follows them. */
export class RawLines {
  readonly unmapped: UnmappedLine[] = []
  readonly #session: Session
  readonly #setTime: (time: number) => void
  readonly #lines: readonly KeptLine[]
  readonly #reasons = new Map<number, { readonly reason: string; readonly type?: string }>()
  #next = 0

  constructor(
    session: Session,
    setTime: (time: number) => void,
    lines: readonly KeptLine[],
    drafts: readonly Draft[],
    { orphans }: Pairing,
  ) {
    this.#session = session
    this.#setTime = setTime
    this.#lines = lines
    for (const [{ origin }, reason] of orphans) for (const line of origin.lines) this.#reasons.set(line, { reason })
    for (const draft of drafts) {
      if (draft.kind !== 'raw' || this.#reasons.has(draft.line)) continue
      const { reason, type } = draft
      this.#reasons.set(draft.line, { reason, ...(type === undefined ? {} : { type }) })
    }
  }

  /** By line, why it is kept raw. */
  get reasons(): ReadonlyMap<number, string> {
    return new Map(this.unmapped.map(({ line, reason }) => [line, reason]))
  }

  /** Writes what is kept of the lines before one. */
  keepBefore(before: number): void {
    for (let kept = this.#lines[this.#next]; kept !== undefined && kept.line < before; kept = this.#lines[this.#next]) {
      this.#next += 1
      this.#keep(kept)
    }
  }

  /** Marks every line that is neither in a message nor kept: no line is lost. Call it before the last `keepBefore`. */
  keepUnplaced(mapped: ReadonlySet<number>): void {
    for (const [place, { line }] of this.#lines.entries()) {
      if (mapped.has(line) || this.#reasons.has(line)) continue
      this.#reasons.set(line, { reason: 'line/unplaced' })
      const kept = this.#lines[place]
      if (place < this.#next && kept !== undefined) this.#keep(kept)
    }
  }

  #keep({ time, ...kept }: KeptLine): void {
    const why = this.#reasons.get(kept.line)
    if (why === undefined) return
    if (time !== undefined) this.#setTime(time)
    this.#session.append('import/raw', { ...kept, reason: why.reason }, { ignorable: true })
    this.unmapped.push({ line: kept.line, ...why })
  }
}
