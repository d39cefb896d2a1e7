import type { Dirent } from 'node:fs'
import { open, readdir } from 'node:fs/promises'

/** Bytes of a file that are read for a list. */
const headBytes = 65_536

/** The entries of a directory; none where it cannot be read. */
export async function directoryEntries(directory: string): Promise<Dirent[]> {
  return readdir(directory, { withFileTypes: true }).catch(() => [])
}

/** The first bytes of a file; none where it cannot be read. */
export async function* headOf(path: string): AsyncGenerator<Uint8Array> {
  const file = await open(path, 'r').catch(() => undefined)
  if (file === undefined) return
  try {
    const bytes = new Uint8Array(headBytes)
    const { bytesRead } = await file.read(bytes, 0, headBytes, 0)
    yield bytes.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

/** The beginning of a prompt, as a list shows it: at most 200 characters. */
export function promptStart(text: string): string {
  return Array.from(text.slice(0, 400)).slice(0, 200).join('')
}
