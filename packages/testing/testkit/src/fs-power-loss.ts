import { relative, sep } from 'node:path'
import { crashTrees, seededRandom, type CrashTree } from './fs-crash-state.ts'
import { DiskModel, type DirectoryImage } from './fs-disk-model.ts'
import { layerFileSystem, type FileSystemCall } from './fs-layer.ts'

/** One sync that was asked for. */
export interface SyncCall {
  /** `datasync` or `sync` of a file, `syncDirectory` of a directory. */
  readonly operation: string
  /** Relative to the root, with `/`; `.` is the root. */
  readonly path: string
  /** The functions that asked for it, innermost first, joined by ` < `. */
  readonly site: string
}

export interface PowerLossOptions {
  /** Bytes that persist as one. Default 4096. */
  readonly pageSize?: number
  /** Which syncs do nothing: each call that it returns true for. Default none. */
  readonly ignores?: (sync: SyncCall) => boolean
}

/** A moment at which the power fails. */
export interface CrashState<Mark> extends CrashTree {
  /** The call that was the last to return, for people. */
  readonly after: string
  /** What had been promised to the user by then. */
  readonly marks: readonly Mark[]
}

interface Moment {
  readonly after: string
  readonly image: DirectoryImage
  marks: number
}

const changing: ReadonlySet<string> = new Set([
  'open',
  'mkdir',
  'link',
  'rename',
  'unlink',
  'rmdir',
  'write',
  'truncate',
])
const syncing: ReadonlySet<string> = new Set(['datasync', 'sync', 'syncDirectory'])

/**
 * Runs a store on the real file system while keeping the books on what a power loss could take: 4 KiB pages and lengths
 * of files that were not synced (also those whose sync failed, until they are written anew), and names (create, link, rename, unlink, mkdir) whose directory was not. Afterwards
 * `crashStates` replays every moment. The port is the one of `layerFileSystem` with positional writes; all changes
 * below `root` must go through it.
 */
export class PowerLossRecorder<Port extends object, Mark> {
  readonly fileSystem: Port
  /** The syncs so far, in order. */
  readonly syncs: SyncCall[] = []
  readonly #root: string
  readonly #model: DiskModel
  readonly #ignores: (sync: SyncCall) => boolean
  readonly #nodes = new WeakMap<object, object>()
  readonly #moments: Moment[] = []
  readonly #marks: Mark[] = []
  #turn: Promise<unknown> = Promise.resolve()

  /** `root` is an existing directory that is taken as durable, as is what it holds. */
  constructor(base: Port, root: string, options: PowerLossOptions = {}) {
    this.#root = root
    this.#model = new DiskModel(root, options.pageSize ?? 4096)
    this.#ignores = options.ignores ?? (() => false)
    this.#remember('the start')
    this.fileSystem = layerFileSystem(base, (call, proceed) => {
      const site = syncing.has(call.operation) ? callSite() : ''
      // One call at a time, so that each moment is one.
      const made = this.#turn.then(() => this.#make(call, site, proceed))
      this.#turn = made.catch(() => undefined)
      return made
    })
  }

  /** Notes a promise to the user; it binds from now on. */
  mark(mark: Mark): void {
    this.#marks.push(mark)
    const moment = this.#moments.at(-1)
    if (moment !== undefined) moment.marks = this.#marks.length
  }

  /** The trees that a power loss at any moment may leave: at most about `limit` for each moment, sampled by `seed`. */
  *crashStates(limit: number, seed: number): Iterable<CrashState<Mark>> {
    const random = seededRandom(seed)
    for (const { after, image, marks } of this.#moments) {
      for (const tree of crashTrees(image, limit, random)) yield { ...tree, after, marks: this.#marks.slice(0, marks) }
    }
  }

  async #make(call: FileSystemCall, site: string, proceed: () => Promise<unknown>): Promise<unknown> {
    const isSync = syncing.has(call.operation)
    if (!isSync && !changing.has(call.operation)) return proceed()
    const written = call.file === undefined ? undefined : this.#nodes.get(call.file)
    try {
      const result = await proceed()
      this.#model.observe(written)
      if (call.operation === 'open') this.#bind(result as object, call.path)
      if (call.operation === 'write') this.#touch(call, Number(result))
      if (isSync) this.#sync(call, site)
      return result
    } catch (cause) {
      this.#model.observe(written)
      if (isSync && written !== undefined) this.#model.failSync(written)
      throw cause
    } finally {
      this.#remember(`${call.operation} ${this.#relative(call.path)}`)
    }
  }

  #nodeOf(call: FileSystemCall): object | undefined {
    return call.file === undefined ? this.#model.nodeAt(call.path) : this.#nodes.get(call.file)
  }

  #bind(file: object, path: string): void {
    const node = this.#model.nodeAt(path)
    if (node !== undefined) this.#nodes.set(file, node)
  }

  #touch(call: FileSystemCall, length: number): void {
    const node = this.#nodeOf(call)
    if (node !== undefined) this.#model.touch(node, Number(call.args[3]), length)
  }

  #sync(call: FileSystemCall, site: string): void {
    const sync: SyncCall = { operation: call.operation, path: this.#relative(call.path), site }
    this.syncs.push(sync)
    const node = this.#nodeOf(call)
    if (node !== undefined && !this.#ignores(sync)) this.#model.sync(node)
  }

  #remember(after: string): void {
    this.#moments.push({ after, image: this.#model.image(), marks: this.#marks.length })
  }

  #relative(path: string): string {
    return relative(this.#root, path).split(sep).join('/') || '.'
  }
}

/** Names of the functions on the stack that are neither this layer's nor the platform's. */
function callSite(): string {
  const holder: { stack?: string } = {}
  Error.captureStackTrace(holder, callSite)
  const frames = (holder.stack ?? '').split('\n').slice(1)
  return frames
    .filter((frame) => !/fs-(layer|power-loss)\.ts|\(?node:|node_modules/.test(frame))
    .map((frame) => /at (?:async )?(?:new )?([^ (]+) \(/.exec(frame)?.[1]?.replace(/^.*\./, '') ?? '(anonymous)')
    .slice(0, 8)
    .join(' < ')
}
