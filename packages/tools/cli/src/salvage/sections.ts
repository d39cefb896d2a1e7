import type { SessionHeader } from '@palimpsest/session'
import type { DamagedLog, DamagedPart, HeaderRange, ReadableRecord } from '@palimpsest/session-persistence-jsonl'
/** A run of NUL bytes or an empty line of at most this many bytes may be part of what is unreadable around it. */
const SMALL = 64
/** Bytes of one unreadable part go into events of at most this many, so that a string can hold them. */
const LARGEST_RAW = 16 * 1024 * 1024

/** Bytes that hold nothing that could stand in a history. */
export interface RawPart {
  readonly kind: 'raw'
  readonly start: number
  readonly end: number
  readonly line: number
  readonly reason: 'unreadable' | 'header/other' | 'header/newer-version'
}

/** Bytes whose content is in a header, or nothing. */
export interface SpentPart {
  readonly kind: 'header' | 'repeat' | 'nul' | 'blank'
  readonly start: number
  readonly end: number
  readonly line: number
}

export type SalvagePart = ReadableRecord | RawPart | SpentPart

/** The log of one session inside a damaged file: mostly there is one. */
export interface Section {
  /** Undefined where no header of it can be read. */
  readonly header: SessionHeader | undefined
  readonly parts: readonly SalvagePart[]
}

/**
 * Takes a file apart into the logs that it holds. A header of another session begins a log of its own where the next
 * record is its first, or where it goes on with a log that was begun so; where the file lost its own header, any other
 * header counts as that; what is neither is kept raw. Records behind the header of a newer version are not believed:
 * they are kept raw too. Pure. SPEC 5.2.
 */
export function sectionsOf({ header, parts }: Pick<DamagedLog, 'header' | 'parts'>, id: string): readonly Section[] {
  const first: GrowingSection = { header, parts: [] }
  const byId = new Map<string, GrowingSection>([
    [id, first],
    [header?.id ?? id, first],
  ])
  const nextSeqs = nextSeqsOf(parts)
  let [current, isBelieved] = [first, true]
  for (const [index, part] of parts.entries()) {
    if (part.kind !== 'header') {
      add(current, salvagePart(part, isBelieved))
      continue
    }
    isBelieved = part.fault !== 'newer-version'
    const { start, end, line } = part
    const found = part.header
    const known = found === undefined ? undefined : byId.get(found.id)
    if (found === undefined || (known !== undefined && known.header !== undefined)) {
      current = known ?? current
      const isSpent = line === 1 || isSame(known?.header, found)
      add(
        current,
        isSpent
          ? { kind: 'header', start, end, line }
          : { kind: 'raw', start, end, line, reason: rawReason(isBelieved) },
      )
    } else if (known === undefined && nextSeqs[index] === 0 && line > 1) {
      current = { header: found, parts: [{ kind: 'header', start, end, line }] }
      byId.set(found.id, current)
    } else if (first.header === undefined) {
      current = first
      first.header = found
      byId.set(found.id, first)
      add(current, { kind: 'header', start, end, line })
    } else add(current, { kind: 'raw', start, end, line, reason: 'header/other' })
  }
  return [...new Set(byId.values())]
}

interface GrowingSection {
  header: SessionHeader | undefined
  readonly parts: SalvagePart[]
}

function salvagePart(part: Exclude<DamagedPart, HeaderRange>, isBelieved: boolean): SalvagePart {
  if (part.kind === 'record' && isBelieved) return part
  const { kind, start, end, line } = part
  if (kind === 'nul' || kind === 'blank') return { kind, start, end, line }
  if (!isBelieved) return { kind: 'raw', start, end, line, reason: 'header/newer-version' }
  return kind === 'repeat' ? { kind, start, end, line } : { kind: 'raw', start, end, line, reason: 'unreadable' }
}

function rawReason(isBelieved: boolean): RawPart['reason'] {
  return isBelieved ? 'header/other' : 'header/newer-version'
}

function isSame(left: SessionHeader | undefined, right: SessionHeader | undefined): boolean {
  return left !== undefined && right !== undefined && JSON.stringify(left) === JSON.stringify(right)
}

/** By part, the seq of the next record behind it. */
function nextSeqsOf(parts: readonly DamagedPart[]): readonly (number | undefined)[] {
  let seq: number | undefined
  return parts
    .toReversed()
    .map((part) => {
      const next = seq
      if (part.kind === 'record') seq = part.event.seq
      return next
    })
    .toReversed()
}

/** Whether a few bytes that say nothing stand between unreadable ones, and so are theirs. */
function isInside({ kind, start, end }: SalvagePart, before: SalvagePart | undefined): boolean {
  return (kind === 'nul' || kind === 'blank') && end - start <= SMALL && before?.kind === 'raw' && before.end === start
}

/** Unreadable bytes that follow each other are one part, with a few NUL bytes and line ends between them. */
function add({ parts }: GrowingSection, part: SalvagePart): void {
  if (part.kind !== 'raw') return void parts.push(part)
  const { reason } = part
  let { start, line } = part
  const between = parts.at(-1)
  if (between !== undefined && between.end === start && isInside(between, parts.at(-2))) {
    parts.pop()
    start = between.start
  }
  const last = parts.at(-1)
  if (last?.kind === 'raw' && last.reason === reason && last.end === start && part.end - last.start <= LARGEST_RAW) {
    parts.pop()
    start = last.start
    line = last.line
  }
  for (; start < part.end; start += LARGEST_RAW) {
    parts.push({ kind: 'raw', start, end: Math.min(start + LARGEST_RAW, part.end), line, reason })
  }
}
