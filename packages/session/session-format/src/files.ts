import { constants, createReadStream } from 'node:fs'
import * as fs from 'node:fs/promises'

/** A file that is being written, from its start to its end. */
export interface NewFile {
  write(bytes: Uint8Array): Promise<void>
  /** Contents and metadata are durable afterwards. */
  sync(): Promise<void>
  close(): Promise<void>
}

/** The file calls of a migration, and the only way it reaches a disk. Errors are those of `node:fs`. */
export interface MigrationFiles {
  read(path: string): AsyncIterable<Uint8Array>
  /** Rejects with `EEXIST` where the path names something. */
  create(path: string): Promise<NewFile>
  /** A second name for a file; rejects with `EEXIST` when that name is taken. */
  link(existing: string, path: string): Promise<void>
  unlink(path: string): Promise<void>
  /** Whether the path names anything, a dangling link included. */
  isTaken(path: string): Promise<boolean>
  /** Makes the entries of a directory durable. */
  syncDirectory(path: string): Promise<void>
}

/** The disk, through `node:fs`. */
export const nodeFiles: MigrationFiles = {
  read: (path) => createReadStream(path, { highWaterMark: 1 << 20 }),
  create: async (path) => {
    const handle = await fs.open(path, 'wx', 0o600)
    return {
      write: (bytes) => handle.writeFile(bytes),
      sync: () => handle.sync(),
      close: () => handle.close(),
    }
  },
  link: (existing, path) => fs.link(existing, path),
  unlink: (path) => fs.unlink(path),
  isTaken: (path) =>
    fs.lstat(path).then(
      () => true,
      (error: unknown) => {
        if (error instanceof Error && (error as NodeJS.ErrnoException).code === 'ENOENT') return false
        throw error
      },
    ),
  syncDirectory,
}

async function syncDirectory(path: string): Promise<void> {
  // Windows cannot open a directory for this and journals names by itself.
  if (process.platform === 'win32') return
  const handle = await fs.open(path, constants.O_RDONLY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
