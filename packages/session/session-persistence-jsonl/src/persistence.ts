import { resolve } from 'node:path'
import {
  parseSessionHeader,
  SessionError,
  stringifyHeader,
  type SessionHeader,
  type SessionId,
} from '@palimpsest/session'
import {
  PersistenceError,
  type AttachmentStore,
  type SessionHandle,
  type SessionPersistence,
  type SessionQuery,
  type SessionStat,
} from '@palimpsest/session-persistence'
import { attachmentFiles } from './attachments.ts'
import { takeClaim, type LockMode } from './claim.ts'
import { createSession } from './create.ts'
import { nodeFileSystem, type FileSystem } from './file-system.ts'
import { readHeadline } from './headline.ts'
import { attempt, codeOf, withFile } from './io.ts'
import { allPlaces, findPlace, removeTree } from './layout.ts'
import { notFound, openToRead, openToWrite, type StoreContext } from './open.ts'
import { encodeSegment, LOCK_NAME, LOG_NAME, within } from './paths.ts'

export interface JsonlPersistenceOptions {
  /** Directory of the store; made with mode 0700 when the first session is created. */
  readonly root: string
  /** How a writer keeps others out. Default `kernel`. */
  readonly lock?: LockMode
  /**
   * Milliseconds for which a lease holds without being renewed, at least 100. Default 15,000. Only with `lock:
   * 'lease'`.
   */
  readonly leaseMs?: number
  /** Where the files are. Default the disk. */
  readonly fileSystem?: FileSystem
}

/** Logs that a listing reads at a time. */
const LISTED_AT_ONCE = 8

function checkedHeader(header: SessionHeader): SessionHeader {
  try {
    return parseSessionHeader(JSON.parse(stringifyHeader(header)))
  } catch (cause) {
    if (cause instanceof SessionError) throw new PersistenceError('header/invalid', cause.message, { cause })
    throw cause
  }
}

function matches({ header }: SessionStat, query: SessionQuery): boolean {
  return (
    (query.cwd === undefined || header.cwd === query.cwd) &&
    (query.parentSession === undefined || header.parentSession === query.parentSession)
  )
}

function newestFirst(left: SessionStat, right: SessionStat): number {
  return right.updatedAt - left.updatedAt || (left.header.id < right.header.id ? -1 : 1)
}

class JsonlPersistence implements SessionPersistence {
  readonly #store: StoreContext
  readonly #handles = new Set<SessionHandle>()
  #isClosed = false

  constructor({ root, lock = 'kernel', leaseMs = 15_000, fileSystem = nodeFileSystem }: JsonlPersistenceOptions) {
    if (!(leaseMs >= 100)) throw new RangeError(`leaseMs is ${leaseMs}: expected at least 100 milliseconds`)
    this.#store = {
      fs: fileSystem,
      root: resolve(root),
      lock,
      leaseMs,
      onClosed: (handle) => void this.#handles.delete(handle),
    }
  }

  create(header: SessionHeader): Promise<SessionHandle> {
    return this.#run('io/write', 'the session was not created', async () => {
      return this.#keep(await createSession(this.#store, checkedHeader(header)))
    })
  }

  open(id: SessionId, mode: 'read' | 'write'): Promise<SessionHandle> {
    const name = `session ${JSON.stringify(id)} was not opened`
    return this.#run('io/read', name, async () =>
      this.#keep(mode === 'read' ? await openToRead(this.#store, id) : await openToWrite(this.#store, id)),
    )
  }

  stat(id: SessionId): Promise<SessionStat | undefined> {
    return this.#run('io/read', `session ${JSON.stringify(id)} was not read`, async () => {
      const place = await findPlace(this.#store.fs, this.#store.root, id)
      return place?.logSize === undefined ? undefined : this.#headline(place.directory)
    })
  }

  async *list(query: SessionQuery = {}): AsyncIterable<SessionStat> {
    const found: SessionStat[] = []
    let group: string[] = []
    const look = async (): Promise<void> => {
      // One log that cannot be read must not hide the others.
      const stats = await Promise.all(group.map((directory) => this.#headline(directory).catch(() => undefined)))
      for (const [index, stat] of stats.entries()) {
        // No open finds a session in a directory that was copied or renamed.
        const isAtHome = stat !== undefined && group[index]?.endsWith(`/${encodeSegment(stat.header.id)}`) === true
        if (isAtHome && matches(stat, query)) found.push(stat)
      }
      group = []
    }
    await this.#run('io/read', 'the sessions were not listed', async () => {
      for await (const directory of allPlaces(this.#store.fs, this.#store.root, query.cwd)) {
        if (group.push(directory) === LISTED_AT_ONCE) await look()
      }
      await look()
    })
    yield* found.sort(newestFirst)
  }

  attachments(id: SessionId): AttachmentStore {
    const { fs, root } = this.#store
    return attachmentFiles(fs, root, async () => {
      this.#requireOpen()
      const directory = (await findPlace(fs, root, id))?.directory
      if (directory === undefined) throw notFound(id)
      return directory
    })
  }

  delete(id: SessionId): Promise<void> {
    const { fs, root, lock } = this.#store
    return this.#run('io/write', `session ${JSON.stringify(id)} was not deleted`, async () => {
      const place = await findPlace(fs, root, id)
      if (place?.logSize === undefined) throw notFound(id)
      const { directory } = place
      const claim = await takeClaim({ ...this.#store, directory, id }, lock)
      try {
        // The log goes first: a session that is still there has all its files.
        await fs.unlink(within(root, directory, LOG_NAME))
        await fs.syncDirectory(within(root, directory))
        await removeTree(fs, within(root, directory), lock === 'kernel' ? LOCK_NAME : undefined)
        await fs.syncDirectory(within(root, directory, '..'))
      } finally {
        await claim.release()
      }
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const results = await Promise.allSettled([...this.#handles].map((handle) => handle.close()))
    const failed = results.find((result) => result.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new PersistenceError('persistence/closed', 'the store was closed: open a new one')
  }

  #run<T>(code: 'io/read' | 'io/write', what: string, run: () => Promise<T>): Promise<T> {
    return attempt(code, what, () => {
      this.#requireOpen()
      return run()
    })
  }

  #keep<Handle extends SessionHandle>(handle: Handle): Handle {
    this.#handles.add(handle)
    return handle
  }

  async #headline(directory: string): Promise<SessionStat | undefined> {
    const { fs, root } = this.#store
    try {
      const file = await fs.open(within(root, directory, LOG_NAME), 'read')
      return await withFile(file, async () => readHeadline(file, (await file.stat()).size))
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    }
  }
}

/** Sessions as JSON Lines files below one directory. SPEC 5.2. */
export function jsonlPersistence(options: JsonlPersistenceOptions): SessionPersistence {
  return new JsonlPersistence(options)
}
