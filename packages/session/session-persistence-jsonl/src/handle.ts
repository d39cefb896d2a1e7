import { stringifyEvent, type SessionEvent, type SessionHeader } from '@palimpsest/session'
import {
  PersistenceError,
  WriteQueue,
  type HandleStatus,
  type OpenedSession,
  type SessionHandle,
} from '@palimpsest/session-persistence'

/** One event as a record, without what ends its line. Throws `event/invalid` for what JSON cannot hold. */
export function encodeRecord(event: SessionEvent): Buffer {
  try {
    return Buffer.from(stringifyEvent(event))
  } catch (cause) {
    throw new PersistenceError('event/invalid', `event ${event.seq} (${event.type}) cannot be written as JSON`, {
      cause,
    })
  }
}

/** What a write handle stands on. */
export interface HandleBackend {
  /** Makes records durable; resolves to whether anything had to be written. */
  write(records: readonly Buffer[]): Promise<boolean>
  /** Lets go of the session. */
  release(): Promise<void>
  readonly onClosed: (handle: SessionHandle) => void
}

/** A handle that appends. */
export class WriteHandle implements SessionHandle {
  readonly header: SessionHeader
  readonly stored: OpenedSession
  readonly #queue: WriteQueue<Buffer>
  readonly #backend: HandleBackend
  #closing: Promise<void> | undefined

  constructor(stored: OpenedSession, backend: HandleBackend) {
    this.header = stored.header
    this.stored = stored
    this.#backend = backend
    this.#queue = new WriteQueue({
      nextSeq: stored.events.length,
      encode: encodeRecord,
      sizeOf: (record) => record.length,
      write: (records) => backend.write(records),
    })
  }

  get status(): HandleStatus {
    return this.#queue.status
  }

  get nextSeq(): number {
    return this.#queue.nextSeq
  }

  append(events: readonly SessionEvent[]): Promise<void> {
    return this.#queue.append(events)
  }

  flush(): Promise<void> {
    return this.#queue.touch()
  }

  close(): Promise<void> {
    this.#closing ??= this.#queue
      .close()
      .then(() => this.#backend.release())
      .finally(() => this.#backend.onClosed(this))
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** A handle that holds what was read and nothing else. */
export class ReadHandle implements SessionHandle {
  readonly header: SessionHeader
  readonly stored: OpenedSession
  readonly nextSeq: number
  readonly #onClosed: (handle: SessionHandle) => void
  #status: HandleStatus = 'ok'

  constructor(stored: OpenedSession, onClosed: (handle: SessionHandle) => void) {
    this.#onClosed = onClosed
    this.header = stored.header
    this.stored = stored
    this.nextSeq = stored.events.length
  }

  get status(): HandleStatus {
    return this.#status
  }

  append(): Promise<void> {
    const error =
      this.#status === 'closed'
        ? new PersistenceError('handle/closed', 'the handle was closed: open the session again')
        : new PersistenceError('handle/read-only', 'the session was opened to read: open it to write')
    return Promise.reject(error)
  }

  flush(): Promise<void> {
    return Promise.resolve()
  }

  close(): Promise<void> {
    this.#status = 'closed'
    this.#onClosed(this)
    return Promise.resolve()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
