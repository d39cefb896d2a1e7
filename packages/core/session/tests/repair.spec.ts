import { interruptedTurnClosers, Session, TOOL_NOT_STARTED, TOOL_OUTCOME_UNKNOWN } from '@palimpsest/session'
import type { EventOf, SessionEvent } from '@palimpsest/session'
import { assistantData, describeClosers, toolCall } from '@palimpsest/testkit'
import { describe, expect, it } from 'vitest'
import {
  add,
  answer,
  appended,
  at,
  call,
  fresh,
  pruned,
  record,
  replacing,
  reply,
  say,
  stored,
  talk,
} from './sessions.ts'

const closersOf = (session: Session): SessionEvent[] => interruptedTurnClosers(session.events)
const results = (closers: readonly SessionEvent[]) => closers.filter((event) => event.type === 'tool/result')
const textOf = ({ data }: EventOf<'tool/result'>): string => {
  const [block] = data.message.content[0].content
  return block?.type === 'text' ? block.text : ''
}

describe('interruptedTurnClosers', () => {
  it('needs nothing for an empty log and a balanced one', () => {
    expect(interruptedTurnClosers([])).toEqual([])
    const session = talk()
    add(session, 'step/end', { turn: 1, step: 1 })
    add(session, 'turn/end', { turn: 1, reason: { kind: 'completed' } })
    expect(closersOf(session)).toEqual([])
  })

  it('answers each open call in call order, then ends the step, then the turn', () => {
    const session = talk()
    call(session, 'c', 'd', 'e')
    record(session, 'e')
    answer(session, 'd', 'x')
    expect(describeClosers(closersOf(session))).toEqual([
      { type: 'tool/result', callId: 'c', code: TOOL_NOT_STARTED },
      { type: 'tool/result', callId: 'e', code: TOOL_OUTCOME_UNKNOWN, cites: at.done + 2 },
      { type: 'step/end' },
      { type: 'turn/end' },
    ])
  })

  it('says what the model may do: try again freely, or look before it does', () => {
    const session = talk()
    call(session, 'c', 'd')
    record(session, 'd')
    const [first, second] = results(closersOf(session)) as [EventOf<'tool/result'>, EventOf<'tool/result'>]
    expect(textOf(first)).toMatch(/safe/)
    expect(textOf(second)).toMatch(/unknown/)
    for (const closer of [first, second]) {
      expect(closer.data.message.content[0].isError).toBe(true)
      expect(closer.surfaceOp).toBe('append')
    }
  })

  it('closes open calls whether or not a turn is open', () => {
    const session = fresh()
    call(session, 'c')
    expect(closersOf(session).map(({ type }) => type)).toEqual(['tool/result'])
  })

  it('ends an open step without a turn, and an open turn without a step', () => {
    const session = fresh()
    add(session, 'step/start', { turn: 3, step: 2 })
    expect(closersOf(session)).toMatchObject([{ type: 'step/end', data: { turn: 3, step: 2 } }])
    add(session, 'step/end', { turn: 3, step: 2 })
    add(session, 'turn/start', { turn: 4 })
    expect(closersOf(session)).toMatchObject([{ type: 'turn/end', data: { turn: 4, reason: { kind: 'interrupted' } } }])
  })

  it('takes the end of a turn as the end of its step', () => {
    const session = talk()
    add(session, 'turn/end', { turn: 1, reason: { kind: 'error' } })
    expect(closersOf(session)).toEqual([])
  })

  it('takes turn and step from the assistant message, the id from its own seq and the time from the last event', () => {
    const session = talk()
    add(session, 'assistant/message', assistantData('late', [toolCall('c')], { turn: 5, step: 6 }), appended)
    add(session, 'turn/start', { turn: 7 })
    const [closer] = results(closersOf(session))
    expect(closer).toMatchObject({
      seq: at.done + 3,
      time: session.events.at(-1)?.time,
      data: { turn: 5, step: 6, message: { id: `interrupted-${String(at.done + 3)}` } },
    })
  })

  it('cites the last of several records of a call, and none from before the message that opened it', () => {
    const session = talk()
    record(session, 'c')
    call(session, 'c', 'd')
    record(session, 'd')
    record(session, 'd')
    expect(describeClosers(closersOf(session)).slice(0, 2)).toEqual([
      { type: 'tool/result', callId: 'c', code: TOOL_NOT_STARTED },
      { type: 'tool/result', callId: 'd', code: TOOL_OUTCOME_UNKNOWN, cites: at.done + 4 },
    ])
  })

  it('starts afresh when an id comes back', () => {
    const session = talk()
    call(session, 'b', 'a')
    expect(describeClosers(closersOf(session)).slice(0, 2)).toEqual([
      { type: 'tool/result', callId: 'b', code: TOOL_NOT_STARTED },
      { type: 'tool/result', callId: 'a', code: TOOL_NOT_STARTED },
    ])
  })

  it('does not take a rewritten result for the answer to a call that came back', () => {
    const session = talk()
    call(session, 'a')
    add(session, 'tool/result', pruned(session, at.resultA, 'cut'), replacing(at.resultA, at.resultA, at.resultA))
    expect(describeClosers(closersOf(session))[0]).toEqual({ type: 'tool/result', callId: 'a', code: TOOL_NOT_STARTED })
  })

  it('makes events that a session accepts, restored or appended, and that need no closers', () => {
    const session = talk()
    call(session, 'c', 'd')
    record(session, 'd')
    const closers = closersOf(session)
    const at = stored(session)
    const repaired = Session.restore({ ...at, events: [...at.events, ...closers] })
    expect(closersOf(repaired)).toEqual([])
    for (const { type, data, surfaceOp, sourceEventSeqs } of closers) {
      const intent = surfaceOp === undefined ? undefined : { surfaceOp, sourceEventSeqs }
      add(session, type, data, intent)
    }
    reply(session, 'back again')
    expect(repaired.deriveMessages()).toEqual(session.deriveMessages().slice(0, -1))
  })

  it('is deterministic and leaves the log alone', () => {
    const session = talk()
    call(session, 'c')
    const before = JSON.stringify(session.events)
    expect(closersOf(session)).toEqual(closersOf(session))
    expect(JSON.stringify(session.events)).toBe(before)
    say(Session.restore({ ...stored(session), events: [...stored(session).events, ...closersOf(session)] }), 'go on')
  })
})
