import type { Session, SessionSeq } from '@palimpsest/session'
import { text, userData } from '@palimpsest/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type PreStepHook,
  type PruningReport,
  resultPruning,
  SurfaceMeter,
  ToolResultPrunerError,
} from '../src/index.ts'
import { anyMoves, fresh, image, play, seed, use } from './sessions.ts'

/** A loop that has only the hook. */
function hookOnly(): { loop: PreStepHook; step: (session: Session) => void } {
  const listeners = new Set<(context: { readonly session: Session }) => void>()
  return {
    loop: {
      on(_, listener) {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
    },
    step: (session) => {
      for (const listener of listeners) listener({ session })
    },
  }
}

const big = (): { type: 'text'; text: string } => text('x'.repeat(1000))
const results = { maxBytes: 100, keepRecent: 0, highWater: 2500, lowWater: 500 }

describe('the pruning plugin', () => {
  it('runs before each step until it is detached, and reports what it did', () => {
    const { loop, step } = hookOnly()
    const reports: PruningReport[] = []
    const detach = resultPruning({ results, onReport: (report) => reports.push(report) }).attach(loop)
    const session = fresh()
    for (let count = 0; count < 4; count += 1) {
      use(session, [big()])
      step(session)
    }
    expect(reports.map((report) => report.results?.replaced.length)).toEqual([3])
    expect(reports[0]?.images?.kind).toBe('under')
    detach()
    const { length } = session
    for (let count = 0; count < 4; count += 1) use(session, [big()])
    step(session)
    expect(session.length).toBe(length + 12)
  })

  it('keeps books on several sessions apart', () => {
    const pruning = resultPruning({ results })
    const [one, other] = [fresh(), fresh()]
    use(one, [big()])
    for (let count = 0; count < 3; count += 1) use(other, [big()])
    expect(pruning.run(one).results?.kind).toBe('under')
    expect(pruning.run(other).results?.kind).toBe('pruned')
    expect(pruning.run(one).results).toMatchObject({ kind: 'under', bytesBefore: 1000 })
  })

  it('leaves alone what is turned off', () => {
    const session = fresh()
    use(session, [big(), image(9)])
    expect(resultPruning({ results: false, images: { maxImages: 0 } }).run(session)).not.toHaveProperty('results')
    expect(resultPruning({ results: false, images: false }).run(session)).toEqual({})
  })

  it('finds a wrong option where it is written', () => {
    expect(() => resultPruning({ results: { maxBytes: -1 } })).toThrowError(ToolResultPrunerError)
    expect(() => resultPruning({ images: { maxImages: 1, keepRecent: 2 } })).toThrowError(ToolResultPrunerError)
  })

  it(`a meter that followed a session agrees with a fresh one, seed ${seed}`, () => {
    fc.assert(
      fc.property(fc.array(anyMoves, { maxLength: 4 }), fc.nat({ max: 300 }), (parts, maxBytes) => {
        const session = fresh()
        const meter = new SurfaceMeter(session)
        const pruning = resultPruning({
          results: { maxBytes, highWater: 300, keepRecent: 1 },
          images: { maxImages: 2, keepRecent: 1 },
        })
        for (const moves of parts) {
          play(moves, session)
          pruning.run(session)
          expect(meter.sums).toEqual(new SurfaceMeter(session).sums)
        }
      }),
      { numRuns: 30, seed },
    )
  })

  it('a meter counts nothing of a range that gave way to a summary', () => {
    const session = fresh()
    const meter = new SurfaceMeter(session)
    for (let turn = 0; turn < 3; turn += 1) {
      use(session, [text('x'.repeat(100)), image(10)])
    }
    expect(meter.sums).toEqual({ results: 3, resultBytes: 300, images: 3, imageBytes: 30 })
    const covered = session.surface.nodes.slice(1, 5)
    const [startSeq, endSeq] = [covered[0], covered.at(-1)] as [SessionSeq, SessionSeq]
    session.append('user/message', userData('summary', [text('S')]), {
      surfaceOp: { op: 'replace', startSeq, endSeq },
      sourceEventSeqs: covered,
    })
    expect(meter.sums).toEqual({ results: 1, resultBytes: 100, images: 1, imageBytes: 10 })
  })
})
