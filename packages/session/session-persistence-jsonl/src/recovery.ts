import type { SessionEvent } from '@palimpsest/session'
import type { RecoveredRange } from '@palimpsest/session-persistence'
import type { LogScan, Range, ScannedLine, ScannedPiece } from './scan.ts'

/** Smallest unit that a disk loses, in bytes; lost pages begin and end at its multiples. */
const SECTOR = 512

/** What a log holds and what is to be done about the rest. SPEC 5.2. */
export type Verdict = GoodLog | CorruptLog | { readonly kind: 'empty' }

export interface GoodLog {
  readonly kind: 'good'
  readonly events: readonly SessionEvent[]
  /** Noise and the torn tail, in log order. */
  readonly ranges: readonly RecoveredRange[]
  /** What a write open takes out: from here to the end of the file. */
  readonly torn: Range | undefined
  /** The last line is whole and lacks its newline. */
  readonly lacksNewline: boolean
  /** Whole records follow the last commit mark: they may not be on the disk yet. */
  readonly hasUnmarkedTail: boolean
}

export interface CorruptLog extends Range {
  readonly kind: 'corrupt'
  readonly what: string
  readonly line: number
  /** The seq that is missing or twice; undefined where it is the header that cannot be read. */
  readonly seq: number | undefined
}

interface Pending {
  readonly range: RecoveredRange
  /** A record behind a stub, taken only when the next record continues from it. */
  readonly event: SessionEvent | undefined
  readonly line: number
}

/** Walks the lines and keeps what continues the seqs. */
class Walk {
  readonly events: SessionEvent[] = []
  readonly ranges: RecoveredRange[] = []
  /** What was read since the last record that counts. */
  pending: Pending[] = []
  #tentative = 0
  lastEnd: number

  constructor(start: number) {
    this.lastEnd = start
  }

  /** The seq that continues the records behind stubs. */
  get next(): number {
    return this.events.length + this.#tentative
  }

  accept(line: ScannedLine, event: SessionEvent): void {
    this.settle(event.seq === this.next)
    this.events.push(event)
    this.lastEnd = line.end
    for (const { kind, start, end } of line.pieces) if (kind === 'nul') this.ranges.push({ kind, start, end })
    if (line.hasNegativeZero)
      this.ranges.push({ kind: 'negative-zero', start: line.start, end: line.end, seq: event.seq })
  }

  /** What is pending turns out to be noise, its records too unless they are taken. */
  settle(takesRecords: boolean): void {
    for (const { range, event } of this.pending) {
      if (event !== undefined && takesRecords) this.events.push(event)
      else this.ranges.push(range)
    }
    this.pending = []
    this.#tentative = 0
  }

  /** A line of its own equals a record behind a stub: that one is proven, with those before it. */
  confirm(seq: number): void {
    const index = this.pending.findIndex(({ event }) => event?.seq === seq)
    const later = this.pending.slice(index + 1)
    this.pending = this.pending.slice(0, index + 1)
    this.settle(true)
    this.pending = later
    this.#tentative = later.filter(({ event }) => event !== undefined).length
  }

  hold(kind: RecoveredRange['kind'], range: Range, line: number, event?: SessionEvent): void {
    const seq = event === undefined ? {} : { seq: event.seq }
    this.pending.push({
      range: { kind, start: range.start, end: range.end, ...seq },
      event: kind === 'stub' ? event : undefined,
      line,
    })
    if (kind === 'stub' && event !== undefined) this.#tentative += 1
  }

  holdPieces(line: ScannedLine, number: number, repeats: ReadonlySet<object>): void {
    // A last line without newline is whole or torn, never split.
    if (!line.isTerminated) return this.hold('stub', line, number)
    for (const piece of line.pieces) {
      const isNext = piece.event !== undefined && piece.event.seq === this.next
      if (isNext) this.hold('stub', piece, number, piece.event)
      else if (piece.kind === 'repeat' || repeats.has(piece)) this.hold('repeat', piece, number, piece.event)
      else this.hold(piece.kind === 'nul' ? 'nul' : 'stub', piece, number)
    }
  }
}

function isDamage({ range }: Pending): boolean {
  return range.kind !== 'blank' && range.kind !== 'repeat'
}

/** End of the last line that carries the commit mark; undefined in a log without marks. */
function lastMark(scan: LogScan, before: number): number | undefined {
  const line = scan.lines.findLast(({ isMarked, end }) => isMarked && end <= before)
  if (line !== undefined) return line.end
  return scan.header.isMarked ? scan.header.end : undefined
}

function nulRuns(pieces: readonly ScannedPiece[]): readonly ScannedPiece[] {
  return pieces.filter(({ kind }) => kind === 'nul')
}

/**
 * Whether the damage from `start` on is that of a last batch of which a power loss took pages: the batch was never
 * acknowledged although its mark reached the disk. Only the last batch can be so, and lost pages read as NUL bytes
 * between the begin of the batch, sector boundaries and the end of the file.
 */
function isLostPage(scan: LogScan, start: number, size: number): boolean {
  const batchStart = lastMark(scan, start)
  if (batchStart === undefined) return false
  const behind = scan.lines.filter((line) => line.end > start)
  if (behind.filter(({ isMarked }) => isMarked).length !== 1) return false
  const isEdge = (at: number): boolean => at % SECTOR === 0 || at === batchStart || at === size
  return behind.some(({ pieces }) => nulRuns(pieces).some((run) => isEdge(run.start) && isEdge(run.end)))
}

function numberOf(scan: LogScan, line: ScannedLine): number {
  return scan.lines.indexOf(line) + 2
}

function corrupt(walk: Walk, scan: LogScan, problem: ScannedLine | undefined, damage: Pending | undefined): CorruptLog {
  const seq = walk.events.length
  const found = problem?.event?.seq
  if (problem !== undefined && found !== undefined && found < seq) {
    return {
      kind: 'corrupt',
      what: `seq ${found} is there twice with different content`,
      start: problem.start,
      end: problem.end,
      line: numberOf(scan, problem),
      seq: found,
    }
  }
  const place = damage?.range ?? problem ?? { start: walk.lastEnd, end: scan.size }
  const line = damage?.line ?? (problem === undefined ? scan.lines.length + 1 : numberOf(scan, problem))
  const where =
    found === undefined ? '' : seq === 0 ? `, the log begins with ${found}` : `, ${found} follows ${seq - 1}`
  return { kind: 'corrupt', what: `seq ${seq} is missing${where}`, start: place.start, end: place.end, line, seq }
}

/**
 * Judges a scan: which records count, what is harmless noise, what is a torn tail, and whether the log is corrupt.
 * Contiguous seqs prove completeness. `repeats` holds the lines and pieces that equal an earlier record byte for byte.
 * SPEC 5.2.
 */
export function judgeLog(scan: LogScan, repeats: ReadonlySet<object>): Verdict {
  const { header, lines } = scan
  if (typeof header.value !== 'object' || header.value === null) {
    const holdsEvent = lines.some(
      ({ event, pieces }) => event !== undefined || pieces.some((piece) => piece.event !== undefined),
    )
    if (!holdsEvent) return { kind: 'empty' }
    return {
      kind: 'corrupt',
      what: 'the header line cannot be read',
      start: header.start,
      end: header.end,
      line: 1,
      seq: undefined,
    }
  }
  const walk = new Walk(header.end)
  let problem: ScannedLine | undefined
  for (const [index, line] of lines.entries()) {
    const { event } = line
    const isRepeat = line.isTerminated && repeats.has(line)
    if (isRepeat && event !== undefined && event.seq >= walk.events.length && event.seq < walk.next)
      walk.confirm(event.seq)
    if (event !== undefined && isRepeat && event.seq < walk.next) walk.hold('repeat', line, index + 2, event)
    else if (event !== undefined && (event.seq === walk.next || event.seq === walk.events.length))
      walk.accept(line, event)
    else if (event !== undefined && line.isTerminated) problem = line
    else if (line.isTerminated && line.pieces.length === 0) walk.hold('blank', line, index + 2)
    else walk.holdPieces(line, index + 2, repeats)
    if (problem !== undefined) break
    // A repeated record proves as much as a new one that what stands before it is no torn tail.
    if (walk.pending.at(-1)?.range.kind === 'repeat' && walk.next === walk.events.length) walk.settle(false)
  }
  const damage = walk.pending.find(isDamage)
  // Whole lines only: what is left must end in a newline.
  const start = damage === undefined ? problem?.start : lines[damage.line - 2]?.start
  const mark = lastMark(scan, scan.size)
  let torn: Range | undefined
  if (start !== undefined) {
    const newlines = lines.findLast(({ isTerminated }) => isTerminated)?.end ?? header.end
    const committed = mark ?? (problem === undefined ? start : newlines)
    if (start < committed && !isLostPage(scan, start, scan.size)) return corrupt(walk, scan, problem, damage)
    torn = { start, end: scan.size }
  }
  for (const { range } of walk.pending) if (torn === undefined || range.start < torn.start) walk.ranges.push(range)
  if (torn !== undefined) walk.ranges.push({ kind: 'torn', ...torn })
  const last = lines.at(-1) ?? header
  const lacksNewline = torn === undefined && !last.isTerminated
  if (lacksNewline) walk.ranges.push({ kind: 'newline', start: last.start, end: last.end })
  return {
    kind: 'good',
    events: walk.events,
    ranges: walk.ranges,
    torn,
    lacksNewline,
    hasUnmarkedTail: walk.lastEnd > (mark ?? 0) && walk.events.length > 0,
  }
}

/** Every record with its range, glued ones too, in log order. */
export function* recordsOf(
  scan: LogScan,
): Iterable<{ readonly item: ScannedLine | ScannedPiece; readonly event: SessionEvent }> {
  for (const line of scan.lines) {
    if (line.event !== undefined) yield { item: line, event: line.event }
    for (const piece of line.pieces) if (piece.event !== undefined) yield { item: piece, event: piece.event }
  }
}
