import type { Message, Session, SessionSeq } from '@palimpsest/session'
import { balancedAfter, balancedBefore } from '@palimpsest/compact'
import fc from 'fast-check'
import { expect } from 'vitest'
import { type BasicCompactionOptions, basicCompaction } from '@palimpsest/compact-basic'
import {
  answer,
  byLength,
  call,
  expectValid,
  fresh,
  joinTags,
  originsOf,
  reply,
  runs,
  say,
  tagged,
  tagsOf,
} from './support.ts'

/** A turn: how long the prompt is, and for each step the lengths of its results; a turn of no step ends on the prompt. */
interface Turn {
  readonly prompt: number
  readonly steps: readonly (readonly number[])[]
  /** What is asked for after it. */
  readonly after: 'nothing' | 'manual' | 'overflow'
}

const anyLength = fc.oneof({ arbitrary: fc.nat(200), weight: 4 }, { arbitrary: fc.nat(3000), weight: 1 })
const anyTurn: fc.Arbitrary<Turn> = fc.record({
  prompt: anyLength,
  steps: fc.array(fc.array(anyLength, { maxLength: 4 }), { maxLength: 6 }),
  after: fc.oneof(
    { arbitrary: fc.constant('nothing' as const), weight: 8 },
    { arbitrary: fc.constantFrom('manual' as const, 'overflow' as const), weight: 1 },
  ),
})
const anyPolicy = fc.record({
  tokens: fc.integer({ min: 600, max: 6000 }),
  keepRecentTokens: fc.nat(1500),
  keepRecentTurns: fc.nat(2),
  highWater: fc.constantFrom(0.7, 0.9, 1),
  lowWater: fc.constantFrom(0.2, 0.5),
})

/** Drives a session through turns with a policy; the summary is the tags of what it stands for. */
class Driven {
  readonly session: Session = fresh()
  readonly #policy: Partial<BasicCompactionOptions>
  #tags = 0
  #before: readonly Message[] = []
  #generation = 0

  constructor(policy: Partial<BasicCompactionOptions>) {
    this.#policy = policy
  }

  async run(turns: readonly Turn[]): Promise<void> {
    const { session } = this
    const compaction = basicCompaction({
      session,
      summarize: (request) => {
        this.#checkInput(request.seqs)
        return joinTags(request)
      },
      estimate: byLength,
      summaryTokens: 60,
      ...this.#policy,
    } as BasicCompactionOptions)
    for (const { prompt, steps, after } of turns) {
      const failuresAtMost = 2
      let helpless = 0
      const pre = async (): Promise<void> => {
        const started = brackets(session)
        const { kind } = await compaction.compactIfNeeded('threshold')
        if (kind === 'no-progress' && brackets(session) > started) helpless += 1
        this.#checkSurface()
      }
      say(session, this.#text(prompt))
      for (const results of steps) {
        await pre()
        const ids = results.map((_, at) => `c-${session.length}-${at}`)
        call(session, this.#text(20), ...ids)
        for (const [at, length] of results.entries()) answer(session, ids[at] ?? '', this.#text(length))
      }
      await pre()
      reply(session, this.#text(30))
      if (after !== 'nothing') await compaction.compactIfNeeded(after)
      this.#checkSurface()
      expect(helpless).toBeLessThanOrEqual(failuresAtMost)
    }
  }

  #text(length: number): string {
    this.#tags += 1
    return tagged(this.#tags, length)
  }

  /** Balanced, past the head, and all that stands between them on the surface. */
  #checkInput(seqs: readonly SessionSeq[]): void {
    const { session } = this
    const [first, last] = [seqs[0] as SessionSeq, seqs.at(-1) as SessionSeq]
    expect(balancedBefore(session, first) && balancedAfter(session, last)).toBe(true)
    expect(seqs).toEqual(session.surface.nodes.slice(1, 1 + seqs.length))
  }

  /** SC-01 and prefix stability: every tag is shown once and in order, and what was shown changes by replacements only. */
  #checkSurface(): void {
    const { session } = this
    const derived = session.deriveMessages()
    expect(tagsOf(derived)).toEqual(Array.from({ length: this.#tags }, (_, at) => at + 1))
    const { replaceGeneration } = session.surface
    if (replaceGeneration === this.#generation) {
      expect(this.#before.every((message, at) => derived[at] === message)).toBe(true)
    }
    this.#before = derived
    this.#generation = replaceGeneration
  }
}

const brackets = (session: Session): number => session.events.filter(({ type }) => type === 'compaction/start').length

/** The laws of compaction over any policy and any turns. Returns how many compactions replaced something. */
export async function checkLaws(numRuns: number): Promise<number> {
  let replaced = 0
  const property = fc.asyncProperty(
    fc.array(anyTurn, { minLength: 1, maxLength: 12 }),
    anyPolicy,
    async (turns, policy) => {
      const { tokens, ...rest } = policy
      const driven = new Driven({ budget: { tokens }, ...rest })
      await driven.run(turns)
      const { session } = driven
      expectValid(session)
      const appended = session.events.filter((event) => 'surfaceOp' in event && event.surfaceOp === 'append')
      expect(originsOf(session)).toEqual(appended.map(({ seq }) => seq))
      replaced += session.surface.replaceGeneration
    },
  )
  await fc.assert(property, runs(numRuns))
  return replaced
}
