import { constants } from 'node:fs'
import { type FileHandle, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Finding, SessionError, parseSessionHeader } from '@palimpsest/session'
import { argument } from '../render/text.ts'

const LOG_NAME = 'session.v3.jsonl'
/** Bytes of a log in which its header is looked for. */
const HEAD = 64 * 1024
/** Neither follows a link nor waits for the other end of a pipe. */
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** A log that no list shows. */
export interface Unlisted {
  /** The id that its directory was named for. */
  readonly id: string
  readonly finding: Finding
}

/**
 * Logs below the root that no list shows, since their header cannot be read or is that of a session that is not here.
 * Without this, a lost session would pass for one that never was. `listed`: the ids of the list.
 */
export async function findUnlisted(root: string, listed: ReadonlySet<string>): Promise<Unlisted[]> {
  const unlisted: Unlisted[] = []
  for (const project of await namesIn(root)) {
    for (const session of await namesIn(join(root, project))) {
      const id = decodeSegment(session)
      const fault = await faultOf(join(root, project, session, LOG_NAME), id, listed)
      if (fault === undefined) continue
      const { code, why } = fault
      const salvage = code === 'header/invalid' ? `palimpsest salvage ${argument(id)}` : undefined
      const fix = code === 'header/newer-version' ? 'upgrade palimpsest' : salvage
      const message = `${project}/${session}/${LOG_NAME} is in no list: ${why}`
      unlisted.push({ id, finding: { code, severity: 'error', message, ...(fix === undefined ? {} : { fix }) } })
    }
  }
  return unlisted
}

async function namesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
}

const notRegular = { code: 'path/unsafe', why: 'it is no regular file, and links are not followed' }

/** Why the header of a log cannot be read; undefined where it can, or where there is no log with anything in it. */
async function faultOf(
  path: string,
  id: string,
  listed: ReadonlySet<string>,
): Promise<{ readonly code: string; readonly why: string } | undefined> {
  let file: FileHandle
  try {
    file = await open(path, READ)
  } catch (error) {
    const { code = 'an error' } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    return code === 'ELOOP' ? notRegular : { code: 'io/read', why: `the system answered ${code}` }
  }
  try {
    if (!(await file.stat()).isFile()) return notRegular
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD), 0, HEAD, 0)
    const end = buffer.indexOf(0x0a)
    // Only a header that was never written to its end: nothing was acknowledged.
    if (end === -1) return bytesRead < HEAD ? undefined : { code: 'header/invalid', why: 'its first line is too long' }
    const header = parseSessionHeader(JSON.parse(buffer.toString('utf8', 0, end).replace(/^\uFEFF/, '')))
    if (header.id === id || listed.has(header.id)) return undefined
    const why = `it is the log of session ${JSON.stringify(header.id)}, and its directory was renamed`
    return { code: 'header/invalid', why }
  } catch (error) {
    if (error instanceof SessionError) return { code: error.code, why: error.message }
    return { code: 'header/invalid', why: 'its header is not JSON' }
  } finally {
    await file.close()
  }
}

/** The id that a directory was named for; of a very long one only its begin. */
function decodeSegment(segment: string): string {
  return segment.replaceAll(
    /~u([0-9a-f]{4})|~([0-9a-f]{2})/g,
    (_, long: string | undefined, short: string | undefined) =>
      String.fromCharCode(Number.parseInt(long ?? short ?? '', 16)),
  )
}
