import { createHash } from 'node:crypto'
import { lstatSync, readFileSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import {
  messageId,
  sessionId,
  sessionSeq,
  toolCallId,
  type SessionEvent,
  type SessionHeader,
} from '@palimpsest/session'
import type { OpenedSession, RecoveryReport, SessionPersistence } from '@palimpsest/session-persistence'
import { layerFileSystem } from '@palimpsest/testkit'
import { jsonlPersistence, nodeFileSystem, type FileSystem } from '../../src/index.ts'

/** How long a lease holds in these tests, in milliseconds: long enough for a busy machine to renew it in time. */
const leaseMs = 1500

const syncs = new Set(['datasync', 'sync', 'syncDirectory'])

/** The disk without its syncs, for the many checks after a crash that was played: nothing crashes there, and they are quick. */
export const unsynced: FileSystem = layerFileSystem(nodeFileSystem, (call, proceed) =>
  syncs.has(call.operation) ? Promise.resolve() : proceed(),
)

/** Opens the store the way every fault test does. */
export function openStore(
  root: string,
  fileSystem: FileSystem = nodeFileSystem,
  lock: 'kernel' | 'lease' = 'kernel',
): SessionPersistence {
  return jsonlPersistence({ root, fileSystem, ...(lock === 'lease' ? { lock, leaseMs } : {}) })
}

export const id = sessionId('fault')

export function headerOf(name: string = id): SessionHeader {
  return {
    format: 'palimpsest',
    version: 3,
    id: sessionId(name),
    createdAt: 1_700_000_000_000,
    isSeeded: false,
    delegationDepth: 0,
  }
}

/** A user's message; the shortest event that a model sees. */
export function said(seq: number, text = `m${seq}`): SessionEvent {
  return {
    type: 'user/message',
    seq: sessionSeq(seq),
    time: 1_700_000_000_000 + seq,
    surfaceOp: 'append',
    data: { id: messageId(`u${seq}`), role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } },
  }
}

export function saidAll(from: number, count: number): SessionEvent[] {
  return Array.from({ length: count }, (_, index) => said(from + index))
}

/** The shortest event there is: log-only, of a type that nobody knows, with characters of two and four bytes to cut through. */
export function brief(seq: number): SessionEvent {
  return { type: 'x/é', seq: sessionSeq(seq), time: 1, ignorable: true, data: { a: '😀' } } as unknown as SessionEvent
}

/** An assistant's message that opens one tool call: a log that ends here takes closers. */
export function called(seq: number): SessionEvent {
  return {
    type: 'assistant/message',
    seq: sessionSeq(seq),
    time: 1_700_000_000_000 + seq,
    surfaceOp: 'append',
    data: {
      turn: 1,
      step: 1,
      message: {
        id: messageId(`a${seq}`),
        role: 'assistant',
        content: [{ type: 'tool-call', id: toolCallId('c1'), name: 'run', arguments: '{}' }],
        source: { kind: 'model', provider: 'p', model: 'm' },
      },
      stream: [],
    },
  }
}

/** Files below a directory: relative path → content, of a symbolic link its target. */
export function filesBelow(directory: string, prefix = ''): Map<string, Buffer> {
  const files = new Map<string, Buffer>()
  for (const name of readdirSync(join(directory, prefix)).sort()) {
    const path = join(prefix, name)
    const stat = lstatSync(join(directory, path))
    if (stat.isDirectory()) for (const [below, content] of filesBelow(directory, path)) files.set(below, content)
    else
      files.set(
        path,
        stat.isSymbolicLink() ? Buffer.from(readlinkSync(join(directory, path))) : readFileSync(join(directory, path)),
      )
  }
  return files
}

/** Path of the only log below a root. */
export function logOf(root: string): string {
  const logs = [...filesBelow(root).keys()].filter((path) => path.endsWith('session.v3.jsonl'))
  const [log] = logs
  if (log === undefined || logs.length > 1) throw new Error(`expected one log below the root, found ${logs.length}`)
  return join(root, log)
}

/** The bytes that recovery moved aside, one buffer per file; a temporary name does not count, since it may go. */
export function recoveredBytes(root: string): Buffer[] {
  const files = [...filesBelow(root)].filter(([path]) => path.includes('recovered') && !path.endsWith('.tmp'))
  return files.map(([, content]) => content)
}

/** Whether opening found nothing but good records. */
export function isClean({ ranges, closers }: RecoveryReport): boolean {
  return ranges.length === 0 && closers.length === 0
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Every file below a root with its digest, without what a claim leaves behind. */
export function fingerprint(root: string): Record<string, string> {
  return Object.fromEntries([...filesBelow(root)].map(([path, content]) => [path, sha256(content)]))
}

/** What a read open sees; the handle is closed again. */
export async function readAll(root: string, name: string = id): Promise<OpenedSession> {
  const store = openStore(root)
  const handle = await store.open(sessionId(name), 'read')
  const { stored } = handle
  await handle.close()
  await store.close()
  return stored
}

/** Makes a session with these batches, each acknowledged, and closes it. */
export async function writeSession(root: string, batches: readonly (readonly SessionEvent[])[]): Promise<void> {
  const store = openStore(root)
  const handle = await store.create(headerOf())
  for (const batch of batches) await handle.append(batch)
  await handle.close()
  await store.close()
}
