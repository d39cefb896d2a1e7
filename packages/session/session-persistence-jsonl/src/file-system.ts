import { constants } from 'node:fs'
import * as fs from 'node:fs/promises'

/** What a path or an open file is. `link` is a symbolic link, never followed. */
export type FileKind = 'file' | 'directory' | 'link' | 'other'

export interface FileStat {
  readonly kind: FileKind
  /** Device and inode: two stats name one file exactly when both agree. */
  readonly dev: bigint
  readonly ino: bigint
  /** Bytes. */
  readonly size: number
  /** Unix epoch, milliseconds. */
  readonly mtimeMs: number
}

export interface DirectoryEntry {
  readonly name: string
  readonly kind: FileKind
}

/**
 * How a file is opened. None follows a symbolic link in the last segment.
 * `read`: must exist. `update`: must exist, read and write. `create`: must not exist, read and write.
 * `ensure`: read and write, created when absent. New files have mode 0600.
 */
export type OpenMode = 'read' | 'update' | 'create' | 'ensure'

/** `exclusive` for the writer, `shared` to see whether there is one. */
export type LockKind = 'exclusive' | 'shared'

/** An open file. Every read and write names its position; there is no cursor and no append mode. */
export interface OpenFile {
  /** Reads up to `length` bytes into `buffer` at `offset`; resolves to the bytes read, 0 at the end of the file. */
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<number>
  /** One `pwrite`: resolves to the bytes written, which may be fewer than `length`. */
  write(buffer: Uint8Array, offset: number, length: number, position: number): Promise<number>
  /** `fdatasync`: contents and length are durable. */
  datasync(): Promise<void>
  /** `fsync`: contents, length and metadata are durable. */
  sync(): Promise<void>
  truncate(length: number): Promise<void>
  stat(): Promise<FileStat>
  /**
   * Takes the kernel lock of this open file without waiting; closing the file, or the end of the process, releases it.
   * `shared` works on a file opened to read. Resolves to false when somebody else's lock is in the way. Rejects where
   * no kernel lock can be had.
   */
  tryLock(kind: LockKind): Promise<boolean>
  close(): Promise<void>
}

/**
 * The file calls of the JSONL store, and the only way it reaches a disk. Errors are those of `node:fs` (`code` such as
 * `ENOENT`). Paths are absolute. Making a name durable is a call of its own, `syncDirectory`.
 */
export interface FileSystem {
  open(path: string, mode: OpenMode): Promise<OpenFile>
  /** Makes one directory with mode 0700; its parent must exist. */
  mkdir(path: string): Promise<void>
  readdir(path: string): Promise<readonly DirectoryEntry[]>
  /** Does not follow a symbolic link. */
  lstat(path: string): Promise<FileStat>
  /** Gives the file a second name; rejects with `EEXIST` when that name is taken. */
  link(existing: string, path: string): Promise<void>
  /** Moves over whatever `to` names. */
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  rmdir(path: string): Promise<void>
  /** Makes the entries of a directory durable. */
  syncDirectory(path: string): Promise<void>
}

const noFollow = constants.O_NOFOLLOW ?? 0
/** A pipe in the place of a log must not make a reader wait for its other end. */
const noWait = constants.O_NONBLOCK ?? 0
const flags: Readonly<Record<OpenMode, number>> = {
  read: constants.O_RDONLY | noFollow | noWait,
  update: constants.O_RDWR | noFollow,
  create: constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | noFollow,
  ensure: constants.O_RDWR | constants.O_CREAT | noFollow,
}

interface Typed {
  isFile(): boolean
  isDirectory(): boolean
  isSymbolicLink(): boolean
}

function kindOf(entry: Typed): FileKind {
  return entry.isFile() ? 'file' : entry.isDirectory() ? 'directory' : entry.isSymbolicLink() ? 'link' : 'other'
}

function statOf(stat: Typed & { dev: bigint; ino: bigint; size: bigint; mtimeMs: bigint }): FileStat {
  return { kind: kindOf(stat), dev: stat.dev, ino: stat.ino, size: Number(stat.size), mtimeMs: Number(stat.mtimeMs) }
}

class NodeFile implements OpenFile {
  readonly #handle: fs.FileHandle

  constructor(handle: fs.FileHandle) {
    this.#handle = handle
  }

  async read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<number> {
    return (await this.#handle.read(buffer, offset, length, position)).bytesRead
  }

  async write(buffer: Uint8Array, offset: number, length: number, position: number): Promise<number> {
    return (await this.#handle.write(buffer, offset, length, position)).bytesWritten
  }

  datasync(): Promise<void> {
    return this.#handle.datasync()
  }

  sync(): Promise<void> {
    return this.#handle.sync()
  }

  truncate(length: number): Promise<void> {
    return this.#handle.truncate(length)
  }

  async stat(): Promise<FileStat> {
    return statOf(await this.#handle.stat({ bigint: true }))
  }

  async tryLock(kind: LockKind): Promise<boolean> {
    // Loaded here so that reading sessions works where the addon does not.
    const { tryLock } = await import('fs-native-extensions')
    return tryLock(this.#handle.fd, 0, 0, { shared: kind === 'shared' })
  }

  close(): Promise<void> {
    return this.#handle.close()
  }
}

async function syncDirectory(path: string): Promise<void> {
  // Windows cannot open a directory for this and journals names by itself.
  if (process.platform === 'win32') return
  const handle = await fs.open(path, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0))
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** The disk, through `node:fs/promises`. */
export const nodeFileSystem: FileSystem = {
  open: async (path, mode) => new NodeFile(await fs.open(path, flags[mode], 0o600)),
  mkdir: (path) => fs.mkdir(path, { mode: 0o700 }).then(() => undefined),
  readdir: async (path) =>
    (await fs.readdir(path, { withFileTypes: true })).map((entry) => ({ name: entry.name, kind: kindOf(entry) })),
  lstat: async (path) => statOf(await fs.lstat(path, { bigint: true })),
  link: (existing, path) => fs.link(existing, path),
  rename: (from, to) => fs.rename(from, to),
  unlink: (path) => fs.unlink(path),
  rmdir: (path) => fs.rmdir(path),
  syncDirectory,
}
