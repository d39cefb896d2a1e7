import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Session, deriveEventMessage, reconstructRequest } from '@palimpsest/session'
import type {
  AssistantMessage,
  RequestConfig,
  SessionSeq,
  SystemMessage,
  ToolCallId,
  UserMessage,
} from '@palimpsest/session'
import { intactThrough, toAnthropic } from '../src/index.ts'
import { assistant, reasoning, system, text, thinking, user } from './fixtures/messages.ts'

const MODEL = 'claude-sonnet-4-5'
const place = { turn: 1, step: 1 }
const append = { surfaceOp: 'append' } as const

function header(session: Session, config: Partial<RequestConfig> = {}): void {
  session.append('request/header', {
    header: { config: { provider: 'anthropic', model: MODEL, ...config } },
    reason: 'change',
  })
}

function say(session: Session, value = 'hello'): SessionSeq {
  return session.append('user/message', user(value) as UserMessage, append).seq
}

function answer(session: Session, message = thinking([text('so')]), requestSeq?: SessionSeq): SessionSeq {
  const data = {
    ...place,
    message: message as AssistantMessage,
    stream: [],
    ...(requestSeq === undefined ? {} : { requestSeq }),
  }
  return session.append('assistant/message', data, append).seq
}

function begin(prompt: readonly ReturnType<typeof text>[] = []): Session {
  const session = Session.create()
  session.append('system/message', { ...place, message: system(prompt) as SystemMessage }, append)
  header(session)
  say(session)
  return session
}

function replace(session: Session, startSeq: SessionSeq, endSeq: SessionSeq, sources: SessionSeq[]): void {
  const surfaceOp = { op: 'replace', startSeq, endSeq } as const
  session.append('user/message', user('summary') as UserMessage, { surfaceOp, sourceEventSeqs: sources })
}

/** What a loop records right before a request leaves. */
function request(session: Session, attempt = 1): SessionSeq {
  return session.append('request/start', { ...place, attempt, throughSeq: seqOf(session.length - 1) }).seq
}

function replaceWithItself(session: Session, seq: SessionSeq): void {
  const surfaceOp = { op: 'replace', startSeq: seq, endSeq: seq } as const
  session.append('user/message', user('hello') as UserMessage, { surfaceOp, sourceEventSeqs: [seq] })
}

const seqOf = (seq: number): SessionSeq => seq as SessionSeq

const signatures = (session: Session): number => {
  const wire = toAnthropic(session.deriveMessages(), { model: MODEL, intactThrough: intactThrough(session) })
  return wire.messages.flatMap((message) => [...message.content]).filter((block) => block.type === 'thinking').length
}

describe('signed reasoning goes back only while its prefix is what it was', () => {
  it('an untouched log is intact through its end; an empty head does not count as a message', () => {
    const session = begin()
    answer(session)
    say(session)
    answer(session)
    expect(session.deriveMessages()).toHaveLength(4)
    expect(intactThrough(session)).toBe(4)
    expect(signatures(session)).toBe(2)
    expect(intactThrough(begin([text('be brief')]))).toBe(2)
    expect(intactThrough(Session.create())).toBe(0)
  })

  it('a replacement before it breaks a prefix, and all signed reasoning from there on stays behind', () => {
    const session = begin()
    const first = answer(session)
    const second = say(session)
    answer(session)
    replace(session, first, second, [first, second])
    answer(session)
    expect(session.deriveMessages()).toHaveLength(4)
    // user, summary; the assistant after the summary was signed before the summary was written.
    expect(intactThrough(session)).toBe(2)
    expect(signatures(session)).toBe(0)
  })

  it('what is signed after a replacement is intact when nothing before it was signed', () => {
    const session = begin()
    const first = answer(session)
    const second = say(session)
    replace(session, first, second, [first, second])
    answer(session)
    say(session)
    expect(intactThrough(session)).toBe(4)
    expect(signatures(session)).toBe(1)
  })

  it('a changed system prompt breaks every prefix', () => {
    const session = begin([text('be brief')])
    answer(session)
    const surfaceOp = { op: 'replace', startSeq: 0 as SessionSeq, endSeq: 0 as SessionSeq } as const
    const message = system('be kind') as SystemMessage
    session.append('system/message', { ...place, message }, { surfaceOp, sourceEventSeqs: [0 as SessionSeq] })
    expect(signatures(session)).toBe(0)
  })

  it('the header in force must be the one of its request: another one breaks it, the same one again does not', () => {
    const session = begin()
    const start = request(session)
    // A header that is written while the answer streams belongs to the next request.
    header(session, { temperature: 1 })
    answer(session, thinking([text('so')]), start)
    expect(intactThrough(session)).toBe(1)
    header(session)
    expect(intactThrough(session)).toBe(2)
    header(session, { maxTokens: 5 })
    expect(intactThrough(session)).toBe(1)
  })

  it.each([
    { what: 'an appended message', land: (session: Session) => void say(session, 'by the way') },
    { what: 'a replacement', land: (session: Session) => replace(session, seqOf(2), seqOf(2), [seqOf(2)]) },
    {
      what: 'a replacement of what it does not change',
      land: (session: Session) => replaceWithItself(session, seqOf(2)),
    },
  ])('$what that lands while the answer streams stands before the answer, and was not signed', ({ land }) => {
    const session = begin()
    const start = request(session)
    land(session)
    answer(session, thinking([text('so')]), start)
    expect(intactThrough(session)).toBe(session.deriveMessages().length - 1)
    say(session)
    // Nothing after a break goes back, though this request was made of all that stands before its answer.
    answer(session, thinking([text('so')]), request(session))
    expect(signatures(session)).toBe(0)
    expect(intactThrough({ events: session.events, surface: session.surface })).toBe(intactThrough(session))
  })

  it('what lands after the answer, or before its request, breaks nothing', () => {
    const session = begin()
    answer(session, thinking([text('so')]), request(session))
    say(session)
    replace(session, seqOf(5), seqOf(5), [seqOf(5)])
    answer(session, thinking([text('so')]), request(session))
    expect(intactThrough(session)).toBe(4)
    expect(signatures(session)).toBe(2)
  })

  it('an event of the stream that is no surface entry breaks nothing', () => {
    const session = begin()
    const start = request(session)
    const content = [{ type: 'text' as const, text: 'at last' }]
    session.append('tool/late-result', { ...place, callId: 'call_1' as ToolCallId, content })
    answer(session, thinking([text('so')]), start)
    expect(intactThrough(session)).toBe(2)
  })

  it('a later attempt holds what the one before it did not', () => {
    const session = begin()
    request(session)
    say(session, 'by the way')
    answer(session, thinking([text('so')]), request(session, 2))
    expect(intactThrough(session)).toBe(3)
  })

  it('where no earlier request is behind its requestSeq, its own seq stands in', () => {
    const session = begin()
    const said = say(session)
    answer(session, thinking([text('so')]), said)
    answer(session, thinking([text('so')]), seqOf(session.length + 2))
    expect(intactThrough(session)).toBe(4)
  })

  it('an assistant without reasoning breaks nothing', () => {
    const session = begin()
    answer(session, assistant([text('plain')]))
    header(session, { temperature: 1 })
    say(session)
    answer(session)
    expect(intactThrough(session)).toBe(4)
    answer(session, assistant([reasoning('unsigned'), text('x')]))
    expect(intactThrough(session)).toBe(5)
  })
})

it('a copy that an undo made has another prefix than the one it was signed on', () => {
  const session = begin()
  const data = { ...place, message: thinking([text('so')]) as AssistantMessage, stream: [] }
  const origin = { session: session.id, seq: 1 as SessionSeq }
  session.append('assistant/message', { ...data, copiedFrom: origin } as typeof data, append)
  expect(intactThrough(session)).toBe(1)
})

it('a call after each event counts as one call at the end does', () => {
  const anyStep = fc.constantFrom('say', 'ask', 'answer', 'plain', 'header', 'same header', 'replace')
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 20 }), (steps) => {
      const session = begin()
      // What comes between a request and its answer lands while the answer streams.
      let start: SessionSeq | undefined
      for (const step of steps) {
        if (step === 'say') say(session)
        else if (step === 'ask') start = request(session)
        else if (step === 'answer') answer(session, thinking([text('so')]), start)
        else if (step === 'plain') answer(session, assistant())
        else if (step === 'header') header(session, { maxTokens: session.length })
        else if (step === 'same header') header(session)
        else {
          const seq = session.surface.nodes[session.length % session.surface.nodes.length] ?? (0 as SessionSeq)
          if (session.eventAt(seq)?.type === 'user/message') replace(session, seq, seq, [seq])
        }
        const fresh = { events: session.events, surface: session.surface }
        expect(intactThrough(session)).toBe(intactThrough(fresh))
      }
    }),
    { numRuns: 300 },
  )
})

it('a count holds exactly the assistants whose request said what stands before them now', () => {
  const anyStep = fc.constantFrom('say', 'ask', 'ask', 'answer', 'plain', 'header', 'replace')
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 25 }), (steps) => {
      const session = begin()
      let start = request(session)
      for (const step of steps) {
        if (step === 'say') say(session, `say ${session.length}`)
        else if (step === 'ask') start = request(session)
        else if (step === 'answer') answer(session, thinking([text(`so ${session.length}`)]), start)
        else if (step === 'plain') answer(session, assistant([text(`plain ${session.length}`)]), start)
        else if (step === 'header') header(session, { maxTokens: 1 + (session.length % 2) })
        else {
          const seq = session.surface.nodes[session.length % session.surface.nodes.length] ?? seqOf(0)
          if (session.eventAt(seq)?.type === 'user/message') replace(session, seq, seq, [seq])
        }
      }
      const messages = session.deriveMessages()
      const entries = session.surface.nodes
        .map((seq) => session.eventAt(seq))
        .filter((event) => event !== undefined && deriveEventMessage(event) !== null)
      const current = session.events.findLast(({ type }) => type === 'request/header')?.data
      const broken = entries.findIndex((event, at) => {
        if (event?.type !== 'assistant/message') return false
        if (!event.data.message.content.some(({ type }) => type === 'reasoning')) return false
        const asked = reconstructRequest(session.events, event.seq)
        const isSame = isDeepStrictEqual(asked.messages, messages.slice(0, at))
        return !isSame || !isDeepStrictEqual(asked.header, (current as { header?: unknown }).header)
      })
      expect(intactThrough(session)).toBe(broken < 0 ? messages.length : broken)
    }),
    { numRuns: 300 },
  )
})
