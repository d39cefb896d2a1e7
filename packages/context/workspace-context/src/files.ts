import { constants } from 'node:fs'
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises'
import { sep } from 'node:path'
import type { InstructionFile } from './content.ts'

/** What reading one file gave. */
export type FileRead =
  | { readonly kind: 'absent' }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'refused'; readonly reason: (InstructionFile & { readonly kind: 'refused' })['reason'] }

/** How the workspace is read. Paths are absolute. What it throws counts as `unreadable`. */
export interface FilePort {
  /** Reads a file whole, if it has at most `maxBytes`. A link is followed only to a place below `root`. */
  read(path: string, limits: { readonly root: string; readonly maxBytes: number }): Promise<FileRead>
  /** Whether anything is at `path`. */
  exists(path: string): Promise<boolean>
}

/** The file system. */
export const diskFiles: FilePort = {
  async read(path, { root, maxBytes }) {
    // Where the entry itself cannot be looked at, nobody knows that it is there.
    if (!(await diskFiles.exists(path))) return { kind: 'absent' }
    try {
      const [real, realRoot] = await Promise.all([realpath(path), realpath(root)])
      if (!real.startsWith(realRoot.endsWith(sep) ? realRoot : realRoot + sep)) {
        return { kind: 'refused', reason: 'outside-root' }
      }
      // Without blocking, since a pipe of this name would wait for a writer.
      const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
      try {
        return await readOpened(handle, maxBytes)
      } finally {
        await handle.close()
      }
    } catch (error) {
      return codeOf(error) === 'ENOENT' ? { kind: 'absent' } : { kind: 'refused', reason: 'unreadable' }
    }
  },
  async exists(path) {
    try {
      await lstat(path)
      return true
    } catch {
      return false
    }
  },
}

async function readOpened(handle: FileHandle, maxBytes: number): Promise<FileRead> {
  const stats = await handle.stat()
  if (!stats.isFile()) return { kind: 'absent' }
  if (stats.size > maxBytes) return { kind: 'refused', reason: 'too-large' }
  const bytes = await handle.readFile()
  return bytes.length > maxBytes ? { kind: 'refused', reason: 'too-large' } : { kind: 'bytes', bytes }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code
}
