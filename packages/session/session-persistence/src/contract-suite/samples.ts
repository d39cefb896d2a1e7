import {
  messageId,
  sessionId,
  sessionSeq,
  toolCallId,
  type SessionEvent,
  type SessionHeader,
} from '@palimpsest/session'
import type { SessionStat } from '../contract.ts'

export function headerOf(id: string, more: Partial<SessionHeader> = {}): SessionHeader {
  return {
    format: 'palimpsest',
    version: 3,
    id: sessionId(id),
    createdAt: 1_000,
    isSeeded: false,
    delegationDepth: 0,
    ...more,
  }
}

export function said(seq: number, text = `message ${seq}`): SessionEvent {
  return {
    type: 'user/message',
    seq: sessionSeq(seq),
    time: 1_000 + seq,
    surfaceOp: 'append',
    data: { id: messageId(`u${seq}`), role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } },
  }
}

export function saidAll(from: number, count: number): SessionEvent[] {
  return Array.from({ length: count }, (_, index) => said(from + index))
}

/** A turn that was cut off: one call whose tool began, one whose tool did not. */
export function interrupted(): SessionEvent[] {
  const at = (seq: number): { seq: ReturnType<typeof sessionSeq>; time: number } => ({
    seq: sessionSeq(seq),
    time: 2_000 + seq,
  })
  const call = (
    id: string,
  ): { type: 'tool-call'; id: ReturnType<typeof toolCallId>; name: string; arguments: string } => ({
    type: 'tool-call',
    id: toolCallId(id),
    name: 'run',
    arguments: '{}',
  })
  return [
    { type: 'turn/start', ...at(0), data: { turn: 1 } },
    said(1),
    { type: 'step/start', ...at(2), data: { turn: 1, step: 1 } },
    {
      type: 'assistant/message',
      ...at(3),
      surfaceOp: 'append',
      data: {
        turn: 1,
        step: 1,
        stream: [],
        message: {
          id: messageId('a3'),
          role: 'assistant',
          content: [call('c1'), call('c2')],
          source: { kind: 'model', provider: 'p', model: 'm' },
        },
      },
    },
    { type: 'tool/call', ...at(4), data: { turn: 1, step: 1, callId: toolCallId('c1'), name: 'run', arguments: '{}' } },
  ]
}

export async function all(stats: AsyncIterable<SessionStat>): Promise<SessionStat[]> {
  const found: SessionStat[] = []
  for await (const stat of stats) found.push(stat)
  return found
}
