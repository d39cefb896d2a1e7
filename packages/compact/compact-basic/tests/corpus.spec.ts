import { type Message, type SessionEvent, Session, interruptedTurnClosers, stringifyEvent } from '@palimpsest/session'
import { type CompactionOutcome, TokenMeter, planCompaction } from '@palimpsest/compact'
import { expect, it } from 'vitest'
import { basicCompaction } from '@palimpsest/compact-basic'
import {
  add,
  answer,
  byLength,
  call,
  expectAccepted,
  expectValid,
  fresh,
  joinTags,
  kinds,
  originsOf,
  pendingUser,
  reply,
  say,
  tagged,
  tagsOf,
  vocabulary,
} from './support.ts'

it("TK-01: a provider's count is void after a replacement, so that a session just compacted is not compacted again", async () => {
  const session = fresh()
  for (let n = 0; n < 20; n += 1) {
    say(session, tagged(n, 400))
    reply(session, 'fine', n === 19 ? { inputTokens: 180_000, outputTokens: 10 } : undefined)
  }
  const compaction = basicCompaction({
    session,
    summarize: joinTags,
    budget: { tokens: 150_000 },
    keepRecentTokens: 200,
  })
  expect(compaction.meter.usage()).toMatchObject({ source: 'provider', tokens: 180_010 })
  expect(await compaction.compactIfNeeded('threshold')).toMatchObject({ kind: 'compacted' })
  expect(compaction.meter.usage().source).toBe('estimate')
  expect(compaction.meter.usage().tokens).toBeLessThan(3000)
  expect(await compaction.compactIfNeeded('threshold')).toMatchObject({ refusal: { reason: 'below-threshold' } })
})

it('TK-01: a count above the estimate still leads to one compaction, not to one after another', async () => {
  const session = fresh()
  const options = { session, summarize: joinTags, budget: { tokens: 10_000 }, estimate: byLength }
  const compaction = basicCompaction(options)
  let compacted = 0
  for (let n = 0; n < 60; n += 1) {
    const outcome = await compaction.compactIfNeeded('threshold')
    if (outcome.kind === 'compacted') compacted += 1
    expect(outcome.kind).not.toBe('no-progress')
    say(session, tagged(n, 200))
    // The provider's tokens are half as long as ours are thought to be.
    const sent = compaction.meter.measure(session.deriveMessages()).tokens
    reply(session, 'fine', { inputTokens: sent * 2, outputTokens: 10 })
  }
  expect(compacted).toBeGreaterThan(2)
  expect(compacted).toBeLessThanOrEqual(Math.ceil((60 * 410) / 3000))
})

it('CS-03: a call that waits for its answer pins the surface from its message on, and the answer attaches', async () => {
  const session = fresh()
  for (let n = 0; n < 5; n += 1) {
    say(session, tagged(n, 100))
    reply(session, tagged(100 + n, 100))
  }
  say(session, 'Delete it')
  const { seq } = call(session, 'May I?', 'confirm')
  const compaction = basicCompaction({
    session,
    summarize: joinTags,
    budget: { tokens: 100 },
    keepRecentTokens: 0,
    estimate: byLength,
  })
  const outcome = await compaction.compactNow()
  expect(outcome.kind).toBe('compacted')
  expect(session.surface.nodes).toContain(seq)
  answer(session, 'confirm', 'yes')
  reply(session, 'Deleted.')
  expectValid(session)
  const derived = session.deriveMessages()
  const position = derived.findIndex(({ content }) => content.some((block) => block.type === 'tool-call'))
  expect(derived[position + 1]?.source).toEqual({ kind: 'tool', callId: 'confirm' })
})

it('CS-05: a dead call is settled when the session opens again, so that compaction goes on; without that it is named', async () => {
  const session = fresh()
  call(session, tagged(0, 100), 'a')
  const stored = session.events.map((event) => JSON.parse(stringifyEvent(event)) as SessionEvent)
  const reopen = (events: SessionEvent[]): Session =>
    Session.restore({ header: session.header, events, inheritedEventCount: 0 }, { vocabulary })

  const broken = reopen(structuredClone(stored))
  const options = { budget: { tokens: 10 }, keepRecentTokens: 0 }
  expect(planCompaction(broken, new TokenMeter(broken), options)).toEqual({
    kind: 'none',
    refusal: { reason: 'blocked', blockedBy: ['a'] },
  })
  const blocked = await basicCompaction({ session: broken, summarize: joinTags, budget: { tokens: 10 } }).compactNow()
  expect(blocked).toEqual({ kind: 'none', refusal: { reason: 'blocked', blockedBy: ['a'] } })

  const repaired = reopen([...stored, ...interruptedTurnClosers(stored)])
  for (let n = 1; n <= 20; n += 1) {
    say(repaired, tagged(n, 100))
    reply(repaired, 'fine')
  }
  const compaction = basicCompaction({
    session: repaired,
    summarize: joinTags,
    budget: { tokens: 900 },
    estimate: byLength,
  })
  expect(await compaction.compactIfNeeded('threshold')).toMatchObject({ kind: 'compacted' })
  expect(tagsOf(repaired.deriveMessages())).toEqual(Array.from({ length: 21 }, (_, n) => n))
  expectValid(repaired)
})

it('CL-01: where compaction does not help there are at most two, then no-progress names the largest; a user turn arms it again', async () => {
  const session = fresh()
  const outcomes: CompactionOutcome[] = []
  const compaction = basicCompaction({
    session,
    // The floor is the frame of a summary and what is kept: more than the budget, whatever happens.
    summarize: () => ({ text: 'S'.repeat(430) }),
    budget: { tokens: 330 },
    keepRecentTokens: 100,
    summaryTokens: 50,
    estimate: byLength,
    onOutcome: (outcome) => outcomes.push(outcome),
  })
  const turn = async (number: number): Promise<void> => {
    add(session, 'turn/start', { turn: number })
    const input = pendingUser(`input-${number}`, 'Go on')
    for (let step = 0; step < 12; step += 1) {
      await compaction.compactIfNeeded('threshold', { pending: step === 0 ? [input] : [] })
      if (step === 0) add(session, 'user/message', input, { surfaceOp: 'append' })
      call(session, 'x'.repeat(300), `c-${session.length}`)
      answer(session, `c-${session.length - 1}`, 'y'.repeat(600))
    }
    add(session, 'turn/end', { turn: number, reason: { kind: 'completed' } })
  }
  const ran = (): number => session.events.filter(({ type }) => type === 'compaction/start').length

  await turn(1)
  expect(ran()).toBeLessThanOrEqual(2)
  expect(kinds(outcomes).at(-1)).toBe('no-progress')
  const last = outcomes.at(-1)
  if (last?.kind !== 'no-progress') throw new Error('unreachable')
  expect(last.tokens).toBeGreaterThan(last.budget)
  expect(last.largest[0]?.tokens).toBeGreaterThanOrEqual(last.largest[1]?.tokens ?? 0)
  expect(new Set(last.largest.map(({ reason }) => reason))).toContain('recent')
  const before = ran()
  await turn(2)
  expect(ran()).toBeGreaterThan(before)
  expect(ran()).toBeLessThanOrEqual(before + 2)
  const stopped = ran()
  await compaction.compactNow()
  expect(ran()).toBe(stopped + 1)
  call(session, 'x'.repeat(300), 'again')
  answer(session, 'again', 'y'.repeat(600))
  await compaction.compactIfNeeded('threshold')
  expect(ran()).toBe(stopped + 2)
})

it('SC-01: what the first compaction kept is in the input of the second: nothing is neither shown nor summarised', async () => {
  const session = fresh()
  const inputs: number[][] = []
  const compaction = basicCompaction({
    session,
    summarize: (request) => {
      inputs.push(tagsOf(request.messages))
      return joinTags(request)
    },
    budget: { tokens: 2000 },
    keepRecentTokens: 450,
    estimate: byLength,
  })
  const turn = (n: number): void => {
    say(session, tagged(2 * n - 1, 100))
    reply(session, tagged(2 * n, 100))
  }
  for (const n of [1, 2, 3]) turn(n)
  await compaction.compactNow()
  expect(inputs).toEqual([[1, 2]])
  for (const n of [4, 5, 6]) turn(n)
  await compaction.compactNow()
  expect(inputs[1]).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  expect(tagsOf(session.deriveMessages())).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
  const surfaced = session.events.filter((event) => 'surfaceOp' in event && event.surfaceOp === 'append')
  expect(originsOf(session)).toEqual(surfaced.map(({ seq }) => seq))
})

it('CA-01: over 100 turns the derived list is rewritten no more often than the gap between the water marks fills up', async () => {
  const session = fresh()
  const budget = 10_000
  const [highWater, lowWater] = [0.9, 0.4]
  const compaction = basicCompaction({
    session,
    summarize: () => ({ text: 'S' }),
    budget: { tokens: budget },
    highWater,
    lowWater,
    keepRecentTokens: 1000,
    estimate: byLength,
  })
  let total = 0
  let rewritten = 0
  let before: readonly Message[] = []
  for (let turn = 0; turn < 100; turn += 1) {
    say(session, 'u'.repeat(40))
    for (let step = 0; step < 4; step += 1) {
      await compaction.compactIfNeeded('threshold')
      const derived = session.deriveMessages()
      if (before.some((message, at) => derived[at] !== message)) rewritten += 1
      before = derived
      expect(compaction.meter.usage().tokens).toBeLessThanOrEqual(budget)
      const id = `c-${session.length}`
      call(session, 'thinking', id)
      answer(session, id, 'r'.repeat(50 + ((turn * 7 + step * 13) % 300)))
    }
    reply(session, 'done')
  }
  for (const event of session.events) total += compaction.meter.entry(event.seq).tokens
  const bound = Math.ceil(total / (budget * (highWater - lowWater)))
  expect(rewritten).toBeGreaterThan(5)
  expect(rewritten).toBeLessThanOrEqual(bound)
})

it('CS-08: what a summariser reads is what a provider takes, with the prefix and without', async () => {
  const session = fresh()
  const asked: (readonly Message[])[] = []
  const compaction = basicCompaction({
    session,
    summarize: (request) => {
      asked.push(request.prefix, request.messages)
      return joinTags(request)
    },
    budget: { tokens: 1500 },
    keepRecentTokens: 250,
    estimate: byLength,
  })
  for (let n = 0; n < 40; n += 1) {
    say(session, tagged(n, 40))
    const ids = Array.from({ length: 1 + (n % 4) }, (_, at) => `c-${n}-${at}`)
    await compaction.compactIfNeeded('threshold')
    call(session, 'Look', ...ids)
    for (const id of ids) answer(session, id, 'r'.repeat(60 + ((n * 37) % 200)))
    await compaction.compactIfNeeded('threshold')
  }
  expect(asked.length).toBeGreaterThan(6)
  for (const messages of asked) expectAccepted(messages)
})

it('CL-02: one large message that the first compaction kept is in the input of the second, and nothing loops', async () => {
  const session = fresh()
  const inputs: number[][] = []
  const compaction = basicCompaction({
    session,
    summarize: (request) => {
      inputs.push(tagsOf(request.messages))
      return joinTags(request)
    },
    budget: { tokens: 5000 },
    keepRecentTokens: 300,
    estimate: byLength,
  })
  const turn = async (n: number, length: number): Promise<void> => {
    say(session, tagged(n, length))
    await compaction.compactIfNeeded('threshold')
    reply(session, 'fine')
  }
  for (let n = 0; n < 5; n += 1) await turn(n, 200)
  await turn(5, 3700)
  expect(inputs).toEqual([[0, 1, 2, 3, 4]])
  for (let n = 6; n < 16; n += 1) await turn(n, 200)
  expect(inputs).toHaveLength(2)
  expect(inputs[1]?.slice(0, 6)).toEqual([0, 1, 2, 3, 4, 5])
  expect(compaction.meter.usage().tokens).toBeLessThan(3700)
})

it("TK-02: what the summariser's own call cost is not the size of the session", async () => {
  const session = fresh()
  for (let n = 0; n < 10; n += 1) {
    say(session, tagged(n, 200))
    reply(session, 'fine', n === 9 ? { inputTokens: 2500, outputTokens: 10 } : undefined)
  }
  const compaction = basicCompaction({
    session,
    summarize: (request) => ({
      ...(joinTags(request) as { text: string }),
      usage: { inputTokens: 900_000, outputTokens: 90_000 },
    }),
    budget: { tokens: 2000 },
    keepRecentTokens: 200,
    estimate: byLength,
  })
  expect(await compaction.compactIfNeeded('threshold')).toMatchObject({ kind: 'compacted' })
  expect(session.events.find(({ type }) => type === 'compaction/summary')?.data).toMatchObject({
    usage: { inputTokens: 900_000 },
  })
  expect(compaction.meter.usage()).toMatchObject({ source: 'estimate' })
  expect(compaction.meter.usage().tokens).toBeLessThan(1000)
  expect(await compaction.compactIfNeeded('threshold')).toMatchObject({ refusal: { reason: 'below-threshold' } })
})
