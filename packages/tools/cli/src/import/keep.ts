import {
  type SessionEvent,
  type SessionHeader,
  type SessionId,
  type StoredSession,
  sessionId,
} from '@palimpsest/session'
import type { SessionPersistence } from '@palimpsest/session-persistence'
import { growImport } from '@palimpsest/transcripts'
import { readStored } from '../store.ts'
import type { AttachmentSpool } from './spool.ts'

/**
 * What became of an imported session. `imported`: it is new. `unchanged`: it was here. `extended`: it was here, and what
 * the source holds beyond it was added. `changed`: another log of this id is here; nothing was written.
 */
export type KeptStatus = 'imported' | 'unchanged' | 'extended' | 'changed'

export interface Kept {
  readonly id: SessionId
  readonly status: KeptStatus
  /** Events that were in the store before. */
  readonly before: number
  /** Events that were written now. */
  readonly added: number
}

/** `id`, `id~2`, `id~3`, …: the names under which one source may be stored. */
function* namesOf(id: SessionId): Generator<SessionId> {
  yield id
  for (let n = 2; ; n += 1) yield sessionId(`${id}~${n}`)
}

export interface KeepOptions {
  /** Store a log that differs from the one of its id beside it. */
  readonly isAgain: boolean
  /** New names of sessions of the same source, for the lineage of its subagents. */
  readonly renamed: Map<SessionId, SessionId>
}

/**
 * Puts an imported session into the store unless it is there: attachments first, durably, then all events in one batch.
 * A log that somebody went on writing after the import counts as unchanged.
 */
export async function keepImported(
  store: SessionPersistence,
  imported: StoredSession,
  spool: AttachmentSpool,
  { isAgain, renamed }: KeepOptions,
): Promise<Kept> {
  const { events } = imported
  const original = imported.header.id
  let first: Kept | undefined
  for (const id of namesOf(original)) {
    if ((await store.stat(id)) === undefined) {
      if (first !== undefined && !isAgain) return first
      const handle = await store.create(renameHeader(imported.header, id, renamed))
      try {
        await spool.moveTo(store.attachments(id), original)
        await handle.append(events)
        await handle.flush()
      } finally {
        await handle.close()
      }
      renamed.set(original, id)
      return { id, status: 'imported', before: 0, added: events.length }
    }
    const here = (await readStored(store, id)).events
    const growth = growImport(here, events)
    if (growth.kind !== 'diverged') {
      await spool.moveTo(store.attachments(id), original)
      renamed.set(original, id)
      if (growth.kind === 'unchanged') return { id, status: 'unchanged', before: here.length, added: 0 }
      await extend(store, id, growth.events)
      return { id, status: 'extended', before: here.length, added: growth.events.length }
    }
    first ??= { id, status: 'changed', before: here.length, added: 0 }
  }
  throw new RangeError('namesOf never ends')
}

function renameHeader(header: SessionHeader, id: SessionId, renamed: ReadonlyMap<SessionId, SessionId>): SessionHeader {
  const { parentSession } = header
  return {
    ...header,
    id,
    ...(parentSession === undefined ? {} : { parentSession: renamed.get(parentSession) ?? parentSession }),
  }
}

async function extend(store: SessionPersistence, id: SessionId, events: readonly SessionEvent[]): Promise<void> {
  const handle = await store.open(id, 'write')
  try {
    await handle.append(events)
  } finally {
    await handle.close()
  }
}
