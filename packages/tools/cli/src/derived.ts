import type { SessionEvent, SessionHeader, SessionId } from '@palimpsest/session'
import type { SessionPersistence } from '@palimpsest/session-persistence'
import { attachmentsOf } from './attachments.ts'

/**
 * Stores a session that was made from a stored one: first the attachments that are still there, then all events in one
 * batch. Throws `PersistenceError` `session/exists`.
 */
export async function storeDerived(
  store: SessionPersistence,
  source: SessionId,
  { header, events }: { readonly header: SessionHeader; readonly events: readonly SessionEvent[] },
): Promise<void> {
  const handle = await store.create(header)
  try {
    const [from, to] = [store.attachments(source), store.attachments(header.id)]
    for (const { ref } of attachmentsOf(events).values()) {
      const bytes = await from.get(ref)
      const { attachmentId: _, bytes: __, ...meta } = ref
      if (bytes !== undefined) await to.put(bytes, meta)
    }
    if (events.length > 0) await handle.append(events)
    await handle.flush()
  } finally {
    await handle.close()
  }
}
