import type { SessionHeader, SessionId } from '@palimpsest/session'
import { PersistenceError } from '@palimpsest/session-persistence'
import { takeClaim, type Claim } from './claim.ts'
import type { FileStat } from './file-system.ts'
import { WriteHandle } from './handle.ts'
import { attempt, codeOf, withFile } from './io.ts'
import { findPlace, makePlace, removeUnused, type NewPlace } from './layout.ts'
import { LogFile } from './log-file.ts'
import { openLog, release, sweep, type StoreContext } from './open.ts'
import { LOG_NAME } from './paths.ts'
import { readLog } from './read-log.ts'
import { moveAside } from './recovered.ts'

/** Times that a directory may vanish under a create: closing an unused session removes it. */
const ATTEMPTS = 5

/** What is in the way of a new log. */
type LogState = { readonly kind: 'none' | 'session' } | { readonly kind: 'empty'; readonly stat: FileStat }

async function logState(store: StoreContext, id: SessionId, directory: string): Promise<LogState> {
  const file = await openLog(store, id, directory, 'read').catch((error: unknown) => {
    if (error instanceof PersistenceError && error.code === 'session/not-found') return undefined
    throw error
  })
  if (file === undefined) return { kind: 'none' }
  return withFile(file, async () => {
    const stat = await file.stat()
    // Whatever is wrong with a log, it is something, unless its header never reached the disk.
    const log = await readLog(file, stat.size, `${directory}/${LOG_NAME}`, id).catch(() => 'unreadable' as const)
    return log === undefined ? { kind: 'empty', stat } : { kind: 'session' }
  })
}

async function refuseStored(store: StoreContext, id: SessionId): Promise<void> {
  const place = await findPlace(store.fs, store.root, id)
  if (place?.logSize === undefined || (await logState(store, id, place.directory)).kind !== 'session') return
  throw new PersistenceError('session/exists', `session ${JSON.stringify(id)} is stored already: open it`)
}

async function claimNewPlace(
  store: StoreContext,
  header: SessionHeader,
): Promise<{ readonly place: NewPlace; readonly claim: Claim }> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const place = await makePlace(store.fs, store.root, header)
      return { place, claim: await takeClaim({ ...store, directory: place.directory, id: header.id }, store.lock) }
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' || attempt === ATTEMPTS) throw error
    }
  }
}

/** Claims a new session; its log appears with the first write. SPEC 5.1, 5.2. */
export async function createSession(store: StoreContext, header: SessionHeader): Promise<WriteHandle> {
  const { fs, root } = store
  await refuseStored(store, header.id)
  const { place, claim } = await claimNewPlace(store, header)
  const { directory, holders } = place
  const logFile = new LogFile({ fs, root, directory, holders }, claim)
  try {
    await refuseStored(store, header.id)
    await sweep(store, directory)
  } catch (error) {
    await claim.release().catch(() => undefined)
    throw error
  }
  const publish = async (records: readonly Buffer[]): Promise<void> => {
    const state = await logState(store, header.id, directory)
    const replaced = state.kind === 'empty' ? state.stat : undefined
    if (replaced !== undefined && replaced.size > 0) {
      const range = { start: 0, end: replaced.size }
      const file = await openLog(store, header.id, directory, 'read')
      await withFile(file, async () => moveAside(fs, root, directory, file, range))
    }
    await logFile.publish(header, records, replaced)
  }
  const write = async (records: readonly Buffer[]): Promise<boolean> => {
    if (!logFile.isPublished) await attempt('io/write', 'the session was not stored', () => publish(records))
    else if (records.length > 0) await logFile.append(records)
    else return false
    return true
  }
  const close = async (): Promise<void> => {
    if (!logFile.isPublished) await removeUnused(fs, root, directory).catch(() => undefined)
    await release(logFile, claim)
  }
  const stored = {
    header,
    events: [],
    inheritedEventCount: 0,
    recovered: { ranges: [], closers: [] },
    pendingClosers: [],
  }
  return new WriteHandle(stored, { write, release: close, onClosed: store.onClosed })
}
