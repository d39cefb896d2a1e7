import {
  acceptanceCodes,
  coreEvents,
  defineEvents,
  foldSurface,
  Session,
  SessionAcceptanceError,
  SessionError,
} from '@palimpsest/session'
import type { AcceptanceCode, SessionEvent } from '@palimpsest/session'
import { assistantData, resultData, systemData, text, toolCall, userData } from '@palimpsest/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  add,
  answer,
  appended,
  at,
  call,
  prompt,
  pruned,
  record,
  refusal,
  replacing,
  reply,
  say,
  stored,
  talk,
} from './sessions.ts'

interface Case {
  readonly code: AcceptanceCode
  readonly rule: string
  /** The seq that the candidate would have had; the length of `talk()` unless told. */
  readonly seq?: number
  readonly refused: (session: Session) => unknown
  /** The nearest valid neighbour. */
  readonly accepted: (session: Session) => unknown
}

const next = at.done + 1

/** Restores `talk()` after a change to one of its events. */
const restoring = (seq: number, change: (event: Record<string, unknown>) => void) => (session: Session) => {
  const { header, events, inheritedEventCount } = stored(session)
  change(events[seq] as unknown as Record<string, unknown>)
  return Session.restore({ header, events, inheritedEventCount })
}
const header = (members: object) => (session: Session) =>
  add(session, 'request/header', {
    header: { config: { provider: 'acme', model: 'acme-1' }, ...members },
    reason: 'initial',
  })
const user =
  (...content: unknown[]) =>
  (session: Session) =>
    add(session, 'user/message', userData('u', content as never), appended)
const image = {
  type: 'image',
  attachment: { attachmentId: `sha256:${'0'.repeat(64)}`, mediaType: 'image/png', bytes: 1 },
}
const result = (change: (data: ReturnType<typeof resultData>) => unknown) => (session: Session) => {
  call(session, 'c')
  return add(
    session,
    'tool/result',
    change(resultData('r', 'c', [text('three')], { turn: 1, step: 1 }, true)),
    appended,
  )
}
const prune = (change: (data: Record<string, unknown>) => object) => (session: Session) =>
  add(
    session,
    'tool/result',
    change({ ...pruned(session, at.resultA, 'cut') }),
    replacing(at.resultA, at.resultA, at.resultA),
  )
const noticing = defineEvents(
  { 'acme/note': z.looseObject({ text: z.string() }), 'acme/old': z.looseObject({}) },
  { retired: ['acme/old'] },
)

const cases: readonly Case[] = [
  {
    code: 'envelope/keys',
    rule: 'an intent has no other members, but an undefined one counts as absent',
    refused: (session) => say(session, 'x', { ...appended, why: 1 }),
    accepted: (session) => say(session, 'x', { ...appended, sourceEventSeqs: undefined, why: undefined }),
  },
  {
    code: 'envelope/keys',
    rule: 'an intent is an object',
    refused: (session) => say(session, 'x', 'append'),
    accepted: (session) => say(session, 'x'),
  },
  {
    code: 'envelope/keys',
    rule: 'a mark of ignorable is true or absent',
    refused: (session) => add(session, 'turn/start', { turn: 2 }, { ignorable: false }),
    accepted: (session) => add(session, 'turn/start', { turn: 2 }, { ignorable: true }),
  },
  {
    code: 'envelope/keys',
    rule: 'a type is a non-empty string',
    refused: (session) => add(session, '', { turn: 2 }, { ignorable: true }),
    accepted: (session) => add(session, ' ', { turn: 2 }, { ignorable: true }),
  },
  {
    code: 'envelope/keys',
    rule: 'a stored event has no other members',
    seq: at.user,
    refused: restoring(at.user, (event) => (event['id'] = 'x')),
    accepted: restoring(at.user, (event) => (event['data'] = { ...(event['data'] as object), extra: 'x' })),
  },
  {
    code: 'envelope/keys',
    rule: 'a stored event has data',
    seq: at.turn,
    refused: restoring(at.turn, (event) => delete event['data']),
    accepted: restoring(at.turn, (event) => (event['data'] = { turn: 7 })),
  },
  {
    code: 'envelope/keys',
    rule: 'a stored mark of ignorable is true or absent',
    seq: at.turn,
    refused: restoring(at.turn, (event) => (event['ignorable'] = false)),
    accepted: restoring(at.turn, (event) => (event['ignorable'] = true)),
  },
  {
    code: 'envelope/seq',
    rule: 'seqs are contiguous',
    seq: at.user,
    refused: restoring(at.user, (event) => (event['seq'] = at.user + 1)),
    accepted: restoring(at.user, (event) => (event['seq'] = at.user)),
  },
  {
    code: 'envelope/seq',
    rule: 'a seq is never -0',
    seq: at.head,
    refused: restoring(at.head, (event) => (event['seq'] = -0)),
    accepted: restoring(at.head, (event) => (event['seq'] = 0)),
  },
  {
    code: 'envelope/time',
    rule: 'a time is an integer number of milliseconds',
    seq: at.user,
    refused: restoring(at.user, (event) => (event['time'] = 1.5)),
    accepted: restoring(at.user, (event) => (event['time'] = -1)),
  },
  {
    code: 'envelope/time',
    rule: 'a time is a safe integer',
    seq: at.user,
    refused: restoring(at.user, (event) => (event['time'] = Number.MAX_SAFE_INTEGER + 1)),
    accepted: restoring(at.user, (event) => (event['time'] = Number.MAX_SAFE_INTEGER)),
  },
  {
    code: 'envelope/time',
    rule: 'a time is never -0',
    seq: at.user,
    refused: restoring(at.user, (event) => (event['time'] = -0)),
    accepted: restoring(at.user, (event) => (event['time'] = 0)),
  },
  {
    code: 'envelope/json',
    rule: 'data is lossless JSON; json.spec.ts has every clause',
    refused: user({ type: 'text', text: 'x', extra: undefined }),
    accepted: user({ type: 'text', text: 'x', extra: null }),
  },
  {
    code: 'vocabulary/unknown',
    rule: 'the type is known, or the event is ignorable',
    refused: (session) => add(session, 'acme/other', { text: 'x' }),
    accepted: (session) => add(session, 'acme/other', { text: 'x' }, { ignorable: true }),
  },
  {
    code: 'vocabulary/unknown',
    rule: 'a retired type is unknown',
    refused: (session) => add(session, 'acme/old', {}),
    accepted: (session) => add(session, 'acme/old', {}, { ignorable: true }),
  },
  {
    code: 'payload/invalid',
    rule: 'the payload matches its schema',
    refused: (session) => add(session, 'acme/note', { text: 1 }),
    accepted: (session) => add(session, 'acme/note', { text: '1', more: 1 }),
  },
  {
    code: 'payload/invalid',
    rule: 'a message id is not empty',
    refused: (session) => add(session, 'user/message', userData('', []), appended),
    accepted: (session) => add(session, 'user/message', userData(' ', []), appended),
  },
  {
    code: 'payload/invalid',
    rule: 'the role fits the type',
    refused: (session) => add(session, 'user/message', { ...userData('u', []), role: 'assistant' }, appended),
    accepted: (session) => add(session, 'user/message', { ...userData('u', []), role: 'user' }, appended),
  },
  {
    code: 'payload/invalid',
    rule: 'a user message comes from any source but a model or a tool',
    refused: (session) => add(session, 'user/message', { ...userData('u', []), source: { kind: 'model' } }, appended),
    accepted: (session) =>
      add(session, 'user/message', { ...userData('u', []), source: { kind: 'acme/web' } }, appended),
  },
  {
    code: 'payload/invalid',
    rule: 'a turn is a positive integer',
    refused: (session) => add(session, 'turn/start', { turn: 0 }),
    accepted: (session) => add(session, 'turn/start', { turn: 1 }),
  },
  {
    code: 'payload/invalid',
    rule: 'the block and the source of a result name one call',
    seq: next + 1,
    refused: result((data) => ({ ...data, message: { ...data.message, source: { kind: 'tool', callId: 'd' } } })),
    accepted: result((data) => data),
  },
  {
    code: 'payload/content',
    rule: 'only an assistant calls tools, at any depth',
    refused: user({ type: 'acme/box', content: [{ type: 'acme/box', content: [toolCall('c')] }] }),
    accepted: user({ type: 'acme/box', content: [{ type: 'acme/box', content: [text('c')] }] }),
  },
  {
    code: 'payload/content',
    rule: 'only a result answers calls, at any depth',
    refused: (session) =>
      add(
        session,
        'assistant/message',
        assistantData('a', [
          { ...text('x'), content: [{ type: 'tool-result', toolCallId: 'c', content: [] }] } as never,
        ]),
        appended,
      ),
    accepted: (session) =>
      add(
        session,
        'assistant/message',
        assistantData('a', [{ ...text('x'), content: [text('c')] } as never]),
        appended,
      ),
  },
  {
    code: 'payload/content',
    rule: 'a call is no part of another block of the assistant',
    refused: (session) =>
      add(
        session,
        'assistant/message',
        assistantData('a', [{ ...text('x'), content: [toolCall('c')] } as never]),
        appended,
      ),
    accepted: (session) => add(session, 'assistant/message', assistantData('a', [text('x'), toolCall('c')]), appended),
  },
  {
    code: 'payload/content',
    rule: 'reasoning is the assistant’s own',
    refused: user({ type: 'reasoning', text: 'hm' }),
    accepted: user(text('hm')),
  },
  {
    code: 'payload/content',
    rule: 'a block type that nobody declared stands only in user messages',
    seq: next + 1,
    refused: result((data) => {
      const [block] = data.message.content
      return { ...data, message: { ...data.message, content: [{ ...block, content: [{ type: 'acme/box' }] }] } }
    }),
    accepted: user({ type: 'acme/box' }),
  },
  {
    code: 'payload/content',
    rule: 'a system message is text',
    refused: (session) => add(session, 'system/message', systemData('s', [image as never]), appended),
    accepted: (session) => add(session, 'system/message', systemData('s', [text('rule')]), appended),
  },
  {
    code: 'payload/tool-error',
    rule: 'a result with an error says isError: true',
    seq: next + 1,
    refused: result((data) => {
      const content = [{ ...data.message.content[0], isError: false }]
      return { ...data, message: { ...data.message, content }, error: { name: 'Error', code: 'E' } }
    }),
    accepted: result((data) => ({ ...data, error: { name: 'Error', code: 'E' } })),
  },
  {
    code: 'payload/header',
    rule: 'a header has no system prompt',
    refused: header({ system: 'x' }),
    accepted: header({}),
  },
  {
    code: 'payload/header',
    rule: 'a header has no empty tools',
    refused: header({ tools: [] }),
    accepted: header({ tools: [{ name: 'read' }] }),
  },
  {
    code: 'payload/header',
    rule: 'a header has no empty defaults',
    refused: header({ adapterDefaults: {} }),
    accepted: header({ adapterDefaults: { seed: 1 } }),
  },
  {
    code: 'surface/missing-op',
    rule: 'a surface type without surfaceOp is never an implicit append',
    refused: (session) => say(session, 'x', {}),
    accepted: (session) => say(session, 'x', appended),
  },
  {
    code: 'surface/missing-op',
    rule: 'an intent is not optional for a surface type',
    refused: (session) => add(session, 'user/message', userData('u', [])),
    accepted: (session) => add(session, 'user/message', userData('u', []), appended),
  },
  {
    code: 'surface/forbidden',
    rule: 'a log-only type carries no surfaceOp',
    refused: (session) => add(session, 'turn/start', { turn: 2 }, appended),
    accepted: (session) => add(session, 'turn/start', { turn: 2 }, {}),
  },
  {
    code: 'surface/forbidden',
    rule: 'a log-only type carries no sources',
    refused: (session) => add(session, 'turn/start', { turn: 2 }, { sourceEventSeqs: [0] }),
    accepted: (session) => say(session, 'x', { ...appended, sourceEventSeqs: [0] }),
  },
  {
    code: 'surface/invalid-op',
    rule: 'the replace object has exactly three keys',
    refused: (session) =>
      say(session, 'x', {
        surfaceOp: { op: 'replace', startSeq: at.done, endSeq: at.done, why: 1 },
        sourceEventSeqs: [at.done],
      }),
    accepted: (session) => say(session, 'x', replacing(at.done, at.done, at.done)),
  },
  {
    code: 'surface/invalid-op',
    rule: 'there are no aliases',
    refused: (session) =>
      say(session, 'x', { surfaceOp: { op: 'replace', start: at.done, end: at.done }, sourceEventSeqs: [at.done] }),
    accepted: (session) => say(session, 'x', replacing(at.done, at.done, at.done)),
  },
  {
    code: 'surface/invalid-op',
    rule: 'the ends are seqs',
    refused: (session) =>
      say(session, 'x', { surfaceOp: { op: 'replace', startSeq: '8', endSeq: at.done }, sourceEventSeqs: [at.done] }),
    accepted: (session) => say(session, 'x', replacing(at.done, at.done, at.done)),
  },
  {
    code: 'surface/invalid-op',
    rule: 'it is append or a replacement',
    refused: (session) =>
      say(session, 'x', {
        surfaceOp: { op: 'insert', startSeq: at.done, endSeq: at.done },
        sourceEventSeqs: [at.done],
      }),
    accepted: (session) => say(session, 'x', replacing(at.done, at.done, at.done)),
  },
  {
    code: 'surface/invalid-op',
    rule: 'metadata is JSON',
    refused: (session) => say(session, 'x', { surfaceOp: () => 'append' }),
    accepted: (session) => say(session, 'x', appended),
  },
  {
    code: 'sources/forbidden',
    rule: 'an assistant cites nothing',
    refused: (session) =>
      add(session, 'assistant/message', assistantData('a', []), { ...appended, sourceEventSeqs: [0] }),
    accepted: (session) => add(session, 'assistant/message', assistantData('a', []), appended),
  },
  {
    code: 'sources/invalid',
    rule: 'sources are not empty',
    refused: (session) => say(session, 'x', { ...appended, sourceEventSeqs: [] }),
    accepted: (session) => say(session, 'x', { ...appended, sourceEventSeqs: [1] }),
  },
  {
    code: 'sources/invalid',
    rule: 'sources are distinct',
    refused: (session) => say(session, 'x', { ...appended, sourceEventSeqs: [1, 2, 1] }),
    accepted: (session) => say(session, 'x', { ...appended, sourceEventSeqs: [1, 2, 0] }),
  },
  {
    code: 'sources/invalid',
    rule: 'sources are earlier',
    refused: (session) => say(session, 'x', { ...appended, sourceEventSeqs: [next] }),
    accepted: (session) => say(session, 'x', { ...appended, sourceEventSeqs: [next - 1] }),
  },
  {
    code: 'sources/invalid',
    rule: 'sources are seqs, and JSON',
    refused: (session) => say(session, 'x', { ...appended, sourceEventSeqs: [-0] }),
    accepted: (session) => say(session, 'x', { ...appended, sourceEventSeqs: [0] }),
  },
  {
    code: 'sources/uncovered',
    rule: 'a replacement cites every shadowed entry',
    refused: (session) => say(session, 'x', replacing(at.user, at.resultB, at.user, at.calls, at.resultA)),
    accepted: (session) => say(session, 'x', replacing(at.user, at.resultB, at.user, at.calls, at.resultA, at.resultB)),
  },
  {
    code: 'replace/not-on-surface',
    rule: 'the start is on the surface',
    refused: (session) => say(session, 'x', replacing(at.turn, at.user, at.turn, at.user)),
    accepted: (session) => say(session, 'x', replacing(at.user, at.user, at.turn, at.user)),
  },
  {
    code: 'replace/not-on-surface',
    rule: 'the end is on the surface, not of the future',
    refused: (session) => say(session, 'x', replacing(at.done, next, at.done)),
    accepted: (session) => say(session, 'x', replacing(at.done, at.done, at.done)),
  },
  {
    code: 'replace/not-on-surface',
    rule: 'an entry that was shadowed left the surface, and its replacement stands there',
    seq: next + 1,
    refused: (session) => {
      say(session, 'x', replacing(at.user, at.user, at.user))
      say(session, 'y', replacing(at.user, at.user, at.user))
    },
    accepted: (session) => {
      say(session, 'x', replacing(at.user, at.user, at.user))
      say(session, 'y', replacing(next, next, next))
    },
  },
  {
    code: 'replace/reversed',
    rule: 'position counts, not the number: a replacement stands where its range stood',
    seq: next + 1,
    refused: (session) => {
      say(session, 'x', replacing(at.user, at.user, at.user))
      say(session, 'y', replacing(at.done, next, at.calls, at.resultA, at.resultB, at.done, next))
    },
    accepted: (session) => {
      say(session, 'x', replacing(at.user, at.user, at.user))
      say(session, 'y', replacing(next, at.done, at.calls, at.resultA, at.resultB, at.done, next))
    },
  },
  {
    code: 'replace/tool-result',
    rule: 'a result replaces a result',
    refused: (session) => answer(session, 'a', 'x', replacing(at.done, at.done, at.done)),
    accepted: prune((data) => data),
  },
  {
    code: 'replace/tool-result',
    rule: 'a result replaces exactly one',
    refused: (session) =>
      add(
        session,
        'tool/result',
        pruned(session, at.resultA, 'x'),
        replacing(at.resultA, at.resultB, at.resultA, at.resultB),
      ),
    accepted: prune((data) => data),
  },
  {
    code: 'replace/tool-result',
    rule: 'a rewritten result keeps its message',
    refused: prune((data) => ({ ...data, message: { ...(data['message'] as object), id: 'other' } })),
    accepted: prune((data) => ({ message: data['message'], step: data['step'], turn: data['turn'] })),
  },
  {
    code: 'replace/tool-result',
    rule: 'a rewritten result gains nothing beside its content',
    refused: prune((data) => ({ ...data, meta: { cut: true } })),
    accepted: prune((data) => data),
  },
  {
    code: 'replace/system-head',
    rule: 'the head is not part of a range',
    refused: (session) => say(session, 'x', replacing(at.head, at.user, at.head, at.user)),
    accepted: (session) => say(session, 'x', replacing(at.user, at.user, at.head, at.user)),
  },
  {
    code: 'replace/system-head',
    rule: 'the head is replaced by a system message over exactly it',
    refused: (session) => say(session, 'x', replacing(at.head, at.head, at.head)),
    accepted: (session) => prompt(session, 'x', replacing(at.head, at.head, at.head)),
  },
  {
    code: 'replace/system-head',
    rule: 'a system message covers no more than the head, while later system entries are free',
    seq: next + 1,
    refused: (session) => {
      prompt(session, 'later')
      prompt(session, 'x', replacing(at.head, at.user, at.head, at.user))
    },
    accepted: (session) => {
      prompt(session, 'later')
      say(session, 'x', replacing(at.done, next, at.done, next))
    },
  },
  {
    code: 'pairing/unknown-call',
    rule: 'a result answers a call that was made',
    refused: (session) => answer(session, 'c', 'x'),
    accepted: (session) => {
      call(session, 'c')
      answer(session, 'c', 'x')
    },
  },
  {
    code: 'pairing/unknown-call',
    rule: 'a call is answered once; its id may come back',
    seq: next + 2,
    refused: (session) => {
      call(session, 'a')
      answer(session, 'a', 'x')
      answer(session, 'a', 'y')
    },
    accepted: (session) => {
      call(session, 'a')
      answer(session, 'a', 'x')
      call(session, 'a')
      answer(session, 'a', 'y')
    },
  },
  {
    code: 'pairing/duplicate-call',
    rule: 'an id is not open twice at once, but was free again after its answer',
    refused: (session) => call(session, 'c', 'd', 'c'),
    accepted: (session) => call(session, 'a', 'b'),
  },
  {
    code: 'pairing/open-calls',
    rule: 'while calls are open only answers are appended; the log goes on',
    seq: next + 2,
    refused: (session) => {
      call(session, 'c', 'd')
      answer(session, 'd', 'x')
      say(session, 'x')
    },
    accepted: (session) => {
      call(session, 'c', 'd')
      answer(session, 'd', 'x')
      record(session, 'c')
      answer(session, 'c', 'x')
      say(session, 'x')
    },
  },
  {
    code: 'pairing/open-calls',
    rule: 'an open call stops the assistant too, but no balanced replacement',
    seq: next + 1,
    refused: (session) => {
      call(session, 'c')
      reply(session, 'x')
    },
    accepted: (session) => {
      call(session, 'c')
      say(session, 'x', replacing(at.done, at.done, at.done))
    },
  },
  {
    code: 'pairing/split',
    rule: 'a range does not take a call without its answer',
    refused: (session) => say(session, 'x', replacing(at.user, at.resultA, at.user, at.calls, at.resultA)),
    accepted: (session) => say(session, 'x', replacing(at.user, at.resultB, at.user, at.calls, at.resultA, at.resultB)),
  },
  {
    code: 'pairing/split',
    rule: 'a range does not take an answer without its call',
    refused: (session) => say(session, 'x', replacing(at.resultB, at.done, at.resultB, at.done)),
    accepted: (session) => say(session, 'x', replacing(at.done, at.done, at.done)),
  },
  {
    code: 'append/reentrant',
    rule: 'a pre-commit listener does not append; a post-commit one may',
    refused: (session) => {
      session.on('internal/dispatch', () => void say(session, 'nested'))
      say(session, 'x')
    },
    accepted: (session) => {
      const stop = session.on('session/event', () => {
        stop()
        say(session, 'nested')
      })
      say(session, 'x')
    },
  },
]

const vocabulary = coreEvents.extend(noticing)

describe('acceptance', () => {
  it('has a case for every code', () => {
    expect(new Set(cases.map(({ code }) => code))).toEqual(new Set(Object.keys(acceptanceCodes)))
  })

  describe.each(cases)('$code: $rule', ({ code, seq, refused, accepted }) => {
    it('is refused with the code, the seq and the type, and changes nothing', () => {
      const session = talk({ vocabulary })
      const error = refusal(() => refused(session))
      expect(error.code).toBe(code)
      expect(error.seq).toBe(seq ?? next)
      expect(error).toBeInstanceOf(SessionAcceptanceError)
      expect(error).toBeInstanceOf(SessionError)
      expect(error.message).toContain(`${code}: event ${String(error.seq)} (${error.eventType})`)
      expect(session.length).toBe(Math.max(error.seq, next))
      expect(session.surface.nodes).toEqual(foldSurface(session.events).nodes)
    })

    it('is accepted when just right', () => {
      expect(() => accepted(talk({ vocabulary }))).not.toThrow()
    })
  })

  it('holds a seed to the same rules, and copies it', () => {
    const seed = stored(talk()).events as SessionEvent[]
    const session = Session.create({ seed })
    expect(session.firstLiveSeq).toBe(seed.length)
    expect(session.eventAt(0)).not.toBe(seed[0])
    expect(Object.isFrozen(seed[0])).toBe(false)
    expect(refusal(() => Session.create({ seed: seed.slice(1) })).code).toBe('envelope/seq')
  })

  it('documents each code with its meaning, its way out and its section', () => {
    for (const doc of Object.values(acceptanceCodes)) {
      expect(doc.meaning.length * doc.wayOut.length).toBeGreaterThan(0)
      expect(doc.section).toMatch(/^\d(\.\d)?$/)
    }
  })
})
