import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Session } from '@palimpsest/session'
import type { AssistantMessage, RequestConfig, SessionSeq, SystemMessage, UserMessage } from '@palimpsest/session'
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
    const start = session.append('request/start', { ...place, attempt: 1, throughSeq: 2 as SessionSeq }).seq
    // A header that is written while the answer streams belongs to the next request.
    header(session, { temperature: 1 })
    answer(session, thinking([text('so')]), start)
    expect(intactThrough(session)).toBe(1)
    header(session)
    expect(intactThrough(session)).toBe(2)
    header(session, { maxTokens: 5 })
    expect(intactThrough(session)).toBe(1)
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
  const anyStep = fc.constantFrom('say', 'answer', 'plain', 'header', 'same header', 'replace')
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 20 }), (steps) => {
      const session = begin()
      for (const step of steps) {
        if (step === 'say') say(session)
        else if (step === 'answer') answer(session)
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
