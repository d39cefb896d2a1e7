import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { importClaudeCode } from '../src/index.ts'
import type { AttachmentSink, ImportedSession } from '../src/index.ts'

const samples = fileURLToPath(new URL('../../../../../shared/samples/claude-code/', import.meta.url))

/** Real session files; they may be absent. */
export const sampleNames: readonly string[] = [
  'ac-full-session-askuserquestion.jsonl',
  'ac-full-session-five.jsonl',
  'ccl-0d3a8e6f.jsonl',
  'ccl-29ccd257.agent-a2271d1.jsonl',
  'ccl-7acd37a8.jsonl',
  'ccl-a7da6a22.jsonl',
  'ccl-dag_fork.jsonl',
  'ccl-edge_cases.jsonl',
  'ccl-ef958aa1.jsonl',
  'ccl-sidechain.jsonl',
  'ccv-5c0375b4.jsonl',
  'fh-main.jsonl',
]

export function isSampleAbsent(name: string): boolean {
  return !existsSync(`${samples}${name}`)
}

export function sampleBytes(name: string): Uint8Array {
  return readFileSync(`${samples}${name}`)
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
