import type { Session, SessionEvent, SessionStore } from '@palimpsest/session'
import type { HandleStatus, SessionHandle } from './contract.ts'
import { PersistenceError, SessionConflictError } from './errors.ts'

export interface PersistSessionOptions {
  /**
   * How long the first pending event waits for others, in milliseconds. Default 20; 0 writes at the end of the
   * current tick.
   */
  readonly maxBatchDelayMs?: number
  /**
   * Bytes of unwritten events, roughly, from which on `append` on the session is vetoed. Default 64 MiB. One event
   * may exceed it.
   */
  readonly maxPendingBytes?: number
  /** The store of the session: its `flush()` then waits for this one. */
  readonly store?: SessionStore
  /** Hears the first failure of each spell of failures. Default a warning of the process. */
  readonly onError?: (error: unknown) => void
}

/** A session whose events are written as they come. SPEC 5.1. */
export interface PersistedSession extends AsyncDisposable {
  readonly status: HandleStatus
  /** Events that are not durable yet. */
  readonly pending: number
  /**
   * Resolves when everything appended so far is durable; after a failure it tries again, and rejects with the cause.
   */
  flush(): Promise<void>
  /**
   * Flushes, then detaches and closes the handle. When the flush fails it rejects and changes nothing: mend the cause
   * and close again, or close the handle to give up.
   */
  close(): Promise<void>
}

/** Never vetoed: without them a turn could not end. */
const closing: ReadonlySet<string> = new Set(['tool/result', 'step/end', 'turn/end'])

function warn(error: unknown): void {
  process.emitWarning(`session events are not being written: ${error instanceof Error ? error.message : String(error)}`)
}

/** About the bytes that a value takes as JSON; strings are what counts. */
function roughBytes(value: unknown): number {
  let bytes = 0
  const open: unknown[] = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next === 'string') bytes += next.length
    else if (typeof next === 'object' && next !== null) {
      for (const [key, member] of Object.entries(next)) {
        bytes += key.length
        open.push(member)
      }
    }
    bytes += 4
  }
  return bytes
}

class WriteBehind implements PersistedSession {
  readonly #session: Session
  readonly #handle: SessionHandle
  readonly #delay: number
  readonly #maxBytes: number
  readonly #onError: (error: unknown) => void
  readonly #detach: readonly (() => void)[]
  #pending: { readonly event: SessionEvent; readonly bytes: number }[] = []
  #bytes = 0
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined
  /** Events came while a write was under way. */
  #isWanted = false
  #isFailing = false
  #isClosed = false

  constructor(session: Session, handle: SessionHandle, options: PersistSessionOptions) {
    const { maxBatchDelayMs = 20, maxPendingBytes = 64 * 1024 * 1024, store, onError } = options
    if (!(maxBatchDelayMs >= 0))
      throw new RangeError(`maxBatchDelayMs is ${maxBatchDelayMs}: expected 0 or more milliseconds`)
    if (!(maxPendingBytes > 0))
      throw new RangeError(`maxPendingBytes is ${maxPendingBytes}: expected more than 0 bytes`)
    if (session.id !== handle.header.id) {
      throw new SessionConflictError(
        `the handle is of session ${JSON.stringify(handle.header.id)}, not of ${JSON.stringify(session.id)}`,
      )
    }
    if (session.length < handle.nextSeq) {
      throw new SessionConflictError(
        `the session has ${session.length} events and ${handle.nextSeq} are stored: restore it from handle.stored`,
      )
    }
    this.#session = session
    this.#handle = handle
    this.#delay = maxBatchDelayMs
    this.#maxBytes = maxPendingBytes
    this.#onError = onError ?? warn
    for (const event of session.eventsFrom(handle.nextSeq)) this.#add(event)
    this.#detach = [
      session.on('internal/dispatch', (event) => this.#decide(event)),
      session.on('session/event', (event) => this.#add(event)),
      ...(store === undefined
        ? []
        : [store.on('session/flush', (each) => (each === session ? this.flush() : undefined))]),
    ]
  }

  get status(): HandleStatus {
    if (this.#isClosed) return 'closed'
    return this.#handle.status === 'ok' && this.#isFailing ? 'degraded' : this.#handle.status
  }

  get pending(): number {
    return this.#pending.length
  }

  async flush(): Promise<void> {
    if (this.#isClosed) throw new PersistenceError('handle/closed', 'the session is no longer persisted here')
    const end = this.#session.length
    // What is under way may have begun before the cause was mended: only an attempt of our own counts.
    await this.#writing?.catch(() => undefined)
    while ((this.#pending[0]?.event.seq ?? end) < end) await this.#write()
    await this.#handle.flush()
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    // A tool that ends while this waits may still append: whatever was accepted before the handle closes is stored.
    do await this.flush()
    while (this.#pending.length > 0)
    for (const detach of this.#detach) detach()
    clearTimeout(this.#timer)
    this.#isClosed = true
    await this.#handle.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Vetoes an event when too much waits already, or when it could never be written. */
  #decide(event: SessionEvent): void {
    if (closing.has(event.type)) return
    const { status } = this.#handle
    if (status === 'poisoned' || status === 'closed') {
      throw new PersistenceError(
        `handle/${status}`,
        'the session can no longer be written through its handle: open it again',
      )
    }
    if (this.#bytes >= this.#maxBytes) {
      throw new PersistenceError(
        'persistence/backpressure',
        `${this.#pending.length} events (about ${this.#bytes} bytes) wait to be written: flush the session, and see its status`,
      )
    }
  }

  #add(event: SessionEvent): void {
    const bytes = roughBytes(event)
    this.#pending.push({ event, bytes })
    this.#bytes += bytes
    this.#schedule()
  }

  /** Opens a batching window unless one is open; after the write that is under way, if there is one. */
  #schedule(): void {
    this.#isWanted = this.#writing !== undefined
    if (this.#timer !== undefined || this.#isWanted) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      // Reported, and visible in the status.
      this.#write().catch(() => undefined)
    }, this.#delay)
  }

  #write(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing ??= this.#writePending().finally(() => {
      this.#writing = undefined
      if (this.#isWanted) this.#schedule()
    })
    return this.#writing
  }

  async #writePending(): Promise<void> {
    const batch = [...this.#pending]
    try {
      await this.#handle.append(batch.map(({ event }) => event))
    } catch (error) {
      if (!this.#isFailing) {
        this.#isFailing = true
        this.#onError(error)
      }
      throw error
    }
    this.#isFailing = false
    this.#pending = this.#pending.slice(batch.length)
    this.#bytes -= batch.reduce((sum, { bytes }) => sum + bytes, 0)
  }
}

/**
 * Writes what is appended to `session` through `handle`, behind the appender's back: the first pending event opens a
 * batching window, writes are one at a time and in order, and a failed batch is kept and tried again with the next
 * event and at every `flush()`. Events that the session has and the handle lacks are written too. Throws
 * `SessionConflictError` when the two do not belong together. SPEC 5.1.
 */
export function persistSession(
  session: Session,
  handle: SessionHandle,
  options: PersistSessionOptions = {},
): PersistedSession {
  return new WriteBehind(session, handle, options)
}
