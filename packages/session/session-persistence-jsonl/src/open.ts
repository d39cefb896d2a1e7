import { countInherited, interruptedTurnClosers, type SessionEvent, type SessionId } from '@palimpsest/session'
import {
  PersistenceError,
  type OpenedSession,
  type RecoveredRange,
  type SessionHandle,
} from '@palimpsest/session-persistence'
import { isClaimed, takeClaim, type Claim, type ClaimPlace, type LockMode } from './claim.ts'
import type { OpenFile } from './file-system.ts'
import { encodeRecord, ReadHandle, WriteHandle } from './handle.ts'
import { codeOf, tidy, withFile } from './io.ts'
import { findPlace, type SessionPlace } from './layout.ts'
import { LogFile } from './log-file.ts'
import { LOG_NAME, OWNER_NAME, within } from './paths.ts'
import { readLog, type ReadLog } from './read-log.ts'
import { moveAside } from './recovered.ts'

/** What every open needs of its store. */
export interface StoreContext extends Omit<ClaimPlace, 'directory' | 'id'> {
  readonly lock: LockMode
  /** Hears of every handle that was closed. */
  readonly onClosed: (handle: SessionHandle) => void
}

export function notFound(id: SessionId): PersistenceError {
  return new PersistenceError('session/not-found', `no session ${JSON.stringify(id)} is stored here`)
}

function openedSession(log: ReadLog, changes: Partial<OpenedSession>): OpenedSession {
  const { header, events, ranges } = log
  return {
    header,
    events,
    inheritedEventCount: countInherited(events),
    recovered: { ranges, closers: [] },
    pendingClosers: [],
    ...changes,
  }
}

/** The closers of SPEC 4; none for payloads that cannot be followed: `Session.restore` refuses those by name. */
function closersOf(events: readonly SessionEvent[]): readonly SessionEvent[] {
  try {
    return interruptedTurnClosers(events)
  } catch {
    return []
  }
}

async function requireLog(store: StoreContext, id: SessionId): Promise<SessionPlace> {
  const place = await findPlace(store.fs, store.root, id)
  if (place?.logSize === undefined) throw notFound(id)
  return place
}

export async function openLog(
  store: StoreContext,
  id: SessionId,
  directory: string,
  mode: 'read' | 'update',
): Promise<OpenFile> {
  try {
    return await store.fs.open(within(store.root, directory, LOG_NAME), mode)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw notFound(id)
    throw error
  }
}

/** Opens to read: changes nothing, waits for nobody. SPEC 5.1. */
export async function openToRead(store: StoreContext, id: SessionId): Promise<ReadHandle> {
  const { directory } = await requireLog(store, id)
  const path = `${directory}/${LOG_NAME}`
  return withFile(await openLog(store, id, directory, 'read'), async (file) => {
    const { size } = await file.stat()
    const log = await readLog(file, size, path, id)
    if (log === undefined) throw notFound(id)
    const closers = closersOf(log.events)
    // A running turn is not a crashed one: its writer holds the claim, or has written since.
    const isRunning =
      closers.length > 0 && ((await isClaimed({ ...store, directory, id })) || (await file.stat()).size !== size)
    return new ReadHandle(openedSession(log, { pendingClosers: isRunning ? [] : closers }), store.onClosed)
  })
}

/**
 * Takes the torn tail out and ends the last line, durably. Looks at the claim and the log before each write: what was
 * read may be a successor's by now.
 */
async function mend(
  store: StoreContext,
  directory: string,
  file: OpenFile,
  logFile: LogFile,
  log: ReadLog,
): Promise<readonly RecoveredRange[]> {
  let { ranges } = log
  if (log.torn !== undefined) {
    await logFile.verify()
    const movedTo = await moveAside(store.fs, store.root, directory, file, log.torn)
    ranges = ranges.map((range) => (range.kind === 'torn' ? { ...range, movedTo } : range))
    await logFile.cutTo(log.torn.start)
  }
  if (log.lacksNewline) await logFile.endLine()
  // Records without a commit mark may never have reached the disk; a cut must, before anything is written behind it.
  if (log.torn !== undefined || log.lacksNewline || log.hasUnmarkedTail) await file.datasync()
  return ranges
}

/** Removes what a crash left of files that never got their name. Not those of the claim: their maker may live. */
export async function sweep(store: StoreContext, directory: string): Promise<void> {
  for (const { name, kind } of await store.fs.readdir(within(store.root, directory))) {
    if (kind === 'file' && name.endsWith('.tmp') && !name.startsWith(OWNER_NAME))
      await tidy(store.fs, within(store.root, directory, name))
  }
}

/** Opens to write: takes the claim, mends what a crash left, appends closers once. SPEC 5.1, 5.2. */
export async function openToWrite(store: StoreContext, id: SessionId): Promise<WriteHandle> {
  const { directory } = await requireLog(store, id)
  const claim = await takeClaim({ ...store, directory, id }, store.lock).catch((error: unknown) => {
    throw codeOf(error) === 'ENOENT' ? notFound(id) : error
  })
  let file: OpenFile | undefined
  try {
    file = await openLog(store, id, directory, 'update')
    const { size, dev, ino } = await file.stat()
    const log = await readLog(file, size, `${directory}/${LOG_NAME}`, id)
    if (log === undefined) throw notFound(id)
    await sweep(store, directory)
    const logFile = new LogFile({ ...store, directory, holders: [] }, claim, { file, dev, ino, length: size })
    const ranges = await mend(store, directory, file, logFile, log)
    const closers = closersOf(log.events)
    if (closers.length > 0) await logFile.append(closers.map(encodeRecord))
    const stored = openedSession(log, {
      events: [...log.events, ...closers],
      recovered: { ranges, closers: closers.map(({ seq }) => seq) },
    })
    return new WriteHandle(stored, {
      write: async (records) => {
        if (records.length > 0) await logFile.append(records)
        return records.length > 0
      },
      release: () => release(logFile, claim),
      onClosed: store.onClosed,
    })
  } catch (error) {
    await file?.close().catch(() => undefined)
    await claim.release().catch(() => undefined)
    throw error
  }
}

export async function release(log: LogFile, claim: Claim): Promise<void> {
  try {
    await log.close()
  } finally {
    await claim.release()
  }
}
