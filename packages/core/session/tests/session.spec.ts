import { describe, expect, it, vi } from 'vitest'
import {
  Session,
  SessionStore,
  deriveMessagesAt,
  explain,
  foldSurface,
  interruptedTurnClosers,
  messageId,
  sessionSeq,
  stringifyEvent,
  surfaceAt,
  toolCallId,
  traceFindings,
} from '@palimpsest/session'
import type { SessionEvent, SessionEventMap } from '@palimpsest/session'

const user = (id: string, text = id): SessionEventMap['user/message'] => ({
  id: messageId(id),
  role: 'user',
  content: [{ type: 'text', text }],
  source: { kind: 'user' },
})
const assistant = (id: string, ...calls: string[]): SessionEventMap['assistant/message'] => ({
  turn: 1,
  step: 1,
  message: {
    id: messageId(id),
    role: 'assistant',
    content: [
      { type: 'text', text: id },
      ...calls.map((call) => ({ type: 'tool-call' as const, id: toolCallId(call), name: 'bash', arguments: '{}' })),
    ],
    source: { kind: 'model', provider: 'openai', model: 'gpt' },
  },
  stream: [],
})
const result = (id: string, call: string, text = id): SessionEventMap['tool/result'] => ({
  turn: 1,
  step: 1,
  message: {
    id: messageId(id),
    role: 'user',
    content: [{ type: 'tool-result', toolCallId: toolCallId(call), content: [{ type: 'text', text }] }],
    source: { kind: 'tool', callId: toolCallId(call) },
  },
})
const append = { surfaceOp: 'append' } as const
const replace = (start: number, end: number, ...sources: number[]) => ({
  surfaceOp: { op: 'replace', startSeq: sessionSeq(start), endSeq: sessionSeq(end) } as const,
  sourceEventSeqs: sources.map(sessionSeq),
})

/** A turn with a parallel batch, its range replaced by a summary, and a second summary over the first. */
function replaced(): Session {
  const session = Session.create({ now: () => 1 })
  session.append('user/message', user('u1'), append)
  session.append('assistant/message', assistant('a1', 'x', 'y'), append)
  session.append('tool/result', result('r1', 'y'), append)
  session.append('tool/result', result('r2', 'x'), append)
  session.append('user/message', user('u2'), append)
  session.append('user/message', user('s1'), replace(1, 3, 1, 2, 3))
  session.append('user/message', user('s2'), replace(0, 5, 0, 5))
  return session
}

describe('a session', () => {
  it('puts a replacement where its range stood, by position and not by number', () => {
    const session = replaced()
    expect(session.surface.nodes).toEqual([6, 4])
    expect(session.surface.replaceGeneration).toBe(2)
    expect(session.deriveMessages().map(({ id }) => id)).toEqual(['s2', 'u2'])
  })

  it('derives the same array until the surface changes, and leaves an array it gave away alone', () => {
    const session = replaced()
    const before = session.deriveMessages()
    session.append('turn/start', { turn: 1 })
    expect(session.deriveMessages()).toBe(before)
    session.append('user/message', user('u3'), append)
    expect(before).toHaveLength(2)
    expect(session.deriveMessages()).toEqual([...before, user('u3')])
  })

  it('shares the frozen messages of the log', () => {
    const session = replaced()
    const [message] = session.deriveMessages()
    expect(message).toBe(session.eventAt(6)?.data)
    expect(Object.isFrozen(message?.content[0])).toBe(true)
    expect(Object.isFrozen(session.deriveMessages())).toBe(true)
  })

  it('writes events in canonical key order, the payload last', () => {
    expect(Object.keys(JSON.parse(stringifyEvent(replaced().eventAt(5) as SessionEvent)) as object)).toEqual([
      'type',
      'seq',
      'time',
      'surfaceOp',
      'sourceEventSeqs',
      'data',
    ])
  })

  it('answers what the model saw at any seq', () => {
    const { events } = replaced()
    expect(surfaceAt(events, -1)).toEqual([])
    expect(surfaceAt(events, 5)).toEqual([0, 5, 4])
    expect(deriveMessagesAt(events, 4).map(({ id }) => id)).toEqual(['u1', 'a1', 'r1', 'r2', 'u2'])
    expect(() => surfaceAt(events, 7)).toThrow(RangeError)
  })

  it('folds detached as it folds live', () => {
    const session = replaced()
    expect(foldSurface(session.events)).toEqual({
      nodes: [6, 4],
      replacements: [
        { seq: 5, startSeq: 1, endSeq: 3, shadowedSeqs: [1, 2, 3] },
        { seq: 6, startSeq: 0, endSeq: 5, shadowedSeqs: [0, 5] },
      ],
    })
  })

  it('explains what an entry stands for through every depth of replacement', () => {
    const { events } = replaced()
    expect(explain(events, 6)).toEqual({
      seq: 6,
      onSurface: true,
      shadows: [0, 5],
      cites: [0, 5],
      origins: [0, 1, 2, 3],
    })
    expect(explain(events, 2)).toEqual({
      seq: 2,
      onSurface: false,
      shadowedBy: 5,
      shadows: [],
      cites: [],
      origins: [2],
    })
  })
})

describe('listeners', () => {
  it('veto before the commit with their own error, and nothing happened', () => {
    const session = replaced()
    const off = session.on('internal/dispatch', () => {
      throw new Error('not now')
    })
    expect(() => session.append('user/message', user('u3'), append)).toThrow('not now')
    expect(session.length).toBe(7)
    off()
    session.append('user/message', user('u4'), append)
    expect(session.surface.nodes).toEqual([6, 4, 7])
  })

  it('hear events in seq order, also those appended from a listener', () => {
    const session = Session.create()
    const heard: string[] = []
    session.on('session/event', (event) => {
      if (event.seq < 2) session.append('turn/start', { turn: event.seq + 2 })
      heard.push(`first ${event.seq}`)
    })
    session.on('session/event', (event) => heard.push(`second ${event.seq}`))
    session.append('turn/start', { turn: 1 })
    expect(heard).toEqual(['first 0', 'second 0', 'first 1', 'second 1', 'first 2', 'second 2'])
  })

  it('do not reach the appender when they throw', () => {
    const onListenerError = vi.fn()
    const session = Session.create({ onListenerError })
    const error = new Error('observer')
    session.on('session/event', () => {
      throw error
    })
    const event = session.append('turn/start', { turn: 1 })
    expect(onListenerError).toHaveBeenCalledWith(error, event)
  })
})

describe('closers', () => {
  it('close calls, step and turn, and are idempotent', () => {
    const session = Session.create({ now: () => 5 })
    session.append('turn/start', { turn: 1 })
    session.append('step/start', { turn: 1, step: 1 })
    session.append('assistant/message', assistant('a1', 'x', 'y'), append)
    session.append('tool/call', { turn: 1, step: 1, callId: toolCallId('y'), name: 'bash', arguments: '{}' })
    const closers = interruptedTurnClosers(session.events)
    expect(
      closers.map((event) => [event.seq, event.type, event.type === 'tool/result' ? event.data.error?.code : '']),
    ).toEqual([
      [4, 'tool/result', 'TOOL_NOT_STARTED'],
      [5, 'tool/result', 'TOOL_OUTCOME_UNKNOWN'],
      [6, 'step/end', ''],
      [7, 'turn/end', ''],
    ])
    const repaired = Session.create({ seed: [...session.events, ...closers] })
    expect(interruptedTurnClosers(repaired.events)).toEqual([])
    expect(traceFindings(repaired.events)).toEqual([])
  })
})

describe('a fork', () => {
  it('derives at its marker what the parent derived at the boundary, and closes a cut turn', () => {
    const parent = replaced()
    const store = new SessionStore()
    const child = store.fork(parent, 1)
    expect(child.header).toMatchObject({ parentSession: parent.id, isSeeded: true })
    expect(child.inheritedEventCount).toBe(2)
    expect(deriveMessagesAt(child.events, 2)).toEqual(deriveMessagesAt(parent.events, 1))
    expect(child.surface.nodes).toEqual([0, 1, 3, 4])
    expect(child.firstLiveSeq).toBe(2)
  })
})
