import { parseSessionHeader, SessionError, type SessionHeader, type SessionId } from '@palimpsest/session'
import { PersistenceError, SessionCorruptionError } from '@palimpsest/session-persistence'
import type { OpenFile } from './file-system.ts'
import { readRange } from './io.ts'
import { judgeLog, recordsOf, type CorruptLog, type GoodLog } from './recovery.ts'
import { scanLog, type LogScan, type Range } from './scan.ts'

/** A record's bytes without NUL bytes before it and white space behind it. */
async function contentOf(file: OpenFile, { start, end }: Range): Promise<string> {
  return (await readRange(file, start, end)).toString('latin1').replace(/^\0+/, '').trimEnd()
}

/**
 * The lines and pieces that equal an earlier record of their seq byte for byte. Only records out of order are read
 * again.
 */
export async function findRepeats(file: OpenFile, scan: LogScan): Promise<ReadonlySet<object>> {
  const first: Range[] = []
  const repeats = new Set<object>()
  for (const { item, event } of recordsOf(scan)) {
    const earlier = first[event.seq]
    if (earlier !== undefined) {
      if ((await contentOf(file, earlier)) === (await contentOf(file, item))) repeats.add(item)
    } else if (event.seq === first.length) first.push(item)
  }
  return repeats
}

/** Whether a first line means to be a header, of ours or of another program. */
export function isHeaderLine(value: unknown): boolean {
  return typeof value === 'object' && value !== null && (value as { type?: unknown }).type === 'session'
}

function headerFault(value: unknown, why: string): string {
  if (!isHeaderLine(value)) return 'the header is missing, something else stands in its place'
  return Object.hasOwn(value as object, 'format') ? why : 'a header without `format`, as logs of another program have'
}

/** The header of a log. Throws `header/newer-version` and `header/invalid`. SPEC 5.2. */
export function headerOf(value: unknown, path: string, id?: SessionId): SessionHeader {
  let header: SessionHeader
  try {
    header = parseSessionHeader(value)
  } catch (cause) {
    const isNewer = cause instanceof SessionError && cause.code === 'header/newer-version'
    const why = cause instanceof Error ? cause.message : String(cause)
    const what = isNewer ? why : headerFault(value, why)
    throw new PersistenceError(isNewer ? 'header/newer-version' : 'header/invalid', `${path}, line 1: ${what}`, {
      cause,
    })
  }
  if (id !== undefined && header.id !== id)
    throw new PersistenceError(
      'header/invalid',
      `${path}, line 1: this is the log of session ${JSON.stringify(header.id)}, not of ${JSON.stringify(id)}: its directory was copied or renamed`,
    )
  return header
}

/** The error that names the place. */
export function corruptionError({ what, start, end, line, seq }: CorruptLog, path: string): SessionCorruptionError {
  return new SessionCorruptionError(what, { path, start, end, line, ...(seq === undefined ? {} : { seq }) })
}

/** A log that was read and found sound. */
export interface ReadLog extends GoodLog {
  readonly header: SessionHeader
}

/**
 * Reads and judges a log; undefined for an empty one. Throws `SessionCorruptionError` and the codes of `headerOf`.
 * Changes nothing.
 */
export async function readLog(file: OpenFile, size: number, path: string, id: SessionId): Promise<ReadLog | undefined> {
  const scan = await scanLog(file, size)
  // Before anything is judged: records of a newer version may not be what they look like.
  const header =
    typeof scan.header.value === 'object' && scan.header.value !== null
      ? headerOf(scan.header.value, path, id)
      : undefined
  const verdict = judgeLog(scan, await findRepeats(file, scan))
  if (verdict.kind === 'corrupt') throw corruptionError(verdict, path)
  return verdict.kind === 'empty' || header === undefined ? undefined : { ...verdict, header }
}
