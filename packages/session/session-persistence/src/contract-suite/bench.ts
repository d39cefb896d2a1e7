import { sessionId, type SessionEvent, type SessionHeader } from '@palimpsest/session'
import { afterEach, beforeEach } from 'vitest'
import type { SessionHandle, SessionPersistence } from '../contract.ts'
import { headerOf, saidAll } from './samples.ts'

/** One storage under test, empty at first. */
export interface PersistenceHarness {
  /** Another store over the same storage, as another process would open it. */
  open(): SessionPersistence
  /** Removes the storage; every store was closed before. */
  dispose(): Promise<void>
}

/** What the tests work with: a fresh storage for each of them. */
export interface Bench {
  /** The first store over the storage of the running test. */
  readonly store: SessionPersistence
  /** Another store over it. */
  readonly open: () => SessionPersistence
  /** Creates a session in the first store. */
  readonly create: (id?: string, more?: Partial<SessionHeader>) => Promise<SessionHandle>
  /** Stores a session through the first store, and closes it. */
  readonly stored: (id?: string, events?: readonly SessionEvent[]) => Promise<void>
  /** Opens a session for read through another store. */
  readonly read: (id?: string) => Promise<SessionHandle>
}

/** Sets up the hooks of a bench; call it inside of `describe`. */
export function setUpBench(factory: () => PersistenceHarness | Promise<PersistenceHarness>): Bench {
  let harness: PersistenceHarness
  let opened: SessionPersistence[] = []
  let store: SessionPersistence
  const open = (): SessionPersistence => {
    const another = harness.open()
    opened.push(another)
    return another
  }
  const create = (id = 'a', more: Partial<SessionHeader> = {}): Promise<SessionHandle> =>
    store.create(headerOf(id, more))

  beforeEach(async () => {
    harness = await factory()
    store = open()
  })
  afterEach(async () => {
    for (const each of opened) await each.close()
    opened = []
    await harness.dispose()
  })

  return {
    get store() {
      return store
    },
    open,
    create,
    stored: async (id = 'a', events = saidAll(0, 3)) => {
      const handle = await create(id)
      await handle.append(events)
      await handle.close()
    },
    read: async (id = 'a') => open().open(sessionId(id), 'read'),
  }
}
