import {
  type AssistantStreamRecord,
  type Json,
  type JsonObject,
  SessionError,
  type TimedChunk,
  expandStream,
  isSessionSeq,
} from '@palimpsest/session'
import { SessionFormatError } from './errors.ts'
import type { Row } from './framing.ts'
import type { FormatEvent, FormatHeader, ReadOptions } from './log.ts'
import { isObject } from './members.ts'
import { normalised, withoutPlaceholders } from './placeholders.ts'

/** How the rows of a version differ from those of another. */
export interface RowRules {
  /** Whether a row may hold a run of chunks, one event each: up to version 1. */
  readonly isPacked: boolean
}

const eventMembers = ['type', 'seq', 'time', 'data', 'surfaceOp', 'sourceEventSeqs', 'ignorable']
const packedMembers = ['type', 'seq0', 'time0', 'data']
const packedData: Readonly<Record<string, readonly string[]>> = {
  'text-chunks': ['turn', 'step', 'index', 'dt', 'texts'],
  'reasoning-chunks': ['turn', 'step', 'index', 'dt', 'texts'],
  'tool-call-chunks': ['turn', 'step', 'index', 'dt', 'id', 'name', 'args'],
}
/** Every chunk is cited once and every entry covered once: what ranges hold in sum beyond that is no honest log. */
const RANGED_SEQS = 1_000_000
const RANGED_SEQS_PER_EVENT = 16
/** How many seqs ranges may still hold, so that a small file cannot ask for a large log. */
interface Ranges {
  left: number
}
/** Placeholders of recorded fixtures that stand for a list or an object. */
const headerPlaceholders = ['tools', 'adapterDefaults']

/**
 * The events of the rows, one per seq, packed rows and ranges of cited seqs expanded. Of a recorded fixture a row
 * without `seq` has the seq that is due, and one without `time` the `createdAt` of the header. Throws
 * `SessionFormatError` `format/row`, `format/seq` or `format/normalised`. SPEC 6.
 */
export async function* readEvents(
  rows: AsyncIterable<Row>,
  header: FormatHeader,
  rules: RowRules,
  options: ReadOptions,
): AsyncGenerator<FormatEvent, void, void> {
  let seq = 0
  const ranges = { left: RANGED_SEQS }
  for await (const row of rows) {
    const { type } = row.value
    if (rules.isPacked && typeof type === 'string' && Object.hasOwn(packedData, type)) {
      for (const event of expandRow(row, type, seq, header, options)) {
        yield event
        seq += 1
        ranges.left += 1
      }
    } else {
      yield eventOf(row, seq, header, options, ranges)
      seq += 1
      ranges.left += RANGED_SEQS_PER_EVENT
    }
  }
}

function eventOf(row: Row, due: number, header: FormatHeader, options: ReadOptions, ranges: Ranges): FormatEvent {
  const { value, line } = row
  requireMembers(value, eventMembers, line)
  const { type, data, surfaceOp, sourceEventSeqs, ignorable } = value
  if (typeof type !== 'string' || type === '') throw invalid(line, 'type is no name')
  const place = placeOf(row, 'seq', 'time', due, header, options)
  if (!isObject(data)) throw invalid(line, 'data is no object')
  if (ignorable !== undefined && ignorable !== true) throw invalid(line, 'ignorable is not true')
  return {
    type,
    ...place,
    data: type === 'request/header' ? requestHeader(data, line, options) : data,
    ...(surfaceOp === undefined ? {} : { surfaceOp }),
    ...(sourceEventSeqs === undefined ? {} : { sourceEventSeqs: expandSeqs(sourceEventSeqs, place.seq, line, ranges) }),
    ...(ignorable === undefined ? {} : { ignorable }),
    line,
  }
}

function requestHeader(data: JsonObject, line: number, options: ReadOptions): JsonObject {
  const { header } = data
  if (!isObject(header)) return data
  const kept = withoutPlaceholders(header, headerPlaceholders, line, options)
  return kept === header ? data : { ...data, header: kept }
}

/** Cited seqs, of which a run of three or more may be one `[start, end]`, both inclusive. */
function expandSeqs(cited: Json, seq: number, line: number, ranges: Ranges): readonly number[] {
  if (!Array.isArray(cited)) throw invalid(line, 'sourceEventSeqs is no list')
  const seqs: number[] = []
  for (const each of cited as readonly Json[]) {
    const [start, end, ...more] = Array.isArray(each) ? (each as readonly Json[]) : [each, each]
    if (!isSessionSeq(start) || !isSessionSeq(end) || end < start || more.length > 0) {
      throw invalid(line, 'sourceEventSeqs holds what is neither a seq nor a range of seqs')
    }
    // Distinct and earlier seqs are no more than there are events: a short row cannot ask for a long list.
    if (seqs.length + end - start >= seq) {
      throw invalid(line, `sourceEventSeqs of event ${seq} cites more events than come before it`)
    }
    ranges.left -= end - start
    if (ranges.left < 0) throw invalid(line, 'the ranges of sourceEventSeqs so far cite more events than a log needs')
    for (let at: number = start; at <= end; at += 1) seqs.push(at)
  }
  return seqs
}

function expandRow(row: Row, type: string, due: number, header: FormatHeader, options: ReadOptions): FormatEvent[] {
  const { value, line } = row
  requireMembers(value, packedMembers, line)
  const { data } = value
  if (!isObject(data)) throw invalid(line, 'data is no object')
  requireMembers(data, packedData[type] ?? [], line)
  const { seq, time } = placeOf(row, 'seq0', 'time0', due, header, options)
  const { turn, step, ...run } = data
  if (turn === undefined || step === undefined) throw invalid(line, 'turn or step is missing')
  return unpacked({ type, time0: time, ...run }, line).map(({ time, chunk }, at) => ({
    type: 'assistant/chunk',
    seq: seq + at,
    time,
    data: { turn, step, chunk: chunk as unknown as JsonObject },
    line,
  }))
}

function unpacked(run: JsonObject, line: number): TimedChunk[] {
  try {
    return expandStream([run as unknown as AssistantStreamRecord])
  } catch (error) {
    if (!(error instanceof SessionError)) throw error
    throw new SessionFormatError('format/row', `line ${line}: ${error.message}`, { line, cause: error })
  }
}

/** The seq and time of a row, or of the first event in it, which must be the one that is due. */
function placeOf(
  { value, line }: Row,
  seqName: string,
  timeName: string,
  due: number,
  header: FormatHeader,
  { normalised: isNormalised = false, note }: ReadOptions,
): { readonly seq: number; readonly time: number } {
  const hasSeq = Object.hasOwn(value, seqName)
  const hasTime = Object.hasOwn(value, timeName)
  if (!isNormalised && !hasSeq && !hasTime) throw normalised(line, `the row has no ${seqName} and no ${timeName}`)
  const seq = hasSeq || !isNormalised ? value[seqName] : due
  const time = hasTime || !isNormalised ? value[timeName] : header.createdAt
  if (!isSessionSeq(seq)) throw invalid(line, `${seqName} is no seq`)
  if (!isTime(time)) throw invalid(line, `${timeName} is no integer number of milliseconds`)
  if (seq !== due) {
    throw new SessionFormatError('format/seq', `line ${line}: ${seqName} is ${seq}, and ${due} is due`, { line, seq })
  }
  if (!hasTime && seq === 0) {
    note?.({ code: 'placeholder/time', line, message: 'rows have no time: it is the createdAt of the header' })
  }
  return { seq, time }
}

function requireMembers(value: JsonObject, allowed: readonly string[], line: number): void {
  const other = Object.keys(value).find((name) => !allowed.includes(name))
  if (other !== undefined) throw invalid(line, `${JSON.stringify(other)} is no member of such a row`)
}

function isTime(value: Json | undefined): value is number {
  return Number.isSafeInteger(value) && !Object.is(value, -0)
}

function invalid(line: number, why: string): SessionFormatError {
  return new SessionFormatError('format/row', `line ${line}: ${why}`, { line })
}
