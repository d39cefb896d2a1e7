import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { samplePath } from '@palimpsest/testkit'
import { importClaudeCode } from '../src/index.ts'
import type { AttachmentSink, ImportedSession } from '../src/index.ts'

export function sampleBytes(name: string): Uint8Array {
  return readFileSync(samplePath(name))
}

/** Keeps attachments in memory. */
export class MemorySink implements AttachmentSink {
  readonly stored = new Map<string, Uint8Array>()

  async put(bytes: Uint8Array, meta: Parameters<AttachmentSink['put']>[1]): ReturnType<AttachmentSink['put']> {
    const attachmentId = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
    this.stored.set(attachmentId, bytes)
    return { attachmentId, bytes: bytes.length, ...meta }
  }
}

/** Imports bytes, handed over in pieces of a given size. */
export async function importBytes(
  bytes: Uint8Array,
  name = 'session.jsonl',
  size = 65_536,
  sink = new MemorySink(),
): Promise<ImportedSession[]> {
  const source = {
    name,
    async *bytes() {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
    },
  }
  const imported: ImportedSession[] = []
  for await (const session of importClaudeCode(source, { attachments: () => sink })) imported.push(session)
  return imported
}
