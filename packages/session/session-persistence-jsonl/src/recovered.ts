import { createHash } from 'node:crypto'
import type { FileSystem, OpenFile } from './file-system.ts'
import { ensureDirectory, readRange, tidy, withFile, writeWhole } from './io.ts'
import { RECOVERED_NAME, within } from './paths.ts'
import type { Range } from './scan.ts'

const CHUNK = 1024 * 1024

async function eachChunk(
  file: OpenFile,
  range: Range,
  visit: (bytes: Buffer, offset: number) => Promise<void> | void,
): Promise<void> {
  for (let start = range.start; start < range.end; start += CHUNK) {
    await visit(await readRange(file, start, Math.min(start + CHUNK, range.end)), start - range.start)
  }
}

/**
 * Copies a range of the log to `recovered/` and makes the copy durable. Its name is the range's offset and digest, so
 * that doing it twice is doing it once. Returns the path relative to the session's directory. SPEC 5.2.
 */
export async function moveAside(
  fs: FileSystem,
  root: string,
  directory: string,
  log: OpenFile,
  range: Range,
): Promise<string> {
  const hash = createHash('sha256')
  await eachChunk(log, range, (bytes) => void hash.update(bytes))
  const name = `${RECOVERED_NAME}/${range.start}-${hash.digest('hex').slice(0, 32)}.bin`
  const folder = within(root, directory, RECOVERED_NAME)
  const path = within(root, directory, name)
  const aside = `${path}.tmp`
  await ensureDirectory(fs, folder, RECOVERED_NAME)
  await tidy(fs, aside)
  await withFile(await fs.open(aside, 'create'), async (copy) => {
    await eachChunk(log, range, (bytes, offset) => writeWhole(copy, bytes, offset))
    await copy.sync()
  })
  await fs.rename(aside, path)
  await fs.syncDirectory(folder)
  await fs.syncDirectory(within(root, directory))
  return name
}
