import { undoCompaction } from '@palimpsest/compact'
import type { SessionPersistence } from '@palimpsest/session-persistence'
import { storeDerived } from '../derived.ts'
import { readSession } from '../store.ts'

/** A session in which a compaction never happened. */
export interface Undone {
  readonly id: string
  readonly parentSession: string
  readonly events: number
  readonly messages: number
}

/** Stores a child of a session without the compaction that an id or the seq of its replacement names. SPEC 7.1. */
export async function undoStored(store: SessionPersistence, name: string, compaction: string): Promise<Undone> {
  const { session: parent } = await readSession(store, name)
  const child = undoCompaction(parent, /^\d+$/.test(compaction) ? Number(compaction) : compaction)
  await storeDerived(store, parent.id, child)
  return {
    id: child.id,
    parentSession: parent.id,
    events: child.length,
    messages: child.deriveMessages().length,
  }
}
