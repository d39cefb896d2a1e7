import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { type InstructionFile, readContent } from './content.ts'
import { WorkspaceContextError } from './errors.ts'
import type { FilePort } from './files.ts'
import { directoriesTo, inDirectory, isInstructionPath } from './paths.ts'

export interface WorkspaceOptions {
  readonly root: string | undefined
  readonly cwd: string
  readonly fileNames: readonly string[]
  /** Bytes of one file. */
  readonly maxFileBytes: number
  readonly port: FilePort
}

/** Which instruction files there may be, and what is in them. */
export class Workspace {
  readonly #options: WorkspaceOptions
  #root: Promise<string> | undefined
  /** Absolute paths, not looked at yet. */
  readonly #touched = new Set<string>()
  /** Keys of files that were found below the root because something near them was touched. */
  readonly #nested = new Set<string>()

  constructor(options: WorkspaceOptions) {
    this.#options = options
    if (options.root !== undefined && keyOf(options.root, options.cwd) === undefined) {
      throw new WorkspaceContextError(
        'options/outside-root',
        `cwd ${options.cwd} does not lie in root ${options.root}: give a root above it, or none`,
      )
    }
  }

  /** Notes that a tool worked on `path`, absolute or relative to cwd. */
  touch(path: string): void {
    if (!path.includes('\0')) this.#touched.add(resolve(this.#options.cwd, path))
  }

  /** Looks for files beside and above what was touched since the last call. */
  async discover(): Promise<void> {
    const touched = [...this.#touched]
    this.#touched.clear()
    if (touched.length === 0) return
    const root = await this.#findRoot()
    const keys = touched.flatMap((path) => keyOf(root, path) ?? [])
    // The path may be a directory itself.
    const found = await this.read(new Set(this.#named(keys.flatMap(directoriesTo))))
    for (const [path, file] of found) if (file !== undefined) this.#nested.add(path)
  }

  /** Keys of all files to look at: from the root down to cwd, and what was discovered. */
  async candidates(): Promise<readonly string[]> {
    const root = await this.#findRoot()
    return [...this.#named(directoriesTo(keyOf(root, this.#options.cwd) ?? '')), ...this.#nested]
  }

  /** Reads the files of these keys; `undefined` where there is none, or where a key is no instruction file's. */
  async read(paths: Iterable<string>): Promise<ReadonlyMap<string, InstructionFile | undefined>> {
    const root = await this.#findRoot()
    return new Map(await Promise.all([...paths].map(async (path) => [path, await this.#readOne(root, path)] as const)))
  }

  async #readOne(root: string, path: string): Promise<InstructionFile | undefined> {
    const { fileNames, maxFileBytes, port } = this.#options
    if (!isInstructionPath(path, fileNames)) return undefined
    try {
      const result = await port.read(join(root, ...path.split('/')), { root, maxBytes: maxFileBytes })
      if (result.kind === 'absent') return undefined
      return result.kind === 'refused' ? result : readContent(result.bytes)
    } catch {
      return { kind: 'refused', reason: 'unreadable' }
    }
  }

  #named(directories: readonly string[]): readonly string[] {
    return directories.flatMap((directory) => this.#options.fileNames.map((name) => inDirectory(directory, name)))
  }

  #findRoot(): Promise<string> {
    this.#root ??= nearestRepository(this.#options)
    return this.#root
  }
}

/** The nearest directory at or above cwd that holds `.git`, a directory or a file; cwd itself when there is none. */
async function nearestRepository({ root, cwd, port }: WorkspaceOptions): Promise<string> {
  if (root !== undefined) return root
  for (let directory = cwd; ; directory = dirname(directory)) {
    if (await port.exists(join(directory, '.git')).catch(() => false)) return directory
    if (directory === dirname(directory)) return cwd
  }
}

/** A path relative to the root, with forward slashes; `undefined` outside the root. */
function keyOf(root: string, path: string): string | undefined {
  const key = relative(root, path)
  return key === '..' || key.startsWith(`..${sep}`) || isAbsolute(key) ? undefined : key.split(sep).join('/')
}
