import { Session, type SessionId } from '@palimpsest/session'
import type { OpenedSession, SessionPersistence } from '@palimpsest/session-persistence'
import { readStored } from './store.ts'
import { allEvents } from './vocabulary.ts'

/** A stored session with every event type of this repository. Throws what acceptance throws. */
export function restoreStored(stored: OpenedSession): Session {
  return Session.restore(stored, { vocabulary: allEvents, unknown: 'keep' })
}

/**
 * A copy of a session as a writer would find it, what a crash left open closed. What is appended to it is never written:
 * so a command finds out what it would do, and leaves a session alone that it can do nothing for.
 */
export async function rehearsalOf(store: SessionPersistence, id: SessionId): Promise<Session> {
  const stored = await readStored(store, id)
  return restoreStored({ ...stored, events: [...stored.events, ...stored.pendingClosers] })
}

/** A session that is open for writing. */
export interface Writer {
  readonly session: Session
  /** Makes durable what was appended since. Nothing is written otherwise. */
  readonly commit: () => Promise<void>
}

/** Opens a session for writing, which mends what a crash left, and lets go of it whatever happens. */
export async function withWriter<T>(
  store: SessionPersistence,
  id: SessionId,
  run: (writer: Writer) => Promise<T>,
): Promise<T> {
  const handle = await store.open(id, 'write')
  try {
    const session = restoreStored(handle.stored)
    const commit = async (): Promise<void> => {
      const added = [...session.eventsFrom(handle.nextSeq)]
      if (added.length > 0) await handle.append(added)
      await handle.flush()
    }
    return await run({ session, commit })
  } finally {
    await handle.close()
  }
}
