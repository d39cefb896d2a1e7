import {
  SESSION_FORMAT_VERSION,
  Session,
  SessionAcceptanceError,
  type SessionEvent,
  type SessionHeader,
  SessionError,
  type Vocabulary,
  coreEvents,
  parseSessionHeader,
} from '@palimpsest/session'
import { adoptEvent, adoptHeader } from './edges/adopt.ts'
import { edgeFrom0 } from './edges/from-0.ts'
import { edgeFrom1 } from './edges/from-1.ts'
import { edgeFrom2 } from './edges/from-2.ts'
import { SessionFormatError } from './errors.ts'
import { type Row, readRows } from './framing.ts'
import type { FormatLog, FormatNote, FormatVersion, ReadOptions, TakeNote, VocabularyPack } from './log.ts'
import { deepSeekHarnessPack } from './packs/deepseek-harness.ts'
import { packVocabulary } from './packs/vocabulary.ts'
import { readV0 } from './v0/codec.ts'
import { readV1 } from './v1/codec.ts'
import { readV2 } from './v2/codec.ts'
import { readV3 } from './v3/codec.ts'

/** Bytes of a log, of whatever version. They are read once. */
export interface FormatSource {
  /** File name, never a path. */
  readonly name: string
  bytes(): AsyncIterable<Uint8Array>
}

export interface OpenFormatOptions {
  /** Leave to read a recorded fixture, with placeholders and without `seq` and `time`. */
  readonly normalised?: boolean
  /** The plugins whose events a log may hold; `deepSeekHarnessPack` unless given. */
  readonly packs?: readonly VocabularyPack[]
  /** The event types that the successor is held to, those of the packs aside; `coreEvents` unless given. */
  readonly vocabulary?: Vocabulary
}

/** A log of any version as one of ours, accepted by every rule of SPEC 3. */
export interface OpenedFormat {
  /** Version of the source. */
  readonly from: FormatVersion
  /** Whether this library wrote it: then it is returned as it is. */
  readonly isOurs: boolean
  readonly header: SessionHeader
  readonly events: readonly SessionEvent[]
  readonly inheritedEventCount: number
  readonly notes: readonly FormatNote[]
}

type Codec = (header: Row, rows: AsyncIterable<Row>, options: ReadOptions) => FormatLog
const codecs: Readonly<Record<FormatVersion, Codec>> = { 0: readV0, 1: readV1, 2: readV2, 3: readV3 }
const edges = [edgeFrom0, edgeFrom1, edgeFrom2]

/**
 * Reads a log of any version, through its codec and the edges up to version 3, and holds the result to every rule of
 * acceptance. What cannot be converted with proof is refused; nothing is repaired. Throws `SessionFormatError`, with the
 * `SessionAcceptanceError` as its cause where a rule is broken (`format/refused`). SPEC 6.
 */
export async function openAnyVersion(source: FormatSource, options: OpenFormatOptions = {}): Promise<OpenedFormat> {
  const notes: FormatNote[] = []
  const note: TakeNote = (found) => void notes.push(found)
  const rows = readRows(source.bytes(), note)
  try {
    const first = await firstRow(source, rows)
    const { format, version } = first.value
    const isOurs = format === 'palimpsest'
    const read = isOurs ? await readOurs(first, rows) : await readForeign(first, rows, note, options)
    const session = accept(read, isOurs, options)
    for (const { message } of session.findings) note({ code: 'vocabulary/unknown', message })
    const { header, events, inheritedEventCount } = session
    return {
      from: isOurs ? SESSION_FORMAT_VERSION : (version as FormatVersion),
      isOurs,
      header,
      events,
      inheritedEventCount,
      notes,
    }
  } finally {
    await rows.return()
  }
}

/** A log of version 3 before acceptance. */
interface ReadLog {
  readonly header: SessionHeader
  readonly events: readonly SessionEvent[]
  /** Of each event, the line of the source that it comes from. */
  readonly lines: readonly number[]
}

async function readOurs(first: Row, rows: AsyncIterable<Row>): Promise<ReadLog> {
  const header = headerOf(first)
  const events: SessionEvent[] = []
  const lines: number[] = []
  for await (const { value, line } of rows) {
    events.push(value as unknown as SessionEvent)
    lines.push(line)
  }
  return { header, events, lines }
}

function headerOf({ value, line }: Row): SessionHeader {
  try {
    return parseSessionHeader(value)
  } catch (error) {
    if (!(error instanceof SessionError)) throw error
    const code = error.code === 'header/newer-version' ? 'format/newer-version' : 'format/not-a-log'
    throw new SessionFormatError(code, `line ${line}: ${error.message}`, { line, cause: error })
  }
}

async function readForeign(
  first: Row,
  rows: AsyncIterable<Row>,
  note: TakeNote,
  { normalised = false, packs = [deepSeekHarnessPack] }: OpenFormatOptions,
): Promise<ReadLog> {
  const version = versionOf(first)
  let log = codecs[version](first, rows, { normalised, note })
  for (const edge of edges) if (edge.from >= version) log = edge.migrate(log, { packs, note })
  const header = adoptHeader(log.header)
  const events: SessionEvent[] = []
  const lines: number[] = []
  for await (const event of log.events) {
    events.push(adoptEvent(event))
    lines.push(event.line)
  }
  return { header, events, lines }
}

function versionOf({ value: { version }, line }: Row): FormatVersion {
  if (!Number.isSafeInteger(version) || (version as number) < 0)
    throw new SessionFormatError('format/not-a-log', `line ${line}: the header has no version`, { line })
  if ((version as number) <= SESSION_FORMAT_VERSION) return version as FormatVersion
  throw new SessionFormatError(
    'format/newer-version',
    `the log is of format version ${version as number}, written by a newer version: upgrade (this one reads ${SESSION_FORMAT_VERSION})`,
    { line },
  )
}

/** Unknown types of our own logs are kept, as every reading command does; in one that is migrated they are refused. */
function accept({ header, events, lines }: ReadLog, isOurs: boolean, options: OpenFormatOptions): Session {
  const { vocabulary: base = coreEvents, packs = [deepSeekHarnessPack] } = options
  const vocabulary = packs.reduce((known, pack) => known.extend(packVocabulary(pack, known)), base)
  try {
    const session = Session.restore(
      { header, events, inheritedEventCount: 0 },
      isOurs ? { vocabulary, unknown: 'keep' } : { vocabulary },
    )
    if (!isOurs) requireMarker(session)
    return session
  } catch (error) {
    if (!(error instanceof SessionAcceptanceError)) throw error
    const { seq, eventType } = error
    const line = lines[seq] ?? 1
    throw new SessionFormatError('format/refused', `line ${line}: ${error.message}`, {
      line,
      seq,
      eventType,
      cause: error,
    })
  }
}

/** The header says whether the log begins with inherited history, and the marker where that ends. */
function requireMarker({ header, events }: Session): void {
  const isMarked = events.some((event) => event.type === 'session/end-seed' && event.data.inherited === true)
  if (isMarked === header.isSeeded) return
  const why = isMarked
    ? 'marks inherited history, which its header denies'
    : 'has a header that says seeded, and no marker of the cut'
  throw new SessionFormatError('format/row', `line 1: the log ${why}`, { line: 1 })
}

/** The header row. Whatever else stands there, the source is no log. */
async function firstRow({ name }: FormatSource, rows: AsyncGenerator<Row, void, void>): Promise<Row> {
  const place = { line: 1 }
  const message = `${name}: its first line is no header of a session log`
  try {
    const first = await rows.next()
    if (first.done !== true && first.value.line === 1 && first.value.value['type'] === 'session') return first.value
  } catch (error) {
    if (!(error instanceof SessionFormatError)) throw error
    throw new SessionFormatError('format/not-a-log', message, { ...place, cause: error })
  }
  throw new SessionFormatError('format/not-a-log', message, place)
}
