import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  messageId,
  sessionId,
  sessionSeq,
  stringifyEvent,
  stringifyHeader,
  type SessionEvent,
  type SessionHeader,
} from '@palimpsest/session'
import { afterAll } from 'vitest'

export const id = sessionId('a')

export function headerOf(more: Partial<SessionHeader> = {}): SessionHeader {
  return { format: 'palimpsest', version: 3, id, createdAt: 1_000, isSeeded: false, delegationDepth: 0, ...more }
}

/** A user's message. */
export function said(seq: number, text = `m${seq}`): SessionEvent {
  return {
    type: 'user/message',
    seq: sessionSeq(seq),
    time: 1_000 + seq,
    surfaceOp: 'append',
    data: { id: messageId(`u${seq}`), role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } },
  }
}

export function saidAll(from: number, end: number): SessionEvent[] {
  return Array.from({ length: end - from }, (_, index) => said(from + index))
}

/** A record without its newline. */
export function record(seq: number, text?: string): string {
  return stringifyEvent(said(seq, text))
}

export const headerLine: string = stringifyHeader(headerOf())

const made: string[] = []
afterAll(() => {
  for (const path of made) rmSync(path, { recursive: true, force: true })
})

/** A directory of its own, removed after the file's last test. */
export function scratch(): string {
  const path = mkdtempSync(join(tmpdir(), 'palimpsest-jsonl-'))
  made.push(path)
  return path
}

/** Where the log of session `a` without a working directory lies. */
export function logPath(root: string): string {
  return join(root, '_', 'a', 'session.v3.jsonl')
}

/** Puts a log of session `a` on the disk, byte for byte. */
export function plant(root: string, content: string | Buffer): string {
  mkdirSync(join(root, '_', 'a'), { recursive: true })
  writeFileSync(logPath(root), content)
  return logPath(root)
}

export function bytesOf(root: string): Buffer {
  return readFileSync(logPath(root))
}
