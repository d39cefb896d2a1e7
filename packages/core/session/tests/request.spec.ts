import { reconstructRequest, SessionError, sessionSeq } from '@palimpsest/session'
import type { Session, SessionEvent } from '@palimpsest/session'
import { assistantData, text } from '@palimpsest/testkit'
import { describe, expect, it } from 'vitest'
import { add, appended, fresh, prompt, replacing, say } from './sessions.ts'

const place = { turn: 1, step: 1 }
const header = (model: string): object => ({ config: { provider: 'acme', model } })

function ask(session: Session, throughSeq: number = session.length - 1, attempt = 1): SessionEvent {
  return add(session, 'request/start', { ...place, attempt, throughSeq })
}

function answer(session: Session, requestSeq: number | undefined, more: object = {}): SessionEvent {
  const data = assistantData(`a-${session.length}`, [text('Done.')])
  return add(
    session,
    'assistant/message',
    { ...data, ...(requestSeq === undefined ? {} : { requestSeq }), ...more },
    appended,
  )
}

function codeOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof SessionError) return `${error.code}: ${error.message}`
    throw error
  }
  return 'no error'
}

/** Head, prompt, header, and the seq of the request that was sent on them. */
function asked(): { session: Session; request: SessionEvent } {
  const session = fresh()
  prompt(session, 'You are terse.')
  say(session, 'Fix it')
  add(session, 'request/header', { header: header('one'), reason: 'initial' })
  return { session, request: ask(session) }
}

describe('reconstructRequest', () => {
  it('gives the header in force and the messages derived when the request left', () => {
    const { session, request } = asked()
    const messages = session.deriveMessages()
    const message = answer(session, request.seq)
    for (const seq of [message.seq, request.seq]) {
      expect(reconstructRequest(session.events, seq)).toEqual({ header: header('one'), messages })
    }
  })

  it('is blind to whatever landed after the request: replacements, results, headers, later requests', () => {
    const { session, request } = asked()
    const messages = session.deriveMessages()
    say(session, 'All of it', replacing(1, 1, 1))
    add(session, 'request/header', { header: header('two'), reason: 'change' })
    const message = answer(session, request.seq)
    expect(reconstructRequest(session.events, message.seq)).toEqual({ header: header('one'), messages })
    const later = ask(session)
    expect(reconstructRequest(session.events, later.seq)).toEqual({
      header: header('two'),
      messages: session.deriveMessages(),
    })
  })

  it('tells the attempts of one step apart', () => {
    const { session, request } = asked()
    const first = add(session, 'assistant/attempt', { ...place, stream: [], requestSeq: request.seq })
    const messages = session.deriveMessages()
    say(session, 'Shorter', replacing(1, 1, 1))
    const second = answer(session, ask(session, session.length - 1, 2).seq)
    expect(reconstructRequest(session.events, first.seq).messages).toEqual(messages)
    expect(reconstructRequest(session.events, second.seq).messages).not.toEqual(messages)
  })

  it('refuses an event that no recorded request stands behind', () => {
    const { session } = asked()
    const orphan = answer(session, undefined)
    expect(codeOf(() => reconstructRequest(session.events, orphan.seq))).toMatch(/^request\/unrecorded: .*event 4/)
    expect(codeOf(() => reconstructRequest(session.events, 1))).toMatch(/^request\/unrecorded/)
    const mistaken = answer(session, 1)
    expect(codeOf(() => reconstructRequest(session.events, mistaken.seq))).toMatch(/^request\/unrecorded/)
    const early = answer(session, session.length + 1)
    ask(session)
    expect(codeOf(() => reconstructRequest(session.events, early.seq))).toMatch(/^request\/unrecorded/)
  })

  it('refuses a request without a header, or one that reads past itself', () => {
    const session = fresh()
    say(session, 'Fix it')
    const bare = ask(session)
    expect(codeOf(() => reconstructRequest(session.events, bare.seq))).toMatch(
      /^request\/unrecorded: .*no request\/header/,
    )
    add(session, 'request/header', { header: header('one'), reason: 'initial' })
    const beyond = ask(session, session.length)
    expect(codeOf(() => reconstructRequest(session.events, beyond.seq))).toMatch(/^request\/unrecorded/)
  })

  it('refuses a copy and names the event where the real request is', () => {
    const { session, request } = asked()
    const copy = answer(session, request.seq, { copiedFrom: { session: 'parent', seq: sessionSeq(7) } })
    expect(codeOf(() => reconstructRequest(session.events, copy.seq))).toMatch(
      /^request\/copied: .*event 7 of session parent/,
    )
  })

  it('takes a member copiedFrom of another shape for foreign data', () => {
    const { session, request } = asked()
    for (const copiedFrom of [null, 'parent', { session: 'parent' }, { seq: 7 }]) {
      const message = answer(session, request.seq, { copiedFrom })
      expect(reconstructRequest(session.events, message.seq).header).toEqual(header('one'))
    }
  })

  it('throws a RangeError outside the log', () => {
    const { session } = asked()
    for (const seq of [-1, session.length, 0.5, Number.NaN]) {
      expect(() => reconstructRequest(session.events, seq)).toThrow(RangeError)
    }
  })
})
