import { PersistenceError } from '@palimpsest/session-persistence'
import type { FileStat, FileSystem, OpenFile } from './file-system.ts'

/** The code of a file system's error, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
  return typeof code === 'string' ? code : undefined
}

/** Errors of ours pass; those of the file system hold absolute paths and become a cause. */
export function ioError(code: 'io/read' | 'io/write', what: string, cause: unknown): PersistenceError {
  if (cause instanceof PersistenceError) return cause
  return new PersistenceError(code, `${what}: ${codeOf(cause) ?? 'failed'}`, { cause })
}

/** Runs file calls and wraps what they throw. */
export async function attempt<T>(code: 'io/read' | 'io/write', what: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw ioError(code, what, error)
  }
}

/** What a path names; undefined where it names nothing. */
export async function statIfAny(fs: FileSystem, path: string): Promise<FileStat | undefined> {
  try {
    return await fs.lstat(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined
    throw error
  }
}

/** Whether a path names this open file. */
export async function isNamed(fs: FileSystem, file: OpenFile, path: string): Promise<boolean> {
  const [open, named] = [await file.stat(), await statIfAny(fs, path)]
  return named !== undefined && named.dev === open.dev && named.ino === open.ino
}

/** Makes a directory unless it is there. Throws `path/unsafe` when something else is. */
export async function ensureDirectory(fs: FileSystem, path: string, name: string): Promise<void> {
  try {
    await fs.mkdir(path)
    return
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
  requireDirectory(await fs.lstat(path), name)
}

/** Throws `path/unsafe` for a symbolic link or a file where a directory belongs. SPEC 5.2. */
export function requireDirectory(stat: FileStat, name: string): void {
  if (stat.kind !== 'directory')
    throw new PersistenceError(
      'path/unsafe',
      `${name} is a ${stat.kind}, not a directory: links below the root are not followed`,
    )
}

/** Runs with an open file and closes it whatever happens. */
export async function withFile<T>(file: OpenFile, run: (file: OpenFile) => Promise<T>): Promise<T> {
  try {
    return await run(file)
  } finally {
    await file.close()
  }
}

/** The bytes of a range; fewer where the file ends before. */
export async function readRange(file: OpenFile, start: number, end: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(Math.max(0, end - start))
  let filled = 0
  while (filled < bytes.length) {
    const length = await file.read(bytes, filled, bytes.length - filled, start + filled)
    if (length === 0) break
    filled += length
  }
  return bytes.subarray(0, filled)
}

/** Writes all of `bytes` in one call. A short write throws, since the rest would have to be joined to it. */
export async function writeWhole(file: OpenFile, bytes: Uint8Array, position: number): Promise<void> {
  const written = await file.write(bytes, 0, bytes.length, position)
  if (written !== bytes.length)
    throw new PersistenceError('io/write', `only ${written} of ${bytes.length} bytes were written`)
}

let made = 0

/** A name beside `path` that nothing else has. */
export function temporaryName(path: string): string {
  made += 1
  return `${path}.${process.pid}-${Date.now().toString(36)}-${made}.tmp`
}

/** Removes a name; what is gone already is no error, and neither is any other: it is only tidying. */
export async function tidy(fs: FileSystem, path: string): Promise<void> {
  await fs.unlink(path).catch(() => undefined)
}
