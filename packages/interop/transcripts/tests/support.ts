import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { samplePath } from '@palimpsest/testkit'
import { importClaudeCode } from '../src/index.ts'
import type { AttachmentSink, ImportedSession, ImportOptions, TranscriptSource } from '../src/index.ts'

export type Importer = (source: TranscriptSource, options: ImportOptions) => AsyncIterable<ImportedSession>

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

export interface ImportBytesOptions {
  readonly name?: string
  readonly importer?: Importer
  /** Bytes are handed over in pieces of this size. */
  readonly pieceSize?: number
  readonly sink?: AttachmentSink
}

/** Imports bytes as if they stood in a file; those of Claude Code unless told otherwise. */
export async function importBytes(
  bytes: Uint8Array,
  {
    name = 'session.jsonl',
    importer = importClaudeCode,
    pieceSize = 65_536,
    sink = new MemorySink(),
  }: ImportBytesOptions = {},
): Promise<ImportedSession[]> {
  const source = {
    name,
    async *bytes() {
      for (let at = 0; at < bytes.length; at += pieceSize) yield bytes.subarray(at, at + pieceSize)
    },
  }
  const imported: ImportedSession[] = []
  for await (const session of importer(source, { attachments: () => sink })) imported.push(session)
  return imported
}
