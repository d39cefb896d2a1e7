import { traceFindings } from '@palimpsest/session'
import type { Session } from '@palimpsest/session'
import { assistantData, text } from '@palimpsest/testkit'
import { describe, expect, it } from 'vitest'
import { add, answer, appended, at, call, fresh, pruned, record, replacing, reply, say, talk } from './sessions.ts'

const codes = (session: Session): string[] => traceFindings(session.events).map(({ code }) => code)
const last = at.done

interface Case {
  readonly code: string
  readonly what: string
  readonly found: (session: Session) => void
  readonly clean: (session: Session) => void
}
const turn = (session: Session, number: number) => add(session, 'turn/start', { turn: number })
const endTurn = (session: Session, number: number) =>
  add(session, 'turn/end', { turn: number, reason: { kind: 'completed' } })
const step = (session: Session, kind: 'start' | 'end', number: number, of = 1) =>
  add(session, `step/${kind}`, { turn: of, step: number })
const close = (session: Session) => {
  step(session, 'end', 1)
  endTurn(session, 1)
}
const answering = (requestSeq: number) => (session: Session) => {
  add(session, 'request/start', { turn: 1, step: 1, attempt: 1, throughSeq: last })
  add(session, 'assistant/attempt', { turn: 1, step: 1, stream: [], requestSeq })
  add(session, 'assistant/message', { ...assistantData('m', [text('x')]), requestSeq: last + 1 }, appended)
}
const late = (session: Session) => add(session, 'tool/late-result', { turn: 1, step: 1, callId: 'a', content: [] })

const cases: readonly Case[] = [
  { code: 'trace/turn', what: 'a turn inside a turn', found: (s) => turn(s, 2), clean: (s) => (close(s), turn(s, 2)) },
  {
    code: 'trace/turn',
    what: 'a turn number that does not rise',
    found: (s) => (close(s), turn(s, 1)),
    clean: (s) => (close(s), turn(s, 5)),
  },
  {
    code: 'trace/turn',
    what: 'the end of a turn that is not open',
    found: (s) => (close(s), endTurn(s, 1)),
    clean: close,
  },
  { code: 'trace/step', what: 'a step left open by its turn', found: (s) => endTurn(s, 1), clean: close },
  {
    code: 'trace/step',
    what: 'a step outside its turn',
    found: (s) => (step(s, 'end', 1), step(s, 'start', 2, 2)),
    clean: (s) => (step(s, 'end', 1), step(s, 'start', 2)),
  },
  {
    code: 'trace/step',
    what: 'a step inside a step',
    found: (s) => step(s, 'start', 2),
    clean: (s) => (step(s, 'end', 1), step(s, 'start', 2)),
  },
  {
    code: 'trace/step',
    what: 'the end of a step that is not open',
    found: (s) => step(s, 'end', 2),
    clean: (s) => step(s, 'end', 1),
  },
  {
    code: 'trace/enclosure',
    what: 'a message of the assistant outside its step',
    found: (s) => (step(s, 'end', 1), reply(s, 'x')),
    clean: (s) => reply(s, 'x'),
  },
  {
    code: 'trace/enclosure',
    what: 'a request outside its step',
    found: (s) => add(s, 'request/start', { turn: 1, step: 2, attempt: 1, throughSeq: 0 }),
    clean: (s) => add(s, 'request/start', { turn: 1, step: 1, attempt: 1, throughSeq: 0 }),
  },
  {
    code: 'trace/request',
    what: 'an attempt whose request is no request',
    found: answering(at.user),
    clean: answering(last + 1),
  },
  {
    code: 'trace/request',
    what: 'an attempt whose request is yet to come',
    found: answering(last + 9),
    clean: answering(last + 1),
  },
  {
    code: 'trace/unknown-call',
    what: 'the record of a call that nobody made',
    found: (s) => record(s, 'c'),
    clean: (s) => (call(s, 'c'), record(s, 'c')),
  },
  {
    code: 'trace/uncited-call',
    what: 'a result that does not cite its record',
    found: (s) => (call(s, 'c'), record(s, 'c'), answer(s, 'c', 'x')),
    clean: (s) => (call(s, 'c'), record(s, 'c'), answer(s, 'c', 'x', { ...appended, sourceEventSeqs: [last + 2] })),
  },
  {
    code: 'trace/undelivered-result',
    what: 'a late result that no user message cites',
    found: (s) => (late(s), say(s, 'x')),
    clean: (s) => (late(s), say(s, 'x', { ...appended, sourceEventSeqs: [last + 1] })),
  },
]

describe('traceFindings', () => {
  it('finds nothing in a log that the loop would write', () => {
    expect(codes(talk())).toEqual([])
    expect(traceFindings([])).toEqual([])
  })

  describe.each(cases)('$code', ({ code, what, found, clean }) => {
    it(`reports ${what}`, () => {
      const session = talk()
      found(session)
      expect(codes(session)).toContain(code)
      const finding = traceFindings(session.events).find((candidate) => candidate.code === code)
      expect(finding).toMatchObject({ severity: 'warning', seq: expect.any(Number) as number })
    })

    it(`does not report the neighbour of ${what}`, () => {
      const session = talk()
      clean(session)
      expect(codes(session)).toEqual([])
    })
  })

  it('leaves rewritten results, calls without a record and other events alone', () => {
    const session = fresh()
    turn(session, 1)
    step(session, 'start', 1)
    call(session, 'a')
    answer(session, 'a', 'one')
    close(session)
    add(session, 'tool/result', pruned(session, 3, 'cut'), replacing(3, 3, 3))
    add(session, 'acme/note', {}, { ignorable: true })
    expect(codes(session)).toEqual([])
  })
})
