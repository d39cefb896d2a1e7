import type { SessionEvent } from '@palimpsest/session'
import type { HandleStatus } from './contract.ts'
import { hasEnvelope } from './envelope.ts'
import { PersistenceError, SessionConflictError } from './errors.ts'

/** Bytes from which on calls are no longer joined into one group. */
const GROUP_BYTES = 16 * 1024 * 1024

export interface WriteQueueOptions<Item> {
  /** First seq that is not stored. */
  readonly nextSeq: number
  /**
   * Makes one event what `write` takes; runs when the call is made, so that later changes of the event do not matter.
   */
  readonly encode: (event: SessionEvent) => Item
  /** Bytes of one item. */
  readonly sizeOf: (item: Item) => number
  /**
   * Makes a group durable as a whole; resolves to whether anything had to be written. A rejection means that none of
   * it counts; of `SessionConflictError` or `handle/poisoned`, that nothing can be written any more.
   */
  readonly write: (items: readonly Item[]) => Promise<boolean>
}

interface Call<Item> {
  readonly items: readonly Item[]
  readonly bytes: number
  resolve(): void
  reject(error: unknown): void
}

/** Throws `event/invalid` for an event without a valid envelope. */
function checkEnvelope(event: SessionEvent): void {
  if (hasEnvelope(event)) return
  const { seq, type } = event as { readonly seq: unknown; readonly type: unknown }
  throw new PersistenceError(
    'event/invalid',
    `event ${String(seq)} (${String(type)}) has no valid envelope: type, seq, time and data are needed`,
  )
}

/** Whether an error ends a handle. */
function isFatal(error: unknown): boolean {
  return error instanceof PersistenceError && (error.code === 'session/conflict' || error.code === 'handle/poisoned')
}

/**
 * Group commit for one handle: calls queue in call order, one write is under way at a time, and what queued meanwhile
 * goes into the next. The seq is checked when a call is made. A failed group takes the calls behind it along, since
 * they no longer continue the log. SPEC 5.1.
 */
export class WriteQueue<Item> {
  readonly #options: WriteQueueOptions<Item>
  #calls: Call<Item>[] = []
  #durableNext: number
  #next: number
  #running: Promise<void> | undefined
  #status: HandleStatus = 'ok'
  #cause: unknown

  constructor(options: WriteQueueOptions<Item>) {
    this.#options = options
    this.#durableNext = options.nextSeq
    this.#next = options.nextSeq
  }

  get status(): HandleStatus {
    return this.#status
  }

  get nextSeq(): number {
    return this.#next
  }

  /** Queues a batch. Rejects without writing when it does not continue the log. */
  append(events: readonly SessionEvent[]): Promise<void> {
    return this.#enqueue(() => {
      let next = this.#next
      const items = events.map((event) => {
        checkEnvelope(event)
        if (event.seq !== next) {
          throw new SessionConflictError(
            `event ${event.seq} (${event.type}) does not continue the log: the next seq is ${next}`,
          )
        }
        next += 1
        return this.#options.encode(event)
      })
      this.#next = next
      return items
    })
  }

  /** Queues an empty group, so that `write` runs after everything before it. */
  touch(): Promise<void> {
    return this.#enqueue(() => [])
  }

  /** Resolves when nothing is queued any more, whatever became of it. */
  async drain(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  /** Waits for what is queued and refuses everything later. */
  async close(): Promise<void> {
    if (this.#status !== 'closed') {
      const status = this.#status
      this.#status = 'closed'
      if (status === 'poisoned') return
      await this.drain()
    }
  }

  #enqueue(prepare: () => readonly Item[]): Promise<void> {
    try {
      this.#refuse()
      const items = prepare()
      const bytes = items.reduce((sum, item) => sum + this.#options.sizeOf(item), 0)
      return new Promise((resolve, reject) => {
        this.#calls.push({ items, bytes, resolve, reject })
        this.#running ??= this.#run()
      })
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #refuse(): void {
    if (this.#status === 'closed')
      throw new PersistenceError('handle/closed', 'the handle was closed: open the session again')
    if (this.#status === 'poisoned') throw poisoned(this.#cause)
  }

  /** Calls are joined while they stay below the group's size; a larger call goes alone. */
  #nextGroup(): Call<Item>[] {
    let bytes = 0
    const end = this.#calls.findIndex((call, index) => (bytes += call.bytes) > GROUP_BYTES && index > 0)
    return this.#calls.splice(0, end === -1 ? this.#calls.length : end)
  }

  async #run(): Promise<void> {
    // Calls of the same tick join the first group.
    await Promise.resolve()
    while (this.#calls.length > 0) {
      const group = this.#nextGroup()
      const items = group.flatMap((call) => call.items)
      try {
        const hasWritten = await this.#options.write(items)
        this.#durableNext += items.length
        if (hasWritten && this.#status === 'degraded') this.#status = 'ok'
        for (const call of group) call.resolve()
      } catch (error) {
        this.#fail(error, group)
      }
    }
    this.#running = undefined
  }

  #fail(error: unknown, group: readonly Call<Item>[]): void {
    const lost = [...group, ...this.#calls]
    this.#calls = []
    this.#next = this.#durableNext
    this.#cause = error
    if (this.#status !== 'closed') this.#status = isFatal(error) ? 'poisoned' : 'degraded'
    for (const call of lost) call.reject(error)
  }
}

function poisoned(cause: unknown): PersistenceError {
  const why = cause instanceof Error ? `: ${cause.message}` : ''
  return new PersistenceError(
    'handle/poisoned',
    `nothing more is written through this handle; open the session again${why}`,
    { cause },
  )
}
