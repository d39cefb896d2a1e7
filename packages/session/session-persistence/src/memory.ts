import { createHash } from 'node:crypto'
import {
  countInherited,
  interruptedTurnClosers,
  parseSessionHeader,
  stringifyEvent,
  stringifyHeader,
} from '@palimpsest/session'
import type { SessionEvent, SessionHeader, SessionId } from '@palimpsest/session'
import type {
  AttachmentStore,
  HandleStatus,
  OpenedSession,
  SessionHandle,
  SessionPersistence,
  SessionQuery,
  SessionStat,
} from './contract.ts'
import { PersistenceError, SessionLockedError } from './errors.ts'
import { promptLine } from './prompt.ts'
import { WriteQueue } from './write-queue.ts'

interface Shelf {
  readonly header: SessionHeader
  readonly lines: string[]
  isStored: boolean
  isClaimed: boolean
  readonly attachments: Map<string, Uint8Array>
}

/** What several stores share, as several processes share a disk. */
export type MemoryShelves = Map<SessionId, Shelf>

function eventsOf(shelf: Shelf): SessionEvent[] {
  return shelf.lines.map((line) => JSON.parse(line) as SessionEvent)
}

function statOf(shelf: Shelf): SessionStat {
  const { header, lines } = shelf
  const prompt = eventsOf(shelf).find((event) => event.type === 'user/message' && event.data.source.kind === 'user') as
    | { data: { content: { text?: string }[] } }
    | undefined
  const firstPrompt = promptLine(prompt?.data.content.find((block) => block.text !== undefined)?.text ?? '')
  const digest = createHash('sha256').update(lines.join('\n')).digest('hex')
  return {
    header,
    eventCount: lines.length,
    byteLength: lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0),
    updatedAt: eventsOf(shelf).at(-1)?.time ?? header.createdAt,
    revision: `${lines.length}-${digest.slice(0, 16)}`,
    ...(firstPrompt === undefined ? {} : { firstPrompt }),
  }
}

class MemoryHandle implements SessionHandle {
  readonly header: SessionHeader
  readonly stored: OpenedSession
  readonly #queue: WriteQueue<string>
  readonly #release: () => void
  readonly #isReader: boolean
  #isReleased = false

  constructor(shelf: Shelf, stored: OpenedSession, mode: 'read' | 'write', release: () => void) {
    this.header = shelf.header
    this.stored = stored
    this.#isReader = mode === 'read'
    this.#release = release
    this.#queue = new WriteQueue({
      nextSeq: stored.events.length,
      encode: stringifyEvent,
      sizeOf: (line) => line.length,
      write: (lines) => {
        shelf.isStored = true
        shelf.lines.push(...lines)
        return Promise.resolve(true)
      },
    })
  }

  get status(): HandleStatus {
    return this.#queue.status
  }

  get nextSeq(): number {
    return this.#queue.nextSeq
  }

  append(events: readonly SessionEvent[]): Promise<void> {
    if (this.#isReader && this.status !== 'closed')
      return Promise.reject(
        new PersistenceError('handle/read-only', 'the session was opened to read: open it to write'),
      )
    return this.#queue.append(events)
  }

  flush(): Promise<void> {
    return this.#isReader ? Promise.resolve() : this.#queue.touch()
  }

  async close(): Promise<void> {
    await this.#queue.close()
    if (!this.#isReleased) this.#release()
    this.#isReleased = true
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

function checkedHeader(header: SessionHeader): SessionHeader {
  try {
    return parseSessionHeader(JSON.parse(stringifyHeader(header)))
  } catch (cause) {
    throw new PersistenceError('header/invalid', cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

class MemoryPersistence implements SessionPersistence {
  readonly #shelves: MemoryShelves
  readonly #handles = new Set<MemoryHandle>()
  #isClosed = false

  constructor(shelves: MemoryShelves) {
    this.#shelves = shelves
  }

  async create(header: SessionHeader): Promise<SessionHandle> {
    this.#requireOpen()
    const checked = checkedHeader(header)
    const before = this.#shelves.get(checked.id)
    if (before?.isStored === true)
      throw new PersistenceError('session/exists', `session ${JSON.stringify(checked.id)} is stored already: open it`)
    if (before !== undefined) throw new SessionLockedError(checked.id, { pid: process.pid })
    const shelf: Shelf = { header: checked, lines: [], isStored: false, isClaimed: true, attachments: new Map() }
    this.#shelves.set(checked.id, shelf)
    return this.#handle(shelf, 'write', [], [])
  }

  async open(id: SessionId, mode: 'read' | 'write'): Promise<SessionHandle> {
    this.#requireOpen()
    const shelf = this.#require(id)
    if (mode === 'write' && shelf.isClaimed) throw new SessionLockedError(id, { pid: process.pid })
    const closers = shelf.isClaimed ? [] : interruptedTurnClosers(eventsOf(shelf))
    if (mode === 'read') return this.#handle(shelf, mode, [], closers)
    shelf.isClaimed = true
    shelf.lines.push(...closers.map(stringifyEvent))
    return this.#handle(
      shelf,
      mode,
      closers.map(({ seq }) => seq),
      [],
    )
  }

  async stat(id: SessionId): Promise<SessionStat | undefined> {
    this.#requireOpen()
    const shelf = this.#shelves.get(id)
    return shelf?.isStored === true ? statOf(shelf) : undefined
  }

  async *list(query: SessionQuery = {}): AsyncIterable<SessionStat> {
    this.#requireOpen()
    const stats = [...this.#shelves.values()].filter(({ isStored }) => isStored).map(statOf)
    const wanted = stats.filter(
      ({ header }) =>
        (query.cwd === undefined || header.cwd === query.cwd) &&
        (query.parentSession === undefined || header.parentSession === query.parentSession),
    )
    yield* wanted.sort((left, right) => right.updatedAt - left.updatedAt || (left.header.id < right.header.id ? -1 : 1))
  }

  attachments(id: SessionId): AttachmentStore {
    const find = (): Map<string, Uint8Array> => {
      const shelf = this.#shelves.get(id)
      if (shelf === undefined)
        throw new PersistenceError('session/not-found', `no session ${JSON.stringify(id)} is stored here`)
      return shelf.attachments
    }
    return {
      put: async (bytes, meta) => {
        if (typeof meta.mediaType !== 'string' || meta.mediaType === '')
          throw new PersistenceError('attachment/invalid', 'an attachment needs a media type, such as image/png')
        const attachmentId = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
        find().set(attachmentId, Uint8Array.from(bytes))
        return { ...meta, attachmentId, bytes: bytes.length }
      },
      get: async (ref) => {
        const bytes = find().get(ref.attachmentId)
        return bytes?.length === ref.bytes ? Uint8Array.from(bytes) : undefined
      },
      has: async (ref) => find().get(ref.attachmentId)?.length === ref.bytes,
    }
  }

  async delete(id: SessionId): Promise<void> {
    this.#requireOpen()
    if (this.#require(id).isClaimed) throw new SessionLockedError(id, { pid: process.pid })
    this.#shelves.delete(id)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#handles].map((handle) => handle.close()))
  }

  #handle(shelf: Shelf, mode: 'read' | 'write', closers: number[], pendingClosers: SessionEvent[]): MemoryHandle {
    const events = eventsOf(shelf)
    const stored: OpenedSession = {
      header: shelf.header,
      events,
      inheritedEventCount: countInherited(events),
      recovered: { ranges: [], closers },
      pendingClosers,
    }
    const handle: MemoryHandle = new MemoryHandle(shelf, stored, mode, () => {
      this.#handles.delete(handle)
      if (mode === 'read') return
      shelf.isClaimed = false
      if (!shelf.isStored) this.#shelves.delete(shelf.header.id)
    })
    this.#handles.add(handle)
    return handle
  }

  #require(id: SessionId): Shelf {
    const shelf = this.#shelves.get(id)
    if (shelf?.isStored !== true)
      throw new PersistenceError('session/not-found', `no session ${JSON.stringify(id)} is stored here`)
    return shelf
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new PersistenceError('persistence/closed', 'the store was closed: open a new one')
  }
}

/**
 * A store that forgets everything with its process: for tests. Stores over the same `shelves` see the same sessions.
 */
export function memoryPersistence(shelves: MemoryShelves = new Map()): SessionPersistence {
  return new MemoryPersistence(shelves)
}
