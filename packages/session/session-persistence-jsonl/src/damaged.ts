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

/** Bytes that hold no record. `header` is what the first line holds beside records, usable or not. */
export interface UnreadableRange extends Range {
  readonly kind: 'header' | 'nul' | 'stub' | 'blank' | 'repeat'
  readonly line: number
}

/** Everything in a log, readable or not. */
export interface DamagedLog {
  /** Relative to the root. */
  readonly path: string
  /** Bytes. */
  readonly size: number
  /** Undefined where the header line cannot be read. */
  readonly header: SessionHeader | undefined
  /** In file order, without gap or overlap from byte 0 to `size`. */
  readonly parts: readonly (ReadableRecord | UnreadableRange)[]
  /** Why the session does not open; undefined where it does. */
  readonly corruption: PersistenceError | undefined
}

export interface ReadDamagedLogOptions {
  readonly root: string
  readonly id: SessionId
  /** Where the files are. Default the disk. */
  readonly fileSystem?: FileSystem
}

function* lineParts(
  line: ScannedLine,
  number: number,
  repeats: ReadonlySet<object>,
): Iterable<ReadableRecord | UnreadableRange> {
  const { event, pieces } = line
  if (event === undefined && pieces.length === 0)
    yield { kind: 'blank', start: line.start, end: line.end, line: number }
  for (const [index, piece] of pieces.entries()) {
    const isLast = index === pieces.length - 1 && event === undefined
    const range = { start: piece.start, end: isLast ? line.end : piece.end, line: number }
    if (piece.event !== undefined) yield { kind: 'record', ...range, event: piece.event, isRepeat: repeats.has(piece) }
    else yield { kind: piece.kind === 'record' ? 'stub' : piece.kind, ...range }
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
): Iterable<ReadableRecord | UnreadableRange> {
  const { header } = scan
  const first: ScannedLine = { ...header, event: undefined, hasNegativeZero: false, pieces: firstPieces }
  for (const part of firstPieces.length > 0 ? lineParts(first, 1, repeats) : [])
    yield part.kind === 'record' ? part : { ...part, kind: 'header' }
  if (firstPieces.length === 0 && header.end > 0) yield { kind: 'header', start: 0, end: header.end, line: 1 }
  for (const [index, line] of scan.lines.entries()) yield* lineParts(line, index + 2, repeats)
}

/**
 * Reads whatever can be read of a log and accounts for every byte, also where the session does not open: for `salvage`
 * and `verify`. Changes nothing. Throws `session/not-found`, `header/newer-version`, `io/read`. SPEC 5.2.
 */
export function readDamagedLog({ root, id, fileSystem = nodeFileSystem }: ReadDamagedLogOptions): Promise<DamagedLog> {
  return attempt('io/read', `session ${JSON.stringify(id)} was not read`, async () => {
    const base = resolve(root)
    const place = await findPlace(fileSystem, base, id)
    if (place?.logSize === undefined) throw notFound(id)
    const path = `${place.directory}/${LOG_NAME}`
    return withFile(await fileSystem.open(within(base, path), 'read'), async (file) => {
      const { size } = await file.stat()
      const scan = await scanLog(file, size)
      const repeats = await findRepeats(file, scan)
      const verdict = judgeLog(scan, repeats)
      const { end, isTerminated, value } = scan.header
      // Where the header was lost, the first line may hold a record, or a piece of the header with a record behind it.
      const first = isHeaderLine(value) ? [] : scanPieces(await readRange(file, 0, isTerminated ? end - 1 : end))
      const { header, fault } = readHeader(scan, path, id)
      return {
        path,
        size: scan.lines.at(-1)?.end ?? scan.header.end,
        header,
        parts: [...partsOf(scan, repeats, first)],
        corruption: fault ?? (verdict.kind === 'corrupt' ? corruptionError(verdict, path) : undefined),
      }
    })
  })
}

/** The header, whichever session it is of, and what keeps it from opening as `id`. */
function readHeader(
  { header: { value } }: LogScan,
  path: string,
  id: SessionId,
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
