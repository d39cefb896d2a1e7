import { type CompactionOutcome, type Summarize, runCompaction } from '@palimpsest/compact'
import { type Session, type SessionEvent, explain, interruptedTurnClosers, isSurfaceType } from '@palimpsest/session'
import { transcriptProblems } from '@palimpsest/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyMoves, anyMake, grow, pickRange, reopened, restored, runs, seed, shown } from './random.ts'
import { deferred, measure } from './support.ts'
import { violations } from './providers.ts'

const pick = fc.nat({ max: 9999 })

/** A summary always shrinks its range: random entries may hold nothing at all. */
function shrinking(): () => number {
  let calls = 0
  return () => (calls++ === 0 ? 2 : 1)
}

async function compact(session: Session, at: number, summarize: Summarize): Promise<CompactionOutcome | undefined> {
  const range = pickRange(session, at)
  if (range === undefined) return undefined
  return runCompaction(session, range, summarize, { trigger: 'threshold', measure: shrinking() })
}

/** What the events on the surface stand for, in surface order. */
const originsOf = (session: Session, seqs: readonly number[]): number[] =>
  seqs.flatMap((seq) => explain(session.events, seq).origins)

const appendedTo = ({ events }: Session): number[] =>
  events.flatMap(({ type, seq, surfaceOp }) => (isSurfaceType(type) && surfaceOp === 'append' ? [seq] : []))

const inOrder = (seqs: readonly number[]): number[] => seqs.toSorted((a, b) => a - b)

/** One test per law. `share` 1 is for every change; more is for long runs. */
export function describeLaws(share: number): void {
  const few = (count: number): ReturnType<typeof runs> => runs(count * share)
  describe(`laws of compaction, seed ${seed}`, () => {
    it('coverage: what is gone was in the input of the summary, and the surface stands for every event, none twice', async () => {
      let compactions = 0
      const rounds = fc.array(fc.tuple(pick, anyMoves), { minLength: 2, maxLength: 4 })
      await fc.assert(
        fc.asyncProperty(anyMake, rounds, async (make, each) => {
          const session = make()
          for (const [at, moves] of each) {
            const before = shown(session)
            let input: readonly number[] = []
            const outcome = await compact(session, at, ({ seqs }) => {
              input = seqs
              return { text: 'Summary' }
            })
            if (outcome === undefined) continue
            expect(outcome.kind).toBe('compacted')
            compactions += 1
            const after = new Set(shown(session))
            expect(before.filter((seq) => !after.has(seq))).toEqual(input)
            expect(inOrder(originsOf(session, shown(session)))).toEqual(appendedTo(session))
            grow(session, moves)
          }
        }),
        few(16),
      )
      expect(compactions).toBeGreaterThan(0)
    })

    it('balance: whatever was compacted derives a transcript that every provider accepts', async () => {
      const rounds = fc.array(fc.tuple(pick, anyMoves, anyMoves), { minLength: 1, maxLength: 3 })
      await fc.assert(
        fc.asyncProperty(anyMake, rounds, async (make, each) => {
          const session = make()
          for (const [at, meanwhile, moves] of each) {
            await compact(session, at, () => {
              grow(session, meanwhile)
              return { text: 'Summary' }
            })
            grow(session, moves)
          }
          const messages = closed(session.events, session).deriveMessages()
          expect(transcriptProblems(messages)).toEqual([])
          expect(violations(messages)).toEqual([])
        }),
        few(16),
      )
    })

    it('crash at any event of the bracket: the session restores, derives valid messages and compacts again', async () => {
      await fc.assert(
        fc.asyncProperty(anyMake, pick, anyMoves, async (make, at, meanwhile) => {
          const session = make()
          const begin = session.length
          await compact(session, at, () => {
            grow(session, meanwhile.slice(0, 4))
            return { text: 'Summary' }
          })
          for (let length = begin; length <= session.length; length += 1) {
            const again = closed(reopened(session, length).events, session)
            expect(violations(again.deriveMessages())).toEqual([])
            const outcome = await compact(again, at, () => ({ text: 'Summary' }))
            expect(outcome?.kind ?? 'compacted').toBe('compacted')
          }
        }),
        few(10),
      )
    })

    it('a summariser that hangs, throws, says nothing, says too much or is aborted changes nothing', async () => {
      const bad = fc.constantFrom<keyof typeof badSummarisers>('hangs', 'throws', 'blank', 'too much', 'aborted')
      await fc.assert(
        fc.asyncProperty(anyMake, pick, bad, anyMoves, async (make, at, how, moves) => {
          const session = make()
          const range = pickRange(session, at)
          fc.pre(range !== undefined)
          const nodes = shown(session)
          const messages = session.deriveMessages()
          const outcome = await badSummarisers[how](session, range)
          expect(outcome.kind).toBe('failed')
          expect(shown(session)).toEqual(nodes)
          expect(session.deriveMessages()).toBe(messages)
          expect((await compact(session, at, () => ({ text: 'Summary' })))?.kind).toBe('compacted')
          grow(session, moves)
        }),
        few(16),
      )
    })
  })
}

type Range = Parameters<typeof runCompaction>[1]

const badSummarisers = {
  hangs: (session: Session, range: Range) =>
    runCompaction(session, range, () => deferred<never>().promise, { trigger: 'manual', timeoutMs: 1 }),
  throws: (session: Session, range: Range) =>
    runCompaction(session, range, () => Promise.reject(new Error('overloaded')), { trigger: 'manual' }),
  blank: (session: Session, range: Range) =>
    runCompaction(session, range, () => ({ text: '\n' }), { trigger: 'manual' }),
  'too much': (session: Session, range: Range) =>
    runCompaction(session, range, ({ messages }) => ({ text: JSON.stringify(messages) }), {
      trigger: 'manual',
      measure,
    }),
  aborted: (session: Session, range: Range) => {
    const controller = new AbortController()
    const running = runCompaction(session, range, () => deferred<never>().promise, {
      trigger: 'manual',
      signal: controller.signal,
    })
    controller.abort()
    return running
  },
} satisfies Record<string, (session: Session, range: Range) => Promise<CompactionOutcome>>

/** The session as a resume finds it: what the crash left open is closed. */
function closed(events: readonly SessionEvent[], { header }: Session): Session {
  return restored(header, [...events, ...interruptedTurnClosers(events)])
}
