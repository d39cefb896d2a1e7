import type { FilePort } from '@palimpsest/workspace-context'

export const ROOT = '/repo'

/** A workspace in memory; keys are relative to the root. A `null` is a file that cannot be read. */
export class MemoryFiles implements FilePort {
  readonly files = new Map<string, string | Uint8Array | null>()
  /** Keys that were asked for, in order. */
  readonly reads: string[] = []

  constructor(files: Readonly<Record<string, string | Uint8Array | null>> = {}) {
    for (const [path, content] of Object.entries(files)) this.files.set(path, content)
  }

  read: FilePort['read'] = (path, { maxBytes }) => {
    const key = path.slice(ROOT.length + 1)
    this.reads.push(key)
    const content = this.files.get(key)
    if (content === undefined) return Promise.resolve({ kind: 'absent' })
    if (content === null) return Promise.resolve({ kind: 'refused', reason: 'unreadable' })
    const bytes = typeof content === 'string' ? Buffer.from(content) : content
    return Promise.resolve(
      bytes.length > maxBytes ? { kind: 'refused', reason: 'too-large' } : { kind: 'bytes', bytes },
    )
  }

  exists: FilePort['exists'] = (path) => Promise.resolve(path === `${ROOT}/.git`)
}
