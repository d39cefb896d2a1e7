import { stringifyHeader, type SessionHeader } from '@palimpsest/session'
import { PersistenceError, SessionConflictError } from '@palimpsest/session-persistence'
import type { Claim } from './claim.ts'
import type { FileStat, FileSystem, OpenFile } from './file-system.ts'
import { codeOf, ioError, isNamed, statIfAny, temporaryName, tidy, writeWhole } from './io.ts'
import { LOG_NAME, within } from './paths.ts'

const newline = Buffer.from('\n')
/** End of the last record of a batch. SPEC 5.2. */
const mark = Buffer.from(' \n')

/** Records joined to one batch: the last one carries the commit mark. */
export function frameBatch(records: readonly Buffer[]): Buffer {
  return Buffer.concat(records.flatMap((record, index) => [record, index === records.length - 1 ? mark : newline]))
}

/** Where a log lives and what was done for it. */
export interface LogPlace {
  readonly fs: FileSystem
  readonly root: string
  /** The session's directory, relative to the root. */
  readonly directory: string
  /**
   * Absolute paths of the directories that hold a name on the way to the log, innermost first; synced when the log is
   * published.
   */
  readonly holders: readonly string[]
}

/** Error codes of a file system that has no hard links, or allows none. */
const noLinks = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EACCES', 'EINVAL'])

/**
 * The log of one writer: published whole, then appended to batch by batch. It knows the length that it left and writes
 * nothing when somebody else changed it. SPEC 5.2.
 */
export class LogFile {
  readonly #place: LogPlace
  readonly #claim: Claim
  readonly #path: string
  #file: OpenFile | undefined
  #identity: { readonly dev: bigint; readonly ino: bigint } | undefined
  #length: number
  /** A batch was cut off again and the cut is not durable yet. */
  #isUnsettled = false

  constructor(
    place: LogPlace,
    claim: Claim,
    opened?: { readonly file: OpenFile; readonly dev: bigint; readonly ino: bigint; readonly length: number },
  ) {
    this.#place = place
    this.#claim = claim
    this.#path = within(place.root, place.directory, LOG_NAME)
    this.#file = opened?.file
    this.#identity = opened
    this.#length = opened?.length ?? 0
  }

  get isPublished(): boolean {
    return this.#file !== undefined
  }

  /** Throws `SessionConflictError` unless the log is still this writer's and as long as it left it. Before every write. */
  async verify(): Promise<void> {
    const { dev, ino } = this.#identity ?? { dev: -1n, ino: -1n }
    await this.#requireUnchanged({ dev, ino, size: this.#length })
  }

  /** Takes everything from byte `length` on out of an opened log. Not durable by itself. */
  async cutTo(length: number): Promise<void> {
    await this.verify()
    await this.#file?.truncate(length)
    this.#length = length
  }

  /** Ends the last line of an opened log. Not durable by itself. */
  async endLine(): Promise<void> {
    await this.verify()
    if (this.#file !== undefined) await writeWhole(this.#file, newline, this.#length)
    this.#length += newline.length
  }

  /**
   * Makes one batch durable, or leaves the log as it was and throws `io/write`, `SessionConflictError` or
   * `handle/poisoned`.
   */
  async append(records: readonly Buffer[]): Promise<void> {
    const file = this.#file
    if (file === undefined) throw poisoned('the log was never published', undefined)
    try {
      await this.verify()
      if (this.#isUnsettled) await this.#settle(file)
    } catch (cause) {
      throw ioError('io/write', `${LOG_NAME} cannot be written`, cause)
    }
    const batch = frameBatch(records)
    try {
      await writeWhole(file, batch, this.#length)
      await file.datasync()
    } catch (cause) {
      await this.#rollBack(file, cause)
      throw ioError('io/write', `${LOG_NAME} was not written`, cause)
    }
    this.#length += batch.length
  }

  /**
   * Publishes a new log with its header and first batch under a name that nothing had, or that only the empty log
   * `replaced` has. Throws `SessionConflictError` when it is taken by another.
   */
  async publish(header: SessionHeader, records: readonly Buffer[], replaced: FileStat | undefined): Promise<void> {
    const { fs } = this.#place
    const content = frameBatch([Buffer.from(stringifyHeader(header)), ...records])
    const aside = temporaryName(this.#path)
    let file: OpenFile | undefined
    let hasName = false
    try {
      await this.#claim.verify()
      file = await fs.open(aside, 'create')
      await writeWhole(file, content, 0)
      await file.sync()
      await this.#name(aside, file, replaced)
      hasName = true
      for (const directory of this.#place.holders) await fs.syncDirectory(directory)
      this.#identity = await file.stat()
    } catch (cause) {
      try {
        if (file !== undefined && hasName) await this.#withdraw(file, cause)
      } finally {
        await file?.close().catch(() => undefined)
        await tidy(fs, aside)
      }
      throw ioError('io/write', `${LOG_NAME} was not written`, cause)
    }
    this.#file = file
    this.#length = content.length
    await tidy(fs, aside)
  }

  async close(): Promise<void> {
    await this.#file?.close()
  }

  async #name(aside: string, file: OpenFile, replaced: FileStat | undefined): Promise<void> {
    const { fs } = this.#place
    // A link refuses a name that is taken; a rename would write over whatever stands there by now.
    if (replaced !== undefined) await this.#requireUnchanged(replaced)
    try {
      await (replaced === undefined ? this.#giveName(aside) : fs.rename(aside, this.#path))
    } catch (error) {
      // A network file system may do it and lose the answer: what the path names is what counts.
      if (!(await isNamed(fs, file, this.#path))) throw error
    }
  }

  async #giveName(aside: string): Promise<void> {
    const { fs } = this.#place
    try {
      await fs.link(aside, this.#path)
      return
    } catch (error) {
      if (codeOf(error) === 'EEXIST')
        throw new SessionConflictError(`${LOG_NAME} was made by another writer meanwhile; nothing was written`, {
          cause: error,
        })
      if (!noLinks.has(codeOf(error) ?? '')) throw error
    }
    // An exclusive create takes the name; a crash before the rename leaves an empty log, which gives way to a create.
    const reserved = await fs.open(this.#path, 'create')
    await reserved.close()
    await fs.rename(aside, this.#path)
  }

  /** Takes the name back from a log that is not durable, unless a successor has given it to its own. */
  async #withdraw(file: OpenFile, cause: unknown): Promise<void> {
    const { fs } = this.#place
    try {
      if (await isNamed(fs, file, this.#path)) await fs.unlink(this.#path)
    } catch {
      throw poisoned('the new log could not be made durable and could not be taken back', cause)
    }
  }

  /** Throws `SessionConflictError` when the claim was lost or the path no longer names what it should. */
  async #requireUnchanged({ dev, ino, size }: Pick<FileStat, 'dev' | 'ino' | 'size'>): Promise<void> {
    await this.#claim.verify()
    const stat = await statIfAny(this.#place.fs, this.#path)
    if (stat !== undefined && stat.dev === dev && stat.ino === ino && stat.size === size) return
    throw new SessionConflictError(
      `${LOG_NAME} is no longer what this writer left (${size} bytes expected, ${stat?.size ?? 'none'} found): another writer was here, and nothing was written`,
    )
  }

  /**
   * After a failed sync the kernel may have dropped pages and report success next time: the batch has to go and be
   * written anew.
   */
  async #rollBack(file: OpenFile, cause: unknown): Promise<void> {
    try {
      await file.truncate(this.#length)
    } catch {
      throw poisoned('a batch failed half-way and could not be taken back', cause)
    }
    this.#isUnsettled = true
    await this.#settle(file).catch(() => undefined)
  }

  /** Makes the cut durable before anything is written over it: else a power loss could mix the pages of two batches. */
  async #settle(file: OpenFile): Promise<void> {
    await file.datasync()
    this.#isUnsettled = false
  }
}

function poisoned(what: string, cause: unknown): PersistenceError {
  return new PersistenceError('handle/poisoned', `${what}: open the session again, which mends it`, { cause })
}
