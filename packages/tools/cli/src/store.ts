import { join } from 'node:path'
import { Session, SessionError, type SessionEvent, type SessionId, sessionId } from '@palimpsest/session'
import {
  type OpenedSession,
  PersistenceError,
  type SessionPersistence,
  type SessionStat,
} from '@palimpsest/session-persistence'
import { jsonlPersistence } from '@palimpsest/session-persistence-jsonl'
import type { Cli, CommonOptions } from './cli.ts'
import { CliError, isAboutLog } from './exit.ts'
import type { Io } from './io.ts'
import { printable } from './render/text.ts'
import { allEvents } from './vocabulary.ts'

/** The directory of the store: `--root`, else PALIMPSEST_ROOT, else below the user's home. Throws `CliError` `option/invalid`. SPEC 9. */
export function rootOf(io: Io, options: CommonOptions): string {
  if (options.root === '') throw new CliError('option/invalid', '--root is empty: name a directory')
  const fromEnv = io.env['PALIMPSEST_ROOT']
  return options.root ?? (fromEnv !== undefined && fromEnv !== '' ? fromEnv : join(io.home, '.palimpsest', 'sessions'))
}

/** Runs with the store and closes it whatever happens. */
export async function withStore<T>(
  { io, progress }: Cli,
  options: CommonOptions,
  run: (store: SessionPersistence) => Promise<T>,
): Promise<T> {
  const store = jsonlPersistence({ root: rootOf(io, options) })
  progress.show('working')
  try {
    return await run(store)
  } finally {
    progress.done()
    await store.close()
  }
}

/** Sessions of the store, newest first. */
export async function listSessions(store: SessionPersistence): Promise<SessionStat[]> {
  const stats: SessionStat[] = []
  for await (const stat of store.list()) stats.push(stat)
  return stats
}

/** Also where the header is none that can be read: opening the session then says why. */
async function isStored(store: SessionPersistence, id: SessionId): Promise<boolean> {
  try {
    if ((await store.stat(id)) !== undefined) return true
    // A log that lost its header, and holds records, has no headline; the begin of another id it is not.
    await readStored(store, id)
    return true
  } catch (error) {
    if (!(error instanceof PersistenceError)) throw error
    if (error.code === 'session/not-found') return false
    if (error.cause instanceof SessionError || isAboutLog(error.code)) return true
    throw error
  }
}

const SHOWN = 5

/**
 * The session that a name means: an id, the begin of exactly one, or `last`: the one whose last event is the newest.
 * Throws `CliError` `session/unknown`, `session/ambiguous`, `store/empty`. SPEC 9.
 */
export async function resolveSession(store: SessionPersistence, name: string): Promise<SessionId> {
  if (name !== 'last' && name !== '' && (await isStored(store, sessionId(name)))) return sessionId(name)
  const stats = await listSessions(store)
  const [newest] = stats
  if (newest === undefined) {
    throw new CliError('store/empty', 'the store holds no session yet: `palimpsest import` brings some in')
  }
  if (name === 'last') return newest.header.id
  const matches = stats.map(({ header }) => header.id).filter((id) => name !== '' && id.startsWith(name))
  const [only, ...others] = matches
  if (only === undefined) {
    throw new CliError(
      'session/unknown',
      `no session is named ${printable(JSON.stringify(name))}: \`palimpsest ls\` lists them`,
    )
  }
  if (others.length > 0) {
    const more = matches.length > SHOWN ? ` and ${matches.length - SHOWN} more` : ''
    const shown = matches.slice(0, SHOWN).map(printable).join(', ')
    throw new CliError('session/ambiguous', `${matches.length} sessions begin with ${name}: ${shown}${more}`)
  }
  return only
}

/** A session as it is on disk, opened and closed again; nothing is changed. */
export async function readStored(store: SessionPersistence, id: SessionId): Promise<OpenedSession> {
  const handle = await store.open(id, 'read')
  try {
    return handle.stored
  } finally {
    await handle.close()
  }
}

/** A session read from the store, with every rule of acceptance applied. Unknown types are kept. SPEC 2.2. */
export async function readSession(
  store: SessionPersistence,
  name: string,
): Promise<{ session: Session; stored: OpenedSession }> {
  const stored = await readStored(store, await resolveSession(store, name))
  return { session: Session.restore(stored, { vocabulary: allEvents, unknown: 'keep' }), stored }
}

/** A seq from the command line. Throws `CliError` `seq/invalid`. */
export function parseSeq(text: string, events: readonly SessionEvent[], least = 0): number {
  const seq = Number(text)
  if (/^-?\d+$/.test(text) && seq >= least && seq < events.length) return seq
  const last = events.length - 1
  throw new CliError(
    'seq/invalid',
    `${text} is not a seq of this log: it has ${events.length} events, ${least} to ${last}`,
  )
}
