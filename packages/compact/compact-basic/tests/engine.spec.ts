import { CompactionError, type CompactionOutcome, type Summarize } from '@palimpsest/compact'
import { Session, type SessionSeq, sessionSeq } from '@palimpsest/session'
import { systemData, text, userData } from '@palimpsest/testkit'
import { describe, expect, it } from 'vitest'
import {
  type BasicCompaction,
  type BasicCompactionOptions,
  CompactBasicError,
  type CompactableLoop,
  type FailedRequest,
  type PreStep,
  basicCompaction,
  frameSummary,
} from '@palimpsest/compact-basic'
import { add, byLength, call, expectValid, fresh, joinTags, pendingUser, reply, say, tagged } from './support.ts'

/** Turns of 200 tokens each, behind a head of 14. */
function turns(count: number): Session {
  const session = fresh()
  for (let n = 0; n < count; n += 1) {
    say(session, tagged(2 * n, 100))
    reply(session, tagged(2 * n + 1, 100))
  }
  return session
}
const engine = (session: Session, options: Partial<BasicCompactionOptions> = {}): BasicCompaction =>
  basicCompaction({
    session,
    summarize: joinTags,
    budget: { tokens: 2000 },
    estimate: byLength,
    ...options,
  } as BasicCompactionOptions)

describe('options', () => {
  it.each<[string, object]>([
    ['budget.tokens', { budget: { tokens: 0 } }],
    ['budget.images', { budget: { tokens: 10, images: -1 } }],
    ['lowWater', { lowWater: 0.9, highWater: 0.9 }],
    ['highWater', { highWater: 1.1 }],
    ['keepRecentTokens', { keepRecentTokens: -1 }],
    ['contextWindow', { budget: undefined, contextWindow: 0 }],
    ['reserve', { budget: undefined, contextWindow: 100, reserve: 100 }],
    ['timeoutMs', { timeoutMs: 0 }],
    ['compaction/start', { session: Session.create() }],
  ])('are refused by name: %s', (name, options) => {
    const making = (): unknown => engine(fresh(), options)
    expect(making).toThrow(CompactBasicError)
    expect(making).toThrow(name)
  })

  it('take the context of a model less what stays free for the answer', () => {
    const session = fresh()
    const summarize = joinTags
    expect(basicCompaction({ session, summarize, contextWindow: 200_000 }).preview().budget).toEqual({
      tokens: 175_000,
    })
    const tight = basicCompaction({ session, summarize, contextWindow: 1_000_000, reserve: 1 })
    expect(tight.preview().budget).toEqual({ tokens: 999_999 })
  })
})

describe('an automatic compaction', () => {
  it('acts above the high water mark and comes down to the low one', async () => {
    const compaction = engine(turns(8), { highWater: 0.8, lowWater: 0.5 })
    expect(compaction.meter.usage().tokens).toBe(1614)
    const outcome = await compaction.compactIfNeeded('threshold')
    expect(outcome.kind).toBe('compacted')
    expect(compaction.meter.usage().tokens).toBeLessThanOrEqual(1000 + 250)
    expect(compaction.meter.usage().tokens).toBeGreaterThan(700)
    expect(await engine(turns(7)).compactIfNeeded('threshold')).toEqual({
      kind: 'none',
      refusal: { reason: 'below-threshold', tokens: 1414, budget: 1700 },
    })
  })

  it('counts what the next request adds', async () => {
    const compaction = engine(turns(7))
    const pending = [pendingUser('p', 'x'.repeat(400))]
    expect(await compaction.compactIfNeeded('threshold', { pending })).toMatchObject({ kind: 'compacted' })
  })

  it('acts on bytes and on images alone, though all that is there would count as recent by its tokens', async () => {
    const byBytes = engine(turns(7), { budget: { tokens: 90_000, bytes: 2000 }, summaryTokens: 90 })
    const { plan } = byBytes.preview('threshold')
    expect(await byBytes.compactIfNeeded('threshold')).toMatchObject({
      kind: 'compacted',
      shadowedSeqs: plan.kind === 'range' ? plan.range.seqs : [],
    })
    expect(byBytes.meter.usage().bytes).toBeLessThanOrEqual(1700)
    const session = turns(3)
    const attachment = { attachmentId: `sha256:${'0'.repeat(64)}`, mediaType: 'image/png', bytes: 30 }
    for (let n = 0; n < 9; n += 1)
      add(session, 'user/message', userData(`i-${n}`, [{ type: 'image', attachment }]), { surfaceOp: 'append' })
    const byImages = engine(session, { budget: { tokens: 90_000, images: 8 }, summaryTokens: 90 })
    expect(await byImages.compactIfNeeded('threshold')).toMatchObject({ kind: 'compacted' })
    expect(byImages.meter.usage().images).toBe(4)
  })

  describe('of a session with many small images and little text', () => {
    const attachment = { attachmentId: `sha256:${'0'.repeat(64)}`, mediaType: 'image/png', bytes: 30 }
    const icons = (session: Session, count: number): void => {
      for (let n = 0; n < count; n += 1) {
        const icon = userData(`i-${session.length}`, [{ type: 'image', attachment }])
        // No user says it, so it arms nothing.
        const source = { kind: 'plugin', plugin: 'camera' }
        add(session, 'user/message', { ...icon, source }, { surfaceOp: 'append' })
      }
    }
    const options = {
      budget: { tokens: 100_000, images: 20 },
      estimate: { ...byLength, imageTokens: () => 85 },
    } satisfies Partial<BasicCompactionOptions>

    it('takes them off where they are too many, though they have fewer tokens than a summary is taken to cost', async () => {
      const session = fresh()
      icons(session, 21)
      const compaction = engine(session, { ...options, summarize: () => ({ text: 'Twenty icons.' }) })
      expect(await compaction.compactIfNeeded('threshold')).toMatchObject({ kind: 'compacted' })
      expect(compaction.meter.usage().images).toBe(10)
    })

    it('takes a summary of more tokens than they have, as long as there is room for it, and no other', async () => {
      const session = fresh()
      icons(session, 21)
      const summarize: Summarize = () => ({ text: 'x'.repeat(5000) })
      expect(await engine(session, { ...options, summarize }).compactIfNeeded('threshold')).toMatchObject({
        kind: 'compacted',
      })
      expect(
        await engine(session, { ...options, summarize }).compactRegion(seqAt(session, 2), seqAt(session, 3)),
      ).toMatchObject({ code: 'not-smaller' })
      const tight = fresh()
      icons(tight, 21)
      const budget = { tokens: 4000, images: 20 }
      expect(await engine(tight, { ...options, summarize, budget }).compactIfNeeded('threshold')).toMatchObject({
        code: 'not-smaller',
      })
    })

    it('helped when it took the images off, whatever share of the tokens they had', async () => {
      const session = fresh()
      say(session, 'x'.repeat(50_000))
      reply(session, 'ok')
      const summarize: Summarize = ({ messages }) => ({ text: 'x'.repeat(50_000 + messages.length) })
      const compaction = engine(session, { ...options, summarize })
      for (let round = 0; round < 4; round += 1) {
        icons(session, 21 - compaction.meter.usage().images)
        expect(await compaction.compactIfNeeded('threshold')).toMatchObject({ kind: 'compacted' })
      }
    })

    const seqAt = (session: Session, position: number): SessionSeq => session.surface.nodes[position] as SessionSeq
  })

  it('is told to nobody while nothing is wanted, and else once', async () => {
    const heard: CompactionOutcome[] = []
    const compaction = engine(turns(8), { onOutcome: (outcome) => heard.push(outcome), highWater: 0.8 })
    const outcome = await compaction.compactIfNeeded('threshold')
    await compaction.compactIfNeeded('threshold')
    expect(heard).toEqual([outcome])
  })
})

describe('progress', () => {
  it('is none where a summary takes off less than a twentieth, though the session then is within its mark', async () => {
    const session = turns(8)
    const { meter } = engine(session)
    // 40 tokens less than what it read, frame included.
    const summarize: Summarize = ({ messages }) => ({
      text: 'x'.repeat(meter.measure(messages).tokens - 40 - frameSummary('').length),
    })
    const compaction = engine(session, { summarize, keepRecentTokens: 200 })
    const outcomes: string[] = []
    for (let round = 0; round < 3; round += 1) {
      reply(session, 'x'.repeat(1710 - compaction.meter.usage().tokens))
      const { kind } = await compaction.compactIfNeeded('threshold')
      outcomes.push(kind)
    }
    expect(outcomes).toEqual(['compacted', 'no-progress', 'no-progress'])
  })

  it('is not judged by an engine whose session another one is compacting', async () => {
    const session = turns(9)
    let finish: () => void = () => undefined
    const summarize: Summarize = async () => {
      await new Promise<void>((resolve) => (finish = resolve))
      return { text: tagged(0, 900) }
    }
    const running = engine(session, { summarize }).compactNow()
    const other = engine(session)
    for (let round = 0; round < 3; round += 1) {
      expect(await other.compactIfNeeded('threshold')).toMatchObject({ code: 'busy' })
    }
    finish()
    expect(await running).toMatchObject({ kind: 'compacted' })
    for (let step = 0; step < 3; step += 1) reply(session, tagged(90 + step, 150))
    expect(await other.compactIfNeeded('threshold')).toMatchObject({ kind: 'compacted' })
  })
})

describe('a preview', () => {
  it('is the plan of what follows, with tokens before and after, and writes nothing', async () => {
    const session = turns(8)
    const compaction = engine(session, { summaryTokens: 90 })
    const { length } = session
    const { plan, tokensBefore, tokensAfter, usage } = compaction.preview()
    expect(session.length).toBe(length)
    expect(usage.tokens).toBe(tokensBefore)
    if (plan.kind === 'none') throw new Error(plan.refusal.reason)
    expect(tokensAfter).toBe(tokensBefore - plan.range.tokens + 90)
    expect(await compaction.compactNow()).toMatchObject({ shadowedSeqs: plan.range.seqs })
    expect(compaction.preview('threshold').plan).toMatchObject({ refusal: { reason: 'below-threshold' } })
  })
})

describe('a compaction by hand', () => {
  it('takes the range that it is told, and refuses one that cuts a call from its result', async () => {
    const session = turns(3)
    const compaction = engine(session, { estimate: { countTokens: (words) => (words.startsWith('#0') ? 900 : 400) } })
    expect(await compaction.compactRegion(sessionSeq(1), sessionSeq(2))).toMatchObject({ shadowedSeqs: [1, 2] })
    call(session, 'x', 'open')
    const last = sessionSeq(session.length - 1)
    await expect(compaction.compactRegion(last, last)).rejects.toThrow(CompactionError)
  })

  it('says why it did nothing', async () => {
    expect(await engine(fresh()).compactNow()).toEqual({ kind: 'none', refusal: { reason: 'nothing-to-gain' } })
    expect(await engine(fresh()).compactIfNeeded('manual')).toMatchObject({ kind: 'none' })
  })
})

describe('a summariser that', () => {
  const failing: [string, Summarize, string][] = [
    ['hangs', () => new Promise(() => undefined), 'timeout'],
    ['throws', () => Promise.reject(new Error('no model')), 'summarizer-failed'],
    ['answers with blanks', () => ({ text: ' \n' }), 'blank-summary'],
    ['writes more than it read', () => ({ text: 'x'.repeat(9000) }), 'not-smaller'],
    ['is no summariser', () => undefined as never, 'summarizer-failed'],
  ]
  it.each(failing)(
    '%s leaves the surface as it was, and after two attempts is not asked again',
    async (_, summarize, code) => {
      const session = turns(10)
      const before = [...session.surface.nodes]
      let asked = 0
      const count: Summarize = (request) => {
        asked += 1
        return summarize(request)
      }
      const compaction = engine(session, { summarize: count, timeoutMs: 1 })
      for (let step = 0; step < 2; step += 1) {
        expect(await compaction.compactIfNeeded('threshold')).toMatchObject({ kind: 'failed', code })
      }
      expect(await compaction.compactIfNeeded('threshold')).toMatchObject({ kind: 'no-progress' })
      expect(asked).toBe(2)
      expect([...session.surface.nodes]).toEqual(before)
      say(session, 'Go on.')
      expectValid(session)
      expect(await compaction.compactIfNeeded('threshold')).toMatchObject({ kind: 'failed' })
    },
  )

  it('is aborted fails as aborted, and that does not count against it', async () => {
    const controller = new AbortController()
    const compaction = engine(turns(10), {
      summarize: () => {
        controller.abort()
        return new Promise(() => undefined)
      },
    })
    for (let step = 0; step < 4; step += 1) {
      const outcome = await compaction.compactIfNeeded('threshold', { signal: controller.signal })
      expect(outcome).toMatchObject({ kind: 'failed', code: 'aborted' })
    }
  })
})

describe('a refusal of the provider', () => {
  it('outranks the meter, and is the budget until the config changes', async () => {
    const session = turns(6)
    const config = { provider: 'p', model: 'm' }
    add(session, 'request/header', { header: { config }, reason: 'initial' })
    const compaction = engine(session, { budget: { tokens: 100_000 } })
    expect(await compaction.compactIfNeeded('threshold')).toMatchObject({ kind: 'none' })
    expect(await compaction.compactIfNeeded('overflow')).toMatchObject({ kind: 'compacted' })
    expect(compaction.preview().budget).toEqual({ tokens: 1214 })
    expect(compaction.meter.usage().tokens).toBeLessThan(1214 * 0.85)
    for (let n = 0; n < 5; n += 1) say(session, tagged(90 + n, 150))
    expect(await compaction.compactIfNeeded('threshold')).toMatchObject({ kind: 'compacted' })
    add(session, 'request/header', { header: { config: { ...config, model: 'm-2' } }, reason: 'change' })
    expect(compaction.preview().budget).toEqual({ tokens: 100_000 })
  })

  it('of more than was refused before raises nothing', async () => {
    const session = turns(6)
    const compaction = engine(session, { budget: { tokens: 100_000 }, summarize: () => ({ text: 'x'.repeat(800) }) })
    await compaction.compactIfNeeded('overflow')
    for (let n = 0; n < 5; n += 1) say(session, tagged(90 + n, 300))
    await compaction.compactIfNeeded('overflow')
    expect(compaction.preview().budget).toEqual({ tokens: 1214 })
  })

  it('of a session with nothing to compact is no-progress', async () => {
    const session = fresh()
    say(session, 'x'.repeat(3000))
    const compaction = engine(session, { budget: { tokens: 100_000 } })
    expect(await compaction.compactIfNeeded('overflow')).toMatchObject({
      kind: 'no-progress',
      tokens: 3014,
      largest: [{ tokens: 3000, reason: 'recent' }, { reason: 'system-head' }],
    })
  })
})

describe('attached to a loop', () => {
  function loopOf(): CompactableLoop & {
    preStep: (context: Partial<PreStep>) => unknown
    failed: (context: Partial<FailedRequest>) => unknown
    count: () => number
  } {
    const listeners = new Map<string, (context: never) => unknown>()
    return {
      on: (hook: string, listener: (context: never) => unknown) => {
        listeners.set(hook, listener)
        return () => void listeners.delete(hook)
      },
      preStep: (context) => listeners.get('agent/pre-step')?.(context as never),
      failed: (context) => listeners.get('agent/request-error')?.(context as never),
      count: () => listeners.size,
    }
  }
  const { signal } = new AbortController()

  it('stops a turn that would go out over the budget, naming what is largest, unless it is told to go on', async () => {
    const session = fresh()
    add(session, 'user/message', pendingUser('huge', 'x'.repeat(5000)), { surfaceOp: 'append' })
    const loop = loopOf()
    const detach = engine(session).attach(loop)
    const stopped = await Promise.resolve(loop.preStep({ session, signal, input: [] })).catch((error: unknown) => error)
    expect(stopped).toBeInstanceOf(CompactBasicError)
    expect(stopped).toMatchObject({ code: 'no-progress', largest: [{ seq: 1, tokens: 5000 }, { seq: 0 }] })
    expect((stopped as Error).message).toContain('event 1 (recent, 5000 tokens)')
    detach()
    expect(loop.count()).toBe(0)
    engine(session, { onNoProgress: 'continue' }).attach(loop)
    await loop.preStep({ session, signal, input: [] })
  })

  it('lets a request go that still fits between the high water mark and the budget', async () => {
    const session = fresh({ id: 'other' })
    add(session, 'system/message', systemData('h', [text('x'.repeat(1800))]), {
      surfaceOp: { op: 'replace', startSeq: 0, endSeq: 0 },
      sourceEventSeqs: [0],
    })
    say(session, 'hello')
    const loop = loopOf()
    const compaction = engine(session)
    compaction.attach(loop)
    await loop.preStep({ session, signal, input: [] })
    expect(await compaction.compactIfNeeded('threshold')).toEqual({
      kind: 'none',
      refusal: { reason: 'nothing-to-gain' },
    })
  })

  it('answers an overflow with a retry when that helped, and leaves other failures and other sessions alone', async () => {
    const session = turns(6)
    const loop = loopOf()
    engine(session).attach(loop)
    const failed = { session, signal, kind: 'overflow' } as const
    expect(await loop.failed({ ...failed, kind: 'retryable' })).toBeUndefined()
    expect(await loop.failed({ ...failed, session: fresh() })).toBeUndefined()
    expect(await loop.failed(failed)).toBe('retry')
    const small = fresh()
    const other = loopOf()
    engine(small).attach(other)
    expect(await other.failed({ ...failed, session: small })).toBe('fail')
  })

  it('sends a request again whenever the surface became smaller, also where that was the last attempt', async () => {
    const session = turns(6)
    const loop = loopOf()
    const outcomes: CompactionOutcome[] = []
    engine(session, { budget: { tokens: 300 }, onOutcome: (outcome) => outcomes.push(outcome) }).attach(loop)
    const failed = { session, signal, kind: 'overflow' } as const
    for (let n = 12; n < 14; n += 1) {
      expect(await loop.failed(failed)).toBe('retry')
      reply(session, tagged(n, 400))
      reply(session, tagged(n, 400))
    }
    expect(outcomes.map(({ kind }) => kind)).toEqual(['compacted', 'no-progress'])
    expect(await loop.failed(failed)).toBe('fail')
  })

  it('waits for a compaction that is under way, and goes by what became of it', async () => {
    const session = turns(6)
    const failed = { session, signal, kind: 'overflow' } as const
    for (const [summary, verdict] of [
      ['', 'fail'],
      ['short', 'retry'],
    ] as const) {
      let release = (): void => undefined
      const held = new Promise<void>((resolve) => (release = resolve))
      const byHand = engine(session, { summarize: () => held.then(() => ({ text: summary })) }).compactNow()
      const loop = loopOf()
      engine(session).attach(loop)
      const answer = loop.failed(failed)
      release()
      await byHand
      expect(await answer).toBe(verdict)
    }
  })
})
