import { createHash } from 'node:crypto'
import { basename, join, resolve, sep } from 'node:path'
import { PersistenceError } from '@palimpsest/session-persistence'

export const LOG_NAME = 'session.v3.jsonl'
export const LOCK_NAME = 'session.lock'
export const OWNER_NAME = 'session.owner'
export const RECOVERED_NAME = 'recovered'
export const ATTACHMENTS_NAME = 'attachments'

/** Longest segment that is written out; file systems take 255 bytes, and temporary names append some. */
const MAX_SEGMENT = 200
const KEPT_OF_LONG = 100

/** Names that Windows gives to devices, with or without an extension. */
const reserved = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$/

function escapeUnit(unit: number): string {
  return unit < 0x100 ? `~${unit.toString(16).padStart(2, '0')}` : `~u${unit.toString(16).padStart(4, '0')}`
}

/**
 * One path segment for any string, different for different strings also where the file system folds case or normalises
 * Unicode. `a-z`, `0-9`, `-` and `_` stand for themselves, every other UTF-16 unit becomes `~` and two hex digits or
 * `~u` and four; a name too long keeps its begin and ends in `~h` and a SHA-256. SPEC 5.2.
 */
export function encodeSegment(text: string): string {
  if (text === '') return '~'
  const encoded = text.replace(/[^a-z0-9_-]/g, (unit) => escapeUnit(unit.charCodeAt(0)))
  if (encoded.length > MAX_SEGMENT) {
    const digest = createHash('sha256').update(Buffer.from(text, 'utf16le')).digest('hex')
    return `${encoded.slice(0, KEPT_OF_LONG)}~h${digest}`
  }
  return reserved.test(encoded) ? escapeUnit(encoded.charCodeAt(0)) + encoded.slice(1) : encoded
}

/** The directory that sessions of one working directory share: its last name, for people, and a digest. */
export function projectKey(cwd: string | undefined): string {
  if (cwd === undefined) return '_'
  const name = basename(cwd.replaceAll('\\', '/'))
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .slice(0, 40)
  return `${name}-${createHash('sha256').update(Buffer.from(cwd, 'utf16le')).digest('hex').slice(0, 16)}`
}

/** Joins segments below the root. Throws `path/outside-root` before any file is touched. */
export function within(root: string, ...segments: readonly string[]): string {
  const path = resolve(join(root, ...segments))
  const isWithin = path.startsWith(root.endsWith(sep) ? root : root + sep)
  if (!isWithin || segments.some((segment) => segment.includes('\0'))) {
    throw new PersistenceError(
      'path/outside-root',
      `${JSON.stringify(segments.join('/'))} leads out of the root of the store`,
    )
  }
  return path
}
