import { dirname } from 'node:path'
import type { SessionHeader, SessionId } from '@palimpsest/session'
import { PersistenceError } from '@palimpsest/session-persistence'
import type { DirectoryEntry, FileSystem } from './file-system.ts'
import { codeOf, ensureDirectory, statIfAny } from './io.ts'
import { encodeSegment, LOCK_NAME, LOG_NAME, OWNER_NAME, projectKey, within } from './paths.ts'

/** Where one session lives. */
export interface SessionPlace {
  /** Relative to the root: project and session segment. */
  readonly directory: string
  /** Bytes of the log; undefined where there is none. */
  readonly logSize: number | undefined
}

/** Entries of a directory; none where it does not exist. */
async function entriesOf(fs: FileSystem, path: string): Promise<readonly DirectoryEntry[]> {
  try {
    return await fs.readdir(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return []
    throw error
  }
}

/** Entries of the root; none where it does not exist. A root that is a file is a mistake, not an empty store. */
async function projectsOf(fs: FileSystem, root: string): Promise<readonly DirectoryEntry[]> {
  try {
    return await fs.readdir(root)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

async function placeAt(fs: FileSystem, root: string, directory: string): Promise<SessionPlace | undefined> {
  const stat = await statIfAny(fs, within(root, directory))
  if (stat === undefined) return undefined
  if (stat.kind !== 'directory')
    throw new PersistenceError(
      'path/unsafe',
      `${directory} is a ${stat.kind}, not a directory: links below the root are not followed`,
    )
  const log = await statIfAny(fs, within(root, directory, LOG_NAME))
  if (log !== undefined && log.kind !== 'file')
    throw new PersistenceError(
      'path/unsafe',
      `${directory}/${LOG_NAME} is ${log.kind === 'other' ? 'no file' : `a ${log.kind}, not a file`}: links below the root are not followed`,
    )
  return { directory, logSize: log?.size }
}

/**
 * The session's directory in whichever project it is: of several the one with the longest log, since others hold none
 * or an empty one.
 */
export async function findPlace(fs: FileSystem, root: string, id: SessionId): Promise<SessionPlace | undefined> {
  const segment = encodeSegment(id)
  let found: SessionPlace | undefined
  for (const project of await projectsOf(fs, root)) {
    if (project.kind !== 'directory') continue
    const place = await placeAt(fs, root, `${project.name}/${segment}`)
    if (place !== undefined && (found === undefined || (place.logSize ?? -1) > (found.logSize ?? -1))) found = place
  }
  return found
}

/** The directories of all sessions that have a log, relative to the root. */
export async function* allPlaces(fs: FileSystem, root: string, cwd?: string): AsyncIterable<string> {
  const only = cwd === undefined ? undefined : projectKey(cwd)
  for (const project of await projectsOf(fs, root)) {
    if (project.kind !== 'directory' || (only !== undefined && project.name !== only)) continue
    for (const session of await entriesOf(fs, within(root, project.name))) {
      if (session.kind === 'directory') yield `${project.name}/${session.name}`
    }
  }
}

/** Errors of a directory above the root that this user may pass through and not read. */
const notReadable = new Set(['EACCES', 'EPERM'])

/**
 * Makes the root and what is missing above it, durably and from the top down. The name of a root that was there is made
 * durable too: whoever made it may not have come to that yet, and sessions of others must not hang on it.
 */
async function makeRoot(fs: FileSystem, root: string): Promise<void> {
  const above = dirname(root)
  let isMade = true
  try {
    await fs.mkdir(root)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') isMade = false
    else if (codeOf(error) !== 'ENOENT' || above === root) throw error
    else {
      await makeRoot(fs, above)
      await ensureDirectory(fs, root, 'the root')
    }
  }
  await fs.syncDirectory(above).catch((error: unknown) => {
    if (isMade || !notReadable.has(codeOf(error) ?? '')) throw error
  })
}

/** A place for a new session, and the directories on the way that must be synced once its log is there. */
export interface NewPlace {
  readonly directory: string
  /** Absolute, innermost first. */
  readonly holders: readonly string[]
}

/** Makes the directories of a new session with mode 0700. */
export async function makePlace(fs: FileSystem, root: string, header: SessionHeader): Promise<NewPlace> {
  const project = projectKey(header.cwd)
  const directory = `${project}/${encodeSegment(header.id)}`
  await makeRoot(fs, root)
  await ensureDirectory(fs, within(root, project), project)
  await ensureDirectory(fs, within(root, directory), directory)
  return { directory, holders: [within(root, directory), within(root, project), root] }
}

/** Removes the directory of a session that was never written, unless it holds more than a claim. */
export async function removeUnused(fs: FileSystem, root: string, directory: string): Promise<void> {
  const path = within(root, directory)
  const entries = await entriesOf(fs, path)
  if (!entries.every(({ name }) => name === LOCK_NAME || name === OWNER_NAME)) return
  await removeTree(fs, path, entries.some(({ name }) => name === LOCK_NAME) ? LOCK_NAME : undefined)
  // The project's directory goes too unless other sessions live there.
  await fs.rmdir(dirname(path)).catch(() => undefined)
}

/** Removes everything below a directory, files first, and keeps `last` of the top for the end. Follows no link. */
export async function removeTree(fs: FileSystem, path: string, last?: string): Promise<void> {
  for (const entry of await entriesOf(fs, path)) {
    if (entry.name === last) continue
    if (entry.kind === 'directory') await removeTree(fs, within(path, entry.name))
    else await fs.unlink(within(path, entry.name))
  }
  if (last !== undefined) await fs.unlink(within(path, last))
  await fs.rmdir(path)
}
