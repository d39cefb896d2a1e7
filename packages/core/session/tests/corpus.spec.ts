import { deriveMessagesAt, interruptedTurnClosers, Session, SessionStore, stringifyEvent } from '@palimpsest/session'
import type { Message, SessionEvent, StoredSession } from '@palimpsest/session'
import { assistantData, resultData, text, toolCall, transcriptProblems, userData } from '@palimpsest/testkit'
import { describe, expect, it } from 'vitest'
import { add, answer, appended, call, fresh, record, refusal, replacing, reply, say, stored } from './sessions.ts'

/** The kernel halves of public failure reports, named by their id in the corpus. */

const bytes = (session: Session): string => session.events.map(stringifyEvent).join('\n')
/** What a process that opens the session finds, and what it appends before anything else. SPEC 4, 5.1. */
function resume(at: StoredSession): Session {
  return Session.restore({ ...at, events: [...at.events, ...interruptedTurnClosers(at.events)] })
}
const crashed = (session: Session): StoredSession => stored(session)
const calls = ({ content }: Message): string[] =>
  content.flatMap((block) => (block.type === 'tool-call' ? [block.id] : []))
const answers = (messages: readonly Message[]): string[] =>
  messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'tool-result' ? [block.toolCallId] : [])),
  )
const words = (message: Message | undefined): string => JSON.stringify(message?.content)

describe('OC-02: a crash with some of a parallel batch answered', () => {
  it('keeps the real result, adds one for the other call, once', () => {
    const session = fresh()
    say(session, 'go')
    call(session, 'a', 'b')
    const real = answer(session, 'a', 'real')
    const first = resume(crashed(session))
    expect(first.length).toBe(session.length + 1)
    expect(first.events.at(-1)).toMatchObject({
      type: 'tool/result',
      data: { message: { content: [{ isError: true }] } },
    })
    const derived = first.deriveMessages()
    expect(derived.flatMap(calls)).toEqual(['a', 'b'])
    expect(answers(derived)).toEqual(['a', 'b'])
    expect(derived[2]).toEqual((real.data as { message: Message }).message)
    expect(bytes(resume(crashed(first)))).toBe(bytes(first))
  })
})

describe('OC-03: a resume must not leave two user turns where a call stood', () => {
  it('closes the call instead of deleting it', () => {
    const session = fresh()
    say(session, 'go')
    call(session, 'a')
    answer(session, 'a', 'one')
    call(session, 'b')
    const resumed = resume(crashed(session))
    say(resumed, 'and?')
    const derived = resumed.deriveMessages()
    expect(transcriptProblems(derived)).toEqual([])
    expect(derived.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user', 'user'])
    expect(answers(derived)).toEqual(['a', 'b'])
  })
})

describe('OC-04: a real result arrives after a synthetic one', () => {
  it('is not lost, and does not rewrite what the model read: it is new content that cites the late result', () => {
    const session = fresh()
    say(session, 'go')
    call(session, 'a')
    record(session, 'a')
    const resumed = resume(crashed(session))
    const before = resumed.deriveMessages()
    expect(refusal(() => answer(resumed, 'a', 'real')).code).toBe('pairing/unknown-call')
    const late = add(resumed, 'tool/late-result', { turn: 1, step: 1, callId: 'a', content: [text('real')] })
    const delivered = say(resumed, 'The result of call a, which came late: real', {
      ...appended,
      sourceEventSeqs: [late.seq],
    })
    expect(resumed.deriveMessages().slice(0, before.length)).toEqual(before)
    expect(answers(resumed.deriveMessages())).toEqual(['a'])
    expect(words(resumed.deriveMessages().at(-1))).toContain('real')
    expect(delivered.sourceEventSeqs).toEqual([late.seq])
    expect(resumed.events.filter(({ type }) => type === 'tool/result').length).toBe(1)
  })
})

describe('DU-01: resuming copies nothing', () => {
  it('leaves the same bytes and the same messages after five resumes', () => {
    const session = fresh()
    say(session, 'go')
    call(session, 'a')
    answer(session, 'a', 'one')
    let again: Session = session
    for (let times = 0; times < 5; times++) again = resume(crashed(again))
    expect(bytes(again)).toBe(bytes(session))
    expect(again.deriveMessages()).toEqual(session.deriveMessages())
  })

  it('refuses a log that holds one answer three times: it is for an importer to settle', () => {
    const session = fresh()
    call(session, 'a')
    answer(session, 'a', 'one')
    const base = crashed(session)
    const copy = { ...structuredClone(base.events[1]), seq: 2 } as SessionEvent
    const inflated = { ...base, events: [...base.events, copy] }
    expect(refusal(() => Session.restore(inflated))).toMatchObject({ code: 'pairing/unknown-call', seq: 2 })
  })
})

describe('DU-02: a server that uses one call id for every call', () => {
  it('keeps all results, paired with the call that is open', () => {
    const session = fresh()
    for (const result of ['1', '2', '3']) {
      call(session, 'x')
      answer(session, 'x', result)
    }
    const derived = session.deriveMessages()
    expect(derived.map(words).filter((content) => content.includes('tool-result')).length).toBe(3)
    expect(transcriptProblems(derived)).toEqual([])
    expect(words(derived[3])).toContain('"2"')
  })
})

describe('ID-01: ids that run backwards', () => {
  it('order, the last message, forks and reverts follow the log and never the ids', () => {
    const session = fresh()
    const ids = ['zz', 'z', 'za', 'a', '', 'm'].map((id, turn) => `${id}${String(9 - turn)}`)
    for (const id of ids) add(session, 'user/message', userData(id, [text(id)]), appended)
    expect(session.deriveMessages().map(({ id }) => id)).toEqual(ids)
    const reverted = new SessionStore().fork(session, 3)
    expect(reverted.deriveMessages().map(({ id }) => id)).toEqual(ids.slice(0, 4))
    expect(deriveMessagesAt(session.events, 1).map(({ id }) => id)).toEqual(ids.slice(0, 2))
    add(session, 'user/message', userData('00', [text('summary')]), replacing(1, 2, 1, 2))
    expect(session.deriveMessages().map(({ id }) => id)).toEqual([ids[0], '00', ...ids.slice(3)])
  })

  it('an id may repeat: a message is what its event says', () => {
    const session = fresh()
    add(session, 'user/message', userData('same', [text('one')]), appended)
    add(session, 'user/message', userData('same', [text('two')]), appended)
    expect(session.deriveMessages().map(words)).toEqual([
      words(userData('', [text('one')]) as Message),
      words(userData('', [text('two')]) as Message),
    ])
  })
})

describe('EN-02: a lone surrogate in call arguments', () => {
  it('is kept as it came, in keys and values, through text and back', () => {
    const session = fresh()
    const args = '{"text":"..\ud99c.."}'
    add(session, 'assistant/message', assistantData('a', [toolCall('a', 'write', args)]), appended)
    answer(session, 'a', 'half an emoji: \ud83d')
    const again = resume(crashed(session))
    const [block] = again.deriveMessages()[0]?.content ?? []
    expect(block).toMatchObject({ arguments: args })
    expect(bytes(again)).toBe(bytes(session))
  })
})

describe('MA-01: cut-off JSON in call arguments', () => {
  it('is kept as raw text, and the pair with it', () => {
    const session = fresh()
    const args = '{"cmd":"x'
    say(session, 'go')
    add(session, 'assistant/message', assistantData('a', [toolCall('a', 'bash', args)]), appended)
    add(
      session,
      'tool/result',
      resultData('r', 'a', [text('arguments are no JSON')], { turn: 1, step: 1 }, true),
      appended,
    )
    say(session, 'try again')
    const derived = resume(crashed(session)).deriveMessages()
    expect(derived[1]?.content[0]).toMatchObject({ type: 'tool-call', arguments: args })
    expect(answers(derived)).toEqual(['a'])
  })
})

describe('EM-01: turns that say nothing', () => {
  it('keeps reasoning alone, an empty message and an empty result verbatim, and the pair whole', () => {
    const session = fresh()
    say(session, 'go')
    add(session, 'assistant/message', assistantData('thinks', [{ type: 'reasoning', text: 'hm' }]), appended)
    add(session, 'assistant/message', assistantData('silent', []), appended)
    say(session, 'and?')
    call(session, 'a')
    add(session, 'tool/result', resultData('r', 'a', []), appended)
    reply(session, '')
    const again = resume(crashed(session))
    expect(bytes(again)).toBe(bytes(session))
    expect(again.surface.nodes.length).toBe(7)
    // An assistant message without content has its place and no message; the rest is for exporters.
    expect(again.deriveMessages().map(({ id }) => id)).not.toContain('silent')
    expect(answers(again.deriveMessages())).toEqual(['a'])
    expect(transcriptProblems(again.deriveMessages())).toEqual([])
  })
})
