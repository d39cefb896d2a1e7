import { SessionError } from './errors.ts'
import type { SessionEvent } from './events.ts'
import { type ForkOptions, forkSession } from './fork.ts'
import type { StoredSession } from './header.ts'
import type { SessionId } from './ids.ts'
import { ListenerErrors } from './listener-errors.ts'
import { Listeners } from './listeners.ts'
import { type CreateSessionOptions, type RestoreSessionOptions, Session } from './session.ts'

/** Listeners of a store by hook. SPEC 3.4. */
export interface StoreHooks {
  /** Synchronous; a throw vetoes the session and takes it out again. */
  'session/created': (session: Session) => void
  /** Every event of every live session, after its commit; a throw is contained. */
  'session/event': (event: SessionEvent, session: Session) => void
  /** Awaited by `flush`. */
  'session/flush': (session: Session) => void | Promise<void>
  /** The session left the store; a throw is contained. */
  'session/disposed': (session: Session) => void
}

/** Extends a store through its hooks; may return a function that undoes it. */
export type StorePlugin = (store: SessionStore) => void | (() => void)

export interface SessionStoreOptions {
  /** Hears what listeners of `session/event` and `session/disposed` throw. */
  readonly onListenerError?: (error: unknown, session: Session) => void
}

/** The live sessions of a process. SPEC 3.4. */
export class SessionStore {
  readonly #sessions = new Map<SessionId, { readonly session: Session; detach: () => void }>()
  readonly #created = new Listeners<StoreHooks['session/created']>()
  readonly #event = new Listeners<StoreHooks['session/event']>()
  readonly #flush = new Listeners<StoreHooks['session/flush']>()
  readonly #disposed = new Listeners<StoreHooks['session/disposed']>()
  readonly #errors: ListenerErrors<Session>

  constructor(options: SessionStoreOptions = {}) {
    this.#errors = new ListenerErrors(options.onListenerError)
  }

  /** Creates a session and announces it. Throws `SessionError` `store/duplicate`, or what a veto threw. */
  create(options: CreateSessionOptions = {}): Session {
    return this.#enter(Session.create(options))
  }

  /** Restores a session and announces it. Throws as `Session.restore` and `create` do. */
  restore(stored: StoredSession, options: RestoreSessionOptions = {}): Session {
    return this.#enter(Session.restore(stored, options))
  }

  get(id: string): Session | undefined {
    return this.#sessions.get(id as SessionId)?.session
  }

  /** The live sessions, in the order in which they entered. */
  list(): readonly Session[] {
    return [...this.#sessions.values()].map(({ session }) => session)
  }

  /**
   * A child that inherits events `0..boundary` (inclusive; the whole log unless given). Throws `SessionError`
   * `fork/boundary`, `fork/open-turn` or `store/unknown`. SPEC 3.4.
   */
  fork(source: Session | string, boundary?: number, options: ForkOptions = {}): Session {
    const parent = typeof source === 'string' ? this.#require(source) : source
    return this.#enter(forkSession(parent, boundary, options))
  }

  /**
   * Waits for every `session/flush` listener of one session, or of all. All settle; then the first failure is thrown.
   */
  async flush(session?: Session | string): Promise<void> {
    const sessions =
      session === undefined ? this.list() : [typeof session === 'string' ? this.#require(session) : session]
    const calls = sessions.flatMap((each) => this.#flush.current.map(async (listener) => listener(each)))
    const failed = (await Promise.allSettled(calls)).find((result) => result.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  /** Takes a session out of the store. Returns whether it was there. */
  dispose(session: Session | string): boolean {
    const id = typeof session === 'string' ? session : session.id
    const entry = this.#sessions.get(id as SessionId)
    if (entry === undefined) return false
    this.#sessions.delete(id as SessionId)
    entry.detach()
    for (const listener of this.#disposed.current) {
      this.#errors.contain(listener, entry.session, () => listener(entry.session))
    }
    return true
  }

  /** Installs a plugin; the result removes it. */
  use(plugin: StorePlugin): () => void {
    return plugin(this) ?? (() => undefined)
  }

  /** Adds a listener; the result removes it. */
  on<Hook extends keyof StoreHooks>(hook: Hook, listener: StoreHooks[Hook]): () => void {
    const sets: { readonly [H in keyof StoreHooks]: Listeners<StoreHooks[H]> } = {
      'session/created': this.#created,
      'session/event': this.#event,
      'session/flush': this.#flush,
      'session/disposed': this.#disposed,
    }
    const remove = sets[hook].add(listener)
    this.#rebind()
    return () => {
      remove()
      this.#rebind()
    }
  }

  #enter(session: Session): Session {
    if (this.#sessions.has(session.id)) {
      throw new SessionError('store/duplicate', `session ${session.id} is live already: dispose of it first`)
    }
    this.#sessions.set(session.id, { session, detach: this.#bind(session) })
    try {
      for (const listener of this.#created.current) listener(session)
    } catch (error) {
      this.dispose(session)
      throw error
    }
    return session
  }

  /** Binds the listeners of now: one that is added during a dispatch sees only later events. SPEC 3.2. */
  #bind(session: Session): () => void {
    const audience = this.#event.current
    return session.on('session/event', (event) => {
      for (const listener of audience) this.#errors.contain(listener, session, () => listener(event, session))
    })
  }

  #rebind(): void {
    for (const entry of this.#sessions.values()) {
      entry.detach()
      entry.detach = this.#bind(entry.session)
    }
  }

  #require(id: string): Session {
    const session = this.get(id)
    if (session === undefined) throw new SessionError('store/unknown', `session ${id} is not in this store`)
    return session
  }
}
