import { type Session, sessionSeq } from '@palimpsest/session'
import { resultData } from '@palimpsest/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type PlanOptions,
  TokenMeter,
  balancedAfter,
  balancedBefore,
  largestPinned,
  planCompaction,
  runCompaction,
} from '@palimpsest/compact'
import { anySession, runs } from './random.ts'
import { add, answer, appended, bare, call, fresh, prompt, range, reply, say } from './support.ts'

/** Every text is 100 tokens, and nothing else costs any. */
const flat = (session: Session): TokenMeter =>
  new TokenMeter(session, { countTokens: (words) => (words.startsWith('T') ? 100 : 0), frameTokens: 0 })
const word = 'T'
const tight = { budget: { tokens: 10 }, keepRecentTokens: 0, summaryTokens: 20 } satisfies PlanOptions

function plan(session: Session, options: Partial<PlanOptions> = {}): readonly number[] | string {
  const made = planCompaction(session, flat(session), { ...tight, ...options })
  return made.kind === 'range' ? made.range.seqs : made.refusal.reason
}

/** Turns of a prompt and an answer, 100 tokens each, behind a head; seqs 0, then 1 and 2, 3 and 4, … */
function turns(count: number): Session {
  const session = fresh()
  prompt(session, word)
  for (let turn = 0; turn < count; turn += 1) {
    say(session, word)
    reply(session, word)
  }
  return session
}

describe('a plan', () => {
  it('begins right after the head, and ends before what is kept', () => {
    expect(plan(turns(4))).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(plan(turns(4), { keepRecentTokens: 200 })).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('comes down to the target and no further, at a turn of its own', () => {
    const options = { keepRecentTokens: 200, budget: { tokens: 800 } }
    expect(plan(turns(4), { ...options, target: { tokens: 700 } })).toEqual([1, 2, 3, 4])
    expect(plan(turns(4), { ...options, target: { tokens: 10 } })).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('ends between two steps where a turn is longer than what may stay', () => {
    const session = turns(0)
    say(session, word)
    for (const id of ['a', 'b', 'c', 'd']) {
      call(session, id)
      answer(session, id, word)
    }
    expect(plan(session, { keepRecentTokens: 150 })).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(balancedAfter(session, 7)).toBe(true)
  })

  it('keeps a batch whole, from its call on, where only its last results have to stay', () => {
    const session = turns(1)
    call(session, 'a', 'b')
    answer(session, 'a', word)
    answer(session, 'b', word)
    expect(plan(session, { keepRecentTokens: 100 })).toEqual([1, 2])
  })

  it('takes an earlier summary in again, and is never that summary alone', async () => {
    const session = turns(3)
    const meter = flat(session)
    await runCompaction(session, range(1, 4), () => ({ text: word }), bare)
    const [, summary] = session.surface.nodes
    expect(plan(session)).toEqual([summary, 5, 6])
    expect(plan(session, { keepRecentTokens: 200 })).toBe('nothing-to-gain')
    expect(largestPinned(session, meter, 9).map(({ reason }) => reason)).toContain('summary')
  })

  it('keeps whole turns as long as the target can be reached without them', () => {
    const options = { keepRecentTurns: 2, budget: { tokens: 800 } }
    expect(plan(turns(4), { ...options, target: { tokens: 600 } })).toEqual([1, 2, 3, 4])
    expect(plan(turns(4), { ...options, target: { tokens: 400 } })).toEqual([1, 2, 3, 4, 5, 6])
    expect(plan(turns(4), options)).toEqual([1, 2, 3, 4])
  })

  it('ends at a turn start before what is kept, unless that is less than half of it', () => {
    const even = turns(3)
    expect(plan(even, { keepRecentTokens: 100 })).toEqual([1, 2, 3, 4])
    const late = turns(1)
    say(late, word)
    for (let step = 0; step < 6; step += 1) reply(late, word)
    expect(plan(late, { keepRecentTokens: 100 })).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  it('counts bytes and images too: any of the three is enough', () => {
    const session = turns(3)
    const within = { ...tight, budget: { tokens: 10_000 } }
    expect(plan(session, within)).toBe('below-threshold')
    expect(plan(session, { ...within, budget: { tokens: 10_000, bytes: 50 } })).toHaveLength(6)
    const attachment = { attachmentId: `sha256:${'0'.repeat(64)}`, mediaType: 'image/png', bytes: 30 }
    call(session, 'a')
    add(session, 'tool/result', resultData('r', 'a', [{ type: 'image', attachment }]), appended)
    expect(plan(session, { ...within, budget: { tokens: 10_000, images: 1 } })).toBe('below-threshold')
    expect(plan(session, { ...within, budget: { tokens: 10_000, images: 0 } })).toHaveLength(8)
  })

  it('gives up what is recent, all but the last step, where it is forced and the target is out of reach', () => {
    const options = { keepRecentTokens: 9000, target: { tokens: 10 } }
    expect(plan(turns(3), options)).toBe('nothing-to-gain')
    expect(plan(turns(3), { ...options, force: true })).toEqual([1, 2, 3, 4, 5])
  })

  it('keeps the last entry, however large it is, as long as nothing else is to be answered', () => {
    const session = turns(1)
    const options = { keepRecentTokens: 50 }
    expect(plan(session, options)).toEqual([1])
    expect(plan(session, { ...options, pending: [sayData(session) as never] })).toEqual([1, 2])
    const only = turns(0)
    say(only, word)
    expect(plan(only, options)).toBe('nothing-to-gain')
    expect(plan(only, { ...options, force: true, target: { tokens: 1 } })).toBe('nothing-to-gain')
    expect(plan(only, { ...options, force: true })).toEqual([1])
  })

  it('says below-threshold with the figures, and does not when it is forced', () => {
    const session = turns(3)
    const roomy = { ...tight, budget: { tokens: 5000 } }
    expect(planCompaction(session, flat(session), roomy)).toEqual({
      kind: 'none',
      refusal: { reason: 'below-threshold', tokens: 700, budget: 5000 },
    })
    expect(plan(session, { ...roomy, force: true })).toHaveLength(6)
  })

  it('says nothing-to-gain where a summary would cost as much', () => {
    expect(plan(turns(0))).toBe('nothing-to-gain')
    expect(plan(turns(1), { summaryTokens: 200 })).toBe('nothing-to-gain')
    expect(plan(fresh())).toBe('below-threshold')
  })

  it('says which calls block it, and plans what stands before them', () => {
    const session = turns(0)
    call(session, 'a', 'b')
    answer(session, 'b', word)
    expect(planCompaction(session, flat(session), tight)).toEqual({
      kind: 'none',
      refusal: { reason: 'blocked', blockedBy: ['a'] },
    })
    const longer = turns(2)
    say(longer, word)
    call(longer, 'a', 'b')
    answer(longer, 'b', word)
    expect(plan(longer)).toEqual([1, 2, 3, 4])
  })

  it('takes what a provider counts above the estimate for the size of what is left', () => {
    const session = turns(0)
    for (let turn = 0; turn < 4; turn += 1) {
      say(session, word)
      reply(session, word)
    }
    add(session, 'user/message', { ...sayData(session) }, appended)
    const data = { turn: 1, step: 1, stream: [], usage: { inputTokens: 2000 }, message: assistantOf(session) }
    add(session, 'assistant/message', data, appended)
    const options = { keepRecentTokens: 0, budget: { tokens: 1500 }, target: { tokens: 1000 } }
    // Twice the estimate: half of the entries have to go, not a fifth.
    expect(plan(session, options).length).toBeGreaterThanOrEqual(6)
  })

  it('holds for any session: balanced, past the head, before open calls, in surface order, larger than its summary', () => {
    fc.assert(
      fc.property(
        anySession,
        fc.record({
          keep: fc.nat(3000),
          turns: fc.nat(3),
          force: fc.boolean(),
          target: fc.nat(4000),
          budget: fc.nat(4000),
        }),
        (session, { keep, turns: keepRecentTurns, force, target, budget }) => {
          const meter = new TokenMeter(session)
          const options = {
            budget: { tokens: budget },
            target: { tokens: target },
            keepRecentTokens: keep,
            keepRecentTurns,
            force,
            summaryTokens: 20,
          }
          const made = planCompaction(session, meter, options)
          if (made.kind === 'none') return
          const { startSeq, endSeq, seqs, tokens } = made.range
          const nodes = [...session.surface.nodes]
          const start = session.eventAt(nodes[0] ?? 0)?.type === 'system/message' ? 1 : 0
          expect(seqs).toEqual(nodes.slice(start, start + seqs.length))
          expect([seqs[0], seqs.at(-1)]).toEqual([startSeq, endSeq])
          expect(balancedBefore(session, startSeq) && balancedAfter(session, endSeq)).toBe(true)
          expect(tokens).toBeGreaterThan(20)
          const kept = nodes.slice(start + seqs.length).reduce((sum, seq) => sum + meter.entry(seq).tokens, 0)
          const next = nodes[nodes.length - 1 - nodes.slice(start + seqs.length).length]
          // What stays is at least what had to, unless the next entry alone is more than that.
          if (!force && next !== undefined) expect(kept + meter.entry(next).tokens).toBeGreaterThan(keep)
        },
      ),
      runs(50),
    )
  })
})

describe('the largest entries that stay', () => {
  it('are named with their reasons', () => {
    const session = turns(0)
    say(session, word)
    call(session, 'a')
    const pinned = largestPinned(session, flat(session), 3)
    expect(pinned).toEqual([
      { seq: 0, tokens: 100, reason: 'system-head' },
      { seq: 1, tokens: 100, reason: 'recent' },
      { seq: sessionSeq(2), tokens: 0, reason: 'open-call' },
    ])
    expect(largestPinned(session, flat(session), 1)).toHaveLength(1)
  })
})

function sayData(session: Session): object {
  return { id: `u-${session.length}`, role: 'user', content: [{ type: 'text', text: word }], source: { kind: 'user' } }
}
function assistantOf(session: Session): object {
  const source = { kind: 'model', provider: 'p', model: 'm' }
  return { id: `a-${session.length}`, role: 'assistant', content: [{ type: 'text', text: word }], source }
}
