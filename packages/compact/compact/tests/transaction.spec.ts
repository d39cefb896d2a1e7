import { getEventListeners } from 'node:events'
import { type CompactionFailureCode, type Summarize, activeCompaction, runCompaction } from '@palimpsest/compact'
import { type Session, coreEvents } from '@palimpsest/session'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  add,
  answer,
  bare,
  call,
  deferred,
  fresh,
  held,
  nodesOf,
  range,
  replacing,
  reply,
  say,
  short,
  talk,
  typesOf,
} from './support.ts'

/** Everything that a failed compaction must leave alone. */
const seen = (session: Session): unknown => [nodesOf(session), session.deriveMessages()]

async function expectFailure(
  session: Session,
  code: CompactionFailureCode,
  summarize: Summarize,
  more: Partial<Parameters<typeof runCompaction>[3]> = {},
): Promise<void> {
  const before = seen(session)
  const outcome = await runCompaction(session, range(1, 5), summarize, { ...bare, createId: () => 'c1', ...more })
  expect(outcome).toMatchObject({ kind: 'failed', code, compactionId: 'c1' })
  expect(seen(session)).toEqual(before)
  expect(session.events.at(-1)).toMatchObject({ type: 'compaction/end', data: { compactionId: 'c1', error: { code } } })
  expect(activeCompaction(session)).toBeUndefined()
  say(session, 'and on we go')
  expect(await runCompaction(session, range(1, 5), short, bare)).toMatchObject({ kind: 'compacted' })
}

afterEach(() => vi.useRealTimers())

describe('runCompaction', () => {
  it('puts one user message in the place of the range, inside its bracket', async () => {
    const session = talk()
    const outcome = await runCompaction(session, range(1, 5), short, { ...bare, createId: () => 'c1' })
    const [summary, replacement] = [session.eventAt(8), session.eventAt(9)]
    expect(outcome).toEqual({
      kind: 'compacted',
      compactionId: 'c1',
      replacementSeq: 9,
      shadowedSeqs: [1, 2, 3, 4, 5],
      tokensBefore: expect.any(Number) as number,
      tokensAfter: expect.any(Number) as number,
    })
    expect(typesOf(session).slice(7)).toEqual([
      'compaction/start',
      'compaction/summary',
      'user/message',
      'compaction/end',
    ])
    expect(nodesOf(session)).toEqual([0, 9, 6])
    expect(session.eventAt(7)?.data).toMatchObject({ compactionId: 'c1', trigger: 'manual', startSeq: 1, endSeq: 5 })
    expect(summary?.data).toMatchObject({ shadowedRange: { startSeq: 1, endSeq: 5 }, shadowedSeqs: [1, 2, 3, 4, 5] })
    expect(replacement).toMatchObject({
      surfaceOp: { op: 'replace', startSeq: 1, endSeq: 5 },
      sourceEventSeqs: [1, 2, 3, 4, 5],
      data: {
        content: [{ type: 'text', text: 'S' }],
        source: { kind: 'plugin', plugin: 'compact', compactionId: 'c1' },
      },
    })
    expect(session.eventAt(10)?.data).toEqual({ compactionId: 'c1', replacementSeq: 9 })
  })

  it('shows the summariser the range, and the prefix that the model saw', async () => {
    const session = talk()
    const messages = session.deriveMessages()
    const summarize = vi.fn<Summarize>(short)
    await runCompaction(session, range(2, 5), summarize, bare)
    expect(summarize).toHaveBeenCalledExactlyOnceWith({
      session,
      seqs: [2, 3, 4, 5],
      messages: messages.slice(2, 6),
      prefix: messages.slice(0, 6),
      signal: expect.any(AbortSignal) as AbortSignal,
    })
  })

  it('records who made the summary and what that cost', async () => {
    const session = talk()
    const made = { provider: 'acme.chat', model: 'acme-1', usage: { inputTokens: 9 }, meta: { rounds: 2 } }
    await runCompaction(session, range(1, 5), () => ({ text: 'S', ...made }), bare)
    expect(session.eventAt(8)?.data).toMatchObject(made)
  })

  it('frames and measures by itself unless told how', async () => {
    const session = talk()
    const outcome = await runCompaction(session, range(1, 5), short, { trigger: 'threshold' })
    expect(outcome.kind).toBe('compacted')
    expect(session.deriveMessages()[1]?.content).toEqual([
      { type: 'text', text: expect.stringMatching(/^Summary .*S$/s) as string },
    ])
  })

  it('reports success after the flush, and ends the bracket after it', async () => {
    const session = talk()
    const flushed = deferred<void>()
    const flush = vi.fn(() => flushed.promise)
    const running = runCompaction(session, range(1, 5), short, { ...bare, flush })
    await vi.waitFor(() => expect(flush).toHaveBeenCalledOnce())
    expect(typesOf(session).at(-1)).toBe('user/message')
    expect(activeCompaction(session)).toBeDefined()
    flushed.resolve(undefined)
    expect((await running).kind).toBe('compacted')
    expect(typesOf(session).at(-1)).toBe('compaction/end')
  })

  it('says so when the replacement could not be made durable; it stands in memory', async () => {
    const session = talk()
    const flush = (): Promise<void> => Promise.reject(new Error('no space left'))
    const outcome = await runCompaction(session, range(1, 5), short, { ...bare, flush })
    expect(outcome).toMatchObject({
      kind: 'failed',
      code: 'flush-failed',
      message: expect.stringContaining('no space left') as string,
    })
    expect(nodesOf(session)).toEqual([0, 9, 6])
    expect(session.events.at(-1)?.data).toMatchObject({ replacementSeq: 9, error: { code: 'flush-failed' } })
    expect(activeCompaction(session)).toBeUndefined()
  })
})

describe('a range', () => {
  it.each([
    ['range/not-on-surface', 1, 7],
    ['range/not-on-surface', 99, 5],
    ['range/reversed', 5, 1],
    ['range/head', 0, 5],
    ['range/head', 0, 0],
    ['range/unbalanced', 1, 3],
    ['range/unbalanced', 3, 5],
    ['range/unbalanced', 4, 4],
  ] as const)('is refused up front with %s: %d to %d', async (code, start, end) => {
    const session = talk()
    await expect(runCompaction(session, range(start, end), short, bare)).rejects.toMatchObject({ code })
    expect(session.length).toBe(7)
  })

  it('may begin at entry 0 where that is no system prompt', async () => {
    const session = fresh()
    say(session, 'one, and quite a long one')
    say(session, 'two, which is not much shorter')
    expect(await runCompaction(session, range(0, 1), short, bare)).toMatchObject({ kind: 'compacted' })
    expect(nodesOf(session).length).toBe(1)
  })

  it('is not looked at in a session that does not know the events', async () => {
    const session = talk({ vocabulary: coreEvents })
    await expect(runCompaction(session, range(1, 5), short, bare)).rejects.toMatchObject({ code: 'vocabulary/missing' })
  })

  it('is not looked at with a timeout that is none', async () => {
    for (const timeoutMs of [0, -1, Number.NaN]) {
      await expect(runCompaction(talk(), range(1, 5), short, { ...bare, timeoutMs })).rejects.toBeInstanceOf(RangeError)
    }
  })
})

describe('a summariser', () => {
  it.each([
    ['blank-summary', 'answers with nothing', () => ({ text: '' })],
    ['blank-summary', 'answers with white space', () => ({ text: ' \n\t\u00a0\u2028' })],
    ['not-smaller', 'gives more than it got', ({ messages }) => ({ text: JSON.stringify(messages) })],
    [
      'summarizer-failed',
      'throws',
      () => {
        throw new Error('overloaded')
      },
    ],
    ['summarizer-failed', 'rejects', () => Promise.reject(new Error('overloaded'))],
    ['summarizer-failed', 'throws what is no error', () => Promise.reject('overloaded')],
    ['summarizer-failed', 'throws what has no words', () => Promise.reject(Object.create(null))],
    ['summarizer-failed', 'gives no answer', () => undefined as never],
    ['summarizer-failed', 'gives no text', () => ({ text: 7 }) as never],
    ['summarizer-failed', 'has no name for its model', () => ({ text: 'S', model: '' })],
    ['summarizer-failed', 'tells what JSON cannot hold', () => ({ text: 'S', meta: Number.NaN })],
  ] satisfies [CompactionFailureCode, string, Summarize][])('ends in %s when it %s', async (code, _, summarize) => {
    await expectFailure(talk(), code, summarize)
  })

  it('ends in summarizer-failed when its summary cannot be framed or measured', async () => {
    const broken = (): never => {
      throw new Error('no frame')
    }
    await expectFailure(talk(), 'summarizer-failed', short, { frame: broken })
    let calls = 0
    await expectFailure(talk(), 'summarizer-failed', short, { measure: () => (calls++ === 0 ? 9 : broken()) })
  })

  it('fails in words without the key that a provider gave back', async () => {
    const session = talk()
    await expectFailure(session, 'summarizer-failed', () =>
      Promise.reject(new Error('bad key sk-ant-0123456789abcdef')),
    )
    expect(JSON.stringify(session.events)).toContain('bad key')
    expect(JSON.stringify(session.events)).not.toContain('0123456789abcdef')
  })

  it('that ignores its signal is not waited for once the compaction is aborted', async () => {
    const session = talk()
    const { summarize, answer: answerLate } = held()
    const controller = new AbortController()
    const given = vi.fn<Summarize>(summarize)
    const failing = expectFailure(session, 'aborted', given, { signal: controller.signal })
    controller.abort()
    await failing
    expect(given.mock.calls[0]?.[0].signal.aborted).toBe(true)
    const { length } = session
    answerLate('too late')
    await Promise.resolve()
    expect(session.length).toBe(length)
  })

  it('that fails after it was given up disturbs nobody', async () => {
    const { summarize, fail } = held()
    const controller = new AbortController()
    const failing = expectFailure(talk(), 'aborted', summarize, { signal: controller.signal })
    controller.abort()
    await failing
    fail(new Error('late'))
  })

  it('is not asked when the compaction was aborted before, or by who heard of its start', async () => {
    const session = talk()
    const summarize = vi.fn<Summarize>(short)
    const signal = AbortSignal.abort()
    expect(await runCompaction(session, range(1, 5), summarize, { ...bare, signal })).toMatchObject({ code: 'aborted' })
    expect(session.length).toBe(7)
    const controller = new AbortController()
    session.on('session/event', ({ type }) => {
      if (type === 'compaction/start') controller.abort()
    })
    await expectFailure(session, 'aborted', summarize, { signal: controller.signal })
    expect(summarize).not.toHaveBeenCalled()
  })

  it('leaves no listener on the signal that it was given', async () => {
    const { signal } = new AbortController()
    for (const summarize of [short, () => Promise.reject(new Error('overloaded'))]) {
      await runCompaction(talk(), range(1, 5), summarize, { ...bare, signal })
      expect(getEventListeners(signal, 'abort')).toEqual([])
    }
  })

  it('loses against an abort that came before its answer was read', async () => {
    const controller = new AbortController()
    const summarize: Summarize = () => {
      controller.abort()
      return { text: 'S' }
    }
    await expectFailure(talk(), 'aborted', summarize, { signal: controller.signal })
  })

  it('loses against an abort at any moment before the replacement', async () => {
    const kinds = new Set<string>()
    for (let ticks = 0; ticks < 12; ticks += 1) {
      const session = talk()
      const controller = new AbortController()
      let isTooLate = false
      session.on('internal/dispatch', ({ type }) => {
        if (type === 'user/message') isTooLate = controller.signal.aborted
      })
      const running = runCompaction(session, range(1, 5), short, { ...bare, signal: controller.signal })
      for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve()
      controller.abort()
      kinds.add((await running).kind)
      expect(isTooLate).toBe(false)
    }
    expect([...kinds].toSorted()).toEqual(['compacted', 'failed'])
  })

  it('that hangs ends in timeout', async () => {
    vi.useFakeTimers()
    const failing = expectFailure(talk(), 'timeout', held().summarize, { timeoutMs: 5000 })
    await vi.advanceTimersByTimeAsync(5000)
    await failing
    expect(vi.getTimerCount()).toBe(0)
  })

  it('has the time that it was given, also more than a timer can hold', async () => {
    vi.useFakeTimers()
    const { summarize, answer: answerAt } = held()
    const running = runCompaction(talk(), range(1, 5), summarize, { ...bare, timeoutMs: 2 ** 40 })
    await vi.advanceTimersByTimeAsync(100_000)
    answerAt('S')
    expect((await running).kind).toBe('compacted')
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('what happens meanwhile', () => {
  it('appended content stays visible, behind the replacement', async () => {
    const session = talk()
    const { summarize, answer: answerNow } = held()
    const running = runCompaction(session, range(1, 6), summarize, bare)
    const late = say(session, 'one more thing')
    answerNow('S')
    const outcome = await running
    expect(nodesOf(session)).toEqual([0, outcome.kind === 'compacted' ? outcome.replacementSeq : -1, late])
  })

  it('calls that are opened do not hinder the replacement of what came before', async () => {
    const session = talk()
    const { summarize, answer: answerNow } = held()
    const running = runCompaction(session, range(1, 6), summarize, bare)
    const opening = call(session, 'c', 'd')
    answerNow('S')
    const outcome = await running
    expect(outcome.kind).toBe('compacted')
    const results = [answer(session, 'd'), answer(session, 'c')]
    expect(nodesOf(session)).toEqual([
      0,
      outcome.kind === 'compacted' ? outcome.replacementSeq : -1,
      opening,
      ...results,
    ])
  })

  it('a covered entry that is replaced makes it fail as changed', async () => {
    const session = talk()
    const { summarize, answer: answerNow } = held()
    const running = runCompaction(session, range(1, 5), summarize, bare)
    const instead = say(session, 'Fix it', replacing([1]))
    answerNow('S')
    expect(await running).toMatchObject({ kind: 'failed', code: 'changed' })
    expect(nodesOf(session)).toEqual([0, instead, 2, 3, 4, 5, 6])
    expect(typesOf(session)).not.toContain('compaction/summary')
  })

  it('a replacement elsewhere does not', async () => {
    const session = talk()
    reply(session, 'Which one?')
    const { summarize, answer: answerNow } = held()
    const running = runCompaction(session, range(2, 5), summarize, bare)
    say(session, 'Fix it', replacing([1]))
    say(session, 'Both', replacing([6, 7]))
    answerNow('S')
    expect((await running).kind).toBe('compacted')
    expect(nodesOf(session).length).toBe(4)
  })

  it('a listener that replaces a covered entry when it hears of the summary makes it fail as changed', async () => {
    const session = talk()
    const stop = session.on('session/event', ({ type }) => {
      if (type !== 'compaction/summary') return
      stop()
      say(session, 'Fix it', replacing([1]))
    })
    expect(await runCompaction(session, range(1, 5), short, bare)).toMatchObject({ code: 'changed' })
    expect(typesOf(session).slice(7)).toEqual([
      'compaction/start',
      'compaction/summary',
      'user/message',
      'compaction/end',
    ])
  })

  it('a listener that replaces the end of the range when it hears of the start makes it fail as changed', async () => {
    const session = talk()
    const stop = session.on('session/event', ({ type }) => {
      if (type !== 'compaction/start') return
      stop()
      say(session, 'Both', replacing([5, 6]))
    })
    expect(await runCompaction(session, range(1, 5), short, bare)).toMatchObject({ code: 'changed' })
    expect(activeCompaction(session)).toBeUndefined()
  })

  it('a second compaction is busy', async () => {
    const session = talk()
    const { summarize, answer: answerNow } = held()
    const running = runCompaction(session, range(1, 5), summarize, { ...bare, createId: () => 'c1' })
    const { length } = session
    expect(await runCompaction(session, range(6, 6), short, bare)).toEqual({
      kind: 'failed',
      code: 'busy',
      message: expect.stringContaining('c1') as string,
    })
    expect(session.length).toBe(length)
    answerNow('S')
    expect((await running).kind).toBe('compacted')
  })
})

describe('a veto', () => {
  const vetoing = (session: Session, ...types: string[]): (() => void) =>
    session.on('internal/dispatch', ({ type }) => {
      if (types.includes(type)) throw new Error(`no room for ${type}`)
    })

  it('of the start writes nothing', async () => {
    const session = talk()
    vetoing(session, 'compaction/start')
    expect(await runCompaction(session, range(1, 5), short, bare)).toMatchObject({
      kind: 'failed',
      code: 'append-refused',
    })
    expect(session.length).toBe(7)
    expect(activeCompaction(session)).toBeUndefined()
  })

  it.each(['compaction/summary', 'user/message'])('of %s ends the bracket', async (type) => {
    const session = talk()
    const stop = vetoing(session, type)
    const before = seen(session)
    expect(await runCompaction(session, range(1, 5), short, bare)).toMatchObject({ code: 'append-refused' })
    expect(seen(session)).toEqual(before)
    expect(session.events.at(-1)).toMatchObject({ type: 'compaction/end', data: { error: { code: 'append-refused' } } })
    stop()
    expect(await runCompaction(session, range(1, 5), short, bare)).toMatchObject({ kind: 'compacted' })
  })

  it('of the end too releases the lock; the end is written with the next bracket', async () => {
    const session = talk()
    const stop = vetoing(session, 'compaction/summary', 'compaction/end')
    const ids = ['c1', 'c2', 'c3']
    const options = { ...bare, createId: () => ids.shift() ?? 'none' }
    expect(await runCompaction(session, range(1, 5), short, options)).toMatchObject({ code: 'append-refused' })
    expect(typesOf(session).at(-1)).toBe('compaction/start')
    expect(activeCompaction(session)).toBeUndefined()
    expect(await runCompaction(session, range(1, 5), short, options)).toMatchObject({ code: 'append-refused' })
    stop()
    expect(await runCompaction(session, range(1, 5), short, options)).toMatchObject({ kind: 'compacted' })
    const [firstEnd, secondEnd] = session.events.filter(({ type }) => type === 'compaction/end')
    expect([firstEnd?.data, secondEnd?.data]).toMatchObject([{ compactionId: 'c1' }, { compactionId: 'c2' }])
    const lastStart = session.events.findLast(({ type }) => type === 'compaction/start')
    expect(lastStart?.data).toMatchObject({ compactionId: 'c3' })
    expect(secondEnd?.seq).toBeLessThan(lastStart?.seq ?? 0)
  })

  it('of one end does not hold up those of later brackets', async () => {
    const session = talk()
    session.on('internal/dispatch', ({ type, data }) => {
      if (type === 'compaction/end' && data.compactionId === 'c1') throw new Error('not this one')
    })
    const ids = ['c1', 'c2']
    const options = { ...bare, createId: () => ids.shift() ?? 'none' }
    await runCompaction(session, range(1, 5), () => ({ text: '' }), options)
    expect(await runCompaction(session, range(1, 5), short, options)).toMatchObject({ kind: 'compacted' })
    expect(session.events.at(-1)).toMatchObject({ type: 'compaction/end', data: { compactionId: 'c2' } })
  })

  it('whose error has no text for a message ends the bracket all the same', async () => {
    const session = talk()
    session.on('internal/dispatch', ({ type }) => {
      if (type === 'user/message') throw Object.assign(new Error(), { message: { of: 'another kind' } })
    })
    expect(await runCompaction(session, range(1, 5), short, bare)).toMatchObject({ code: 'append-refused' })
    expect(typesOf(session).at(-1)).toBe('compaction/end')
  })

  it('of the end of a compaction that is durable does not take it back', async () => {
    const session = talk()
    vetoing(session, 'compaction/end')
    expect(await runCompaction(session, range(1, 5), short, bare)).toMatchObject({ kind: 'compacted' })
  })
})

describe('activeCompaction', () => {
  const start = (session: Session, compactionId: string): unknown =>
    add(session, 'compaction/start', { compactionId, trigger: 'manual', ...range(1, 5) })

  it('names the bracket that is open, and ignores one of an earlier lifetime', () => {
    const session = talk()
    expect(activeCompaction(session)).toBeUndefined()
    start(session, 'c1')
    expect(activeCompaction(session)).toBe('c1')
    const again = fresh({ seed: session.events })
    expect(activeCompaction(again)).toBeUndefined()
    start(again, 'c2')
    expect(activeCompaction(again)).toBe('c2')
    add(again, 'compaction/end', { compactionId: 'c2' })
    expect(activeCompaction(again)).toBeUndefined()
  })

  it('reads each event once, and none of an earlier lifetime', () => {
    const session = fresh({ seed: talk().events })
    const read = vi.spyOn(session, 'eventAt')
    activeCompaction(session)
    for (let round = 0; round < 50; round += 1) {
      say(session, 'on')
      activeCompaction(session)
      activeCompaction(session)
    }
    expect(read).toHaveBeenCalledTimes(50)
  })
})
