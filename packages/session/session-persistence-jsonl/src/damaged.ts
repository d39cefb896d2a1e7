import { resolve } from 'node:path'
import type { SessionEvent, SessionHeader, SessionId } from '@palimpsest/session'
import { PersistenceError } from '@palimpsest/session-persistence'
import { nodeFileSystem, type FileSystem } from './file-system.ts'
import { attempt, readRange, withFile } from './io.ts'
import { findPlace } from './layout.ts'
import { notFound } from './open.ts'
import { LOG_NAME, within } from './paths.ts'
import { corruptionError, findRepeats, headerOf, isHeaderLine } from './read-log.ts'
import { judgeLog } from './recovery.ts'
import { scanLog, scanPieces, type LogScan, type Range, type ScannedLine, type ScannedPiece } from './scan.ts'

/** A record that can be read, whether or not the log as a whole can. */
export interface ReadableRecord extends Range {
  readonly kind: 'record'
  /** Counts from 1; the header is line 1. */
  readonly line: number
  readonly event: SessionEvent
  /** Equal, byte for byte, to an earlier record of its seq. A record of the same seq that is not is another branch. */
  readonly isRepeat: boolean
}

/** Bytes that hold no record. `repeat` is the header line once more; `blank` is a byte order mark or an empty line. */
export interface UnreadableRange extends Range {
  readonly kind: 'nul' | 'stub' | 'blank' | 'repeat'
  readonly line: number
}

/** What the first line holds beside records, usable or not, or what means to be a header anywhere else. */
export interface HeaderRange extends Range {
  readonly kind: 'header'
  readonly line: number
  /** Undefined where it cannot be used. */
  readonly header: SessionHeader | undefined
  /**
   * Why it cannot be used. `newer-version`: what follows may not be what it looks like. `no-format`: of another program,
   * such as deepseek-harness.
   */
  readonly fault: 'newer-version' | 'no-format' | 'unusable' | undefined
}

export type DamagedPart = ReadableRecord | UnreadableRange | HeaderRange

/** Everything in a log, readable or not. */
export interface DamagedLog {
  /** Relative to the root; of a file, as it was given. */
  readonly path: string
  /** Bytes. */
  readonly size: number
  /** Of the first line; undefined where it cannot be read. */
  readonly header: SessionHeader | undefined
  /** In file order, without gap or overlap from byte 0 to `size`. */
  readonly parts: readonly DamagedPart[]
  /** Why the session does not open; undefined where it does. */
  readonly corruption: PersistenceError | undefined
}

/** Which log: that of a session of a store, or any file. */
export type DamagedLogPlace = { readonly root: string; readonly id: SessionId } | { readonly file: string }

export type ReadDamagedLogOptions = DamagedLogPlace & {
  /** Where the files are. Default the disk. */
  readonly fileSystem?: FileSystem
}

/** A JSON text that is no record: a header, or a stub like any other. */
function notRecord(value: unknown, range: Range & { readonly line: number }): HeaderRange | UnreadableRange {
  if (!isHeaderLine(value)) return { kind: 'stub', ...range }
  try {
    return { kind: 'header', ...range, header: headerOf(value, ''), fault: undefined }
  } catch (error) {
    if (!(error instanceof PersistenceError)) throw error
    // One of ours whose member lost its name still says what it is.
    const isOurs = Object.hasOwn(value as object, 'format') || Object.values(value as object).includes('palimpsest')
    const fault = error.code === 'header/newer-version' ? 'newer-version' : isOurs ? 'unusable' : 'no-format'
    return { kind: 'header', ...range, header: undefined, fault }
  }
}

function* lineParts(line: ScannedLine, number: number, repeats: ReadonlySet<object>): Iterable<DamagedPart> {
  const { event, pieces } = line
  if (event === undefined && pieces.length === 0)
    yield { kind: 'blank', start: line.start, end: line.end, line: number }
  for (const [index, piece] of pieces.entries()) {
    const isLast = index === pieces.length - 1 && event === undefined
    const range = { start: piece.start, end: isLast ? line.end : piece.end, line: number }
    if (piece.event !== undefined) yield { kind: 'record', ...range, event: piece.event, isRepeat: repeats.has(piece) }
    else if (piece.kind === 'nul' || piece.kind === 'repeat') yield { kind: piece.kind, ...range }
    else if (piece.kind === 'bom') yield { kind: 'blank', ...range }
    else yield notRecord(piece.value, range)
  }
  if (event !== undefined)
    yield {
      kind: 'record',
      start: pieces.at(-1)?.end ?? line.start,
      end: line.end,
      line: number,
      event,
      isRepeat: repeats.has(line),
    }
}

function* partsOf(
  scan: LogScan,
  repeats: ReadonlySet<object>,
  firstPieces: readonly ScannedPiece[],
): Iterable<DamagedPart> {
  const { start, end, value } = scan.header
  const first: ScannedLine = { ...scan.header, event: undefined, hasNegativeZero: false, pieces: firstPieces }
  for (const part of firstPieces.length > 0 ? lineParts(first, 1, repeats) : [])
    yield part.kind === 'record' || part.kind === 'header' ? part : unusableHeader(part)
  const whole = { start, end, line: 1 }
  if (firstPieces.length === 0 && end > 0) yield isHeaderLine(value) ? notRecord(value, whole) : unusableHeader(whole)
  for (const [index, line] of scan.lines.entries()) yield* lineParts(line, index + 2, repeats)
}

function unusableHeader({ start, end, line }: Range & { readonly line: number }): HeaderRange {
  return { kind: 'header', start, end, line, header: undefined, fault: 'unusable' }
}

/**
 * Reads whatever can be read of a log and accounts for every byte, also where the session does not open: for `salvage`
 * and `verify`. Changes nothing. Throws `session/not-found`, `header/newer-version`, `io/read`. SPEC 5.2.
 */
export function readDamagedLog({ fileSystem = nodeFileSystem, ...place }: ReadDamagedLogOptions): Promise<DamagedLog> {
  const what = 'file' in place ? `the file ${JSON.stringify(place.file)}` : `session ${JSON.stringify(place.id)}`
  return attempt('io/read', `${what} was not read`, async () => {
    if ('file' in place) return readFileParts(fileSystem, resolve(place.file), place.file)
    const base = resolve(place.root)
    const found = await findPlace(fileSystem, base, place.id)
    if (found?.logSize === undefined) throw notFound(place.id)
    const path = `${found.directory}/${LOG_NAME}`
    return readFileParts(fileSystem, within(base, path), path, place.id)
  })
}

async function readFileParts(fs: FileSystem, absolute: string, path: string, id?: SessionId): Promise<DamagedLog> {
  return withFile(await fs.open(absolute, 'read'), async (file) => {
    const { size, kind } = await file.stat()
    if (kind !== 'file') throw new PersistenceError('path/unsafe', `${path} is no regular file`)
    const scan = await scanLog(file, size)
    const repeats = await findRepeats(file, scan)
    const verdict = judgeLog(scan, repeats)
    const { end, isTerminated, value } = scan.header
    // Where the header was lost, the first line may hold a record, or a piece of the header with a record behind it.
    const first = isHeaderLine(value) ? [] : scanPieces(await readRange(file, 0, isTerminated ? end - 1 : end))
    const { header, fault } = readHeader(value, path, id)
    return {
      path,
      size: scan.lines.at(-1)?.end ?? end,
      header,
      parts: [...partsOf(scan, repeats, first)],
      corruption: fault ?? (verdict.kind === 'corrupt' ? corruptionError(verdict, path) : undefined),
    }
  })
}

/** The header, whichever session it is of, and what keeps it from opening as `id`. */
function readHeader(
  value: unknown,
  path: string,
  id: SessionId | undefined,
): { readonly header: SessionHeader | undefined; readonly fault: PersistenceError | undefined } {
  let header: SessionHeader | undefined
  try {
    header = headerOf(value, path)
    return { header: headerOf(value, path, id), fault: undefined }
  } catch (error) {
    if (!(error instanceof PersistenceError) || error.code === 'header/newer-version') throw error
    return { header, fault: error }
  }
}
