import { explain, foldSurface, traceFindings } from '@palimpsest/session'
import { text } from '@palimpsest/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { measureSurface, planPruning, pruneText, pruneToolResults, ToolResultPrunerError } from '../src/index.ts'
import { anyMoves, bytesOf, contentAt, fresh, image, play, reply, say, seed, use, violations } from './sessions.ts'

const NOW = { highWater: 0, lowWater: 0, keepRecent: 0 }
const RUNS = { numRuns: 60, seed }
const big = (bytes: number): string => 'x'.repeat(bytes)

const anyOptions = fc.record({
  maxBytes: fc.nat({ max: 600 }),
  keepRecent: fc.nat({ max: 3 }),
  highWater: fc.nat({ max: 2000 }),
  lowWater: fc.constant(0),
})

describe(`pruning tool results, seed ${seed}`, () => {
  it('leaves any session valid for the providers, its pairs intact and its origins unchanged', () => {
    fc.assert(
      fc.property(anyMoves, anyOptions, (moves, options) => {
        const session = play(moves)
        const before = [...session.surface.nodes]
        const origins = before.map((seq) => explain(session.events, seq).origins)
        const outcome = pruneToolResults(session, options)
        expect(violations(session)).toEqual([])
        expect(traceFindings(session.events.slice(session.length - outcome.replaced.length))).toEqual([])
        const after = session.surface.nodes
        expect(after.map((seq) => explain(session.events, seq).origins)).toEqual(origins)
        expect(foldSurface(session.events).nodes).toEqual(after)
        for (const { seq, by, bytesBefore, bytesAfter } of outcome.replaced) {
          expect(bytesAfter).toBeLessThan(bytesBefore)
          expect(after[before.indexOf(seq)]).toBe(by)
          expect(explain(session.events, by).cites).toContain(seq)
        }
      }),
      RUNS,
    )
  })

  it('finds nothing more to do on what it left', () => {
    fc.assert(
      fc.property(anyMoves, fc.nat({ max: 600 }), (moves, maxBytes) => {
        const session = play(moves)
        pruneToolResults(session, { ...NOW, maxBytes })
        const written = bytesOf(session)
        expect(pruneToolResults(session, { ...NOW, maxBytes }).replaced).toEqual([])
        expect(bytesOf(session)).toBe(written)
      }),
      RUNS,
    )
  })

  it('plans without a write what it then does, and sums up as a fresh measurement does', () => {
    fc.assert(
      fc.property(anyMoves, anyOptions, (moves, options) => {
        const session = play(moves)
        const written = bytesOf(session)
        const plan = planPruning(session, options)
        expect(bytesOf(session)).toBe(written)
        const outcome = pruneToolResults(session, options)
        expect(outcome.replaced.map(({ seq, bytesAfter }) => ({ seq, bytesAfter }))).toEqual(
          plan.map(({ seq, bytesAfter }) => ({ seq, bytesAfter })),
        )
        expect(outcome.replaced.map(({ by }) => session.eventAt(by)?.data)).toEqual(plan.map(({ data }) => data))
        expect(outcome.bytesAfter).toBe(measureSurface(session).resultBytes)
      }),
      RUNS,
    )
  })

  it('keeps images and errors where they are, and gives several texts one budget', () => {
    const session = fresh()
    use(session, [text(big(900)), image(10, 1), text(big(900)), image(10, 2), text('end')], { isError: true })
    const { replaced } = pruneToolResults(session, { ...NOW, maxBytes: 400 })
    const event = session.eventAt(replaced[0]?.by ?? -1)
    const content = contentAt(session, replaced[0]?.by ?? -1)
    expect(content.map(({ type }) => type)).toEqual(['text', 'image', 'text', 'image', 'text'])
    expect(content.flatMap((block) => block.text ?? []).join('').length).toBeLessThanOrEqual(400)
    expect(content.at(-1)).toEqual(text('end'))
    expect(event?.data).toMatchObject({ error: { code: 'E_TOOL' }, message: { content: [{ isError: true }] } })
  })

  it('drops a text of which nothing is left, and keeps the images around it', () => {
    const session = fresh()
    use(session, [text(big(900)), image(10, 1), text('gone'), image(10, 2), text(big(900))])
    const { replaced } = pruneToolResults(session, { ...NOW, maxBytes: 200 })
    expect(contentAt(session, replaced[0]?.by ?? -1).map(({ type }) => type)).toEqual([
      'text',
      'image',
      'image',
      'text',
    ])
  })

  it('keeps the citations of the result, and the marker names the event that was appended', () => {
    const session = fresh()
    const { seq } = use(session, [text(big(2000))])
    const cited = explain(session.events, seq).cites
    const [first] = pruneToolResults(session, { ...NOW, maxBytes: 1000 }).replaced
    const [second] = pruneToolResults(session, { ...NOW, maxBytes: 300 }).replaced
    expect(second?.seq).toBe(first?.by)
    expect(explain(session.events, second?.by ?? -1).cites).toEqual([first?.by, seq, ...cited])
    expect(JSON.stringify(contentAt(session, second?.by ?? -1))).toContain(`event ${seq} of the session log`)
    expect(explain(session.events, second?.by ?? -1).origins).toEqual([seq])
  })

  it('counts on in the marker of a copied result, which names the seq in the log it was copied from', () => {
    const original = pruneText(big(2000), { maxBytes: 1000, seq: 50 })
    for (const output of [original, big(2000)]) {
      const session = fresh()
      const data = structuredClone(use(fresh(), [text(output)]).data)
      reply(session, [{ type: 'tool-call', id: 'call_1' as never, name: 'read', arguments: '{}' }])
      session.append('tool/result', { ...data, copiedFrom: { session: 'parent', seq: 50 } } as never, {
        surfaceOp: 'append',
      })
      for (const maxBytes of [500, 300]) {
        const [replaced] = pruneToolResults(session, { ...NOW, maxBytes }).replaced
        const words = JSON.stringify(contentAt(session, replaced?.by ?? -1))
        expect(words.match(/bytes left out here; event \d+/g)).toEqual(['bytes left out here; event 50'])
      }
    }
  })

  it('does nothing at the high mark, then cuts the oldest first, down to the low mark', () => {
    const session = fresh()
    const seqs = Array.from({ length: 10 }, () => use(session, [text(big(1000))]).seq)
    const marks = { maxBytes: 200, keepRecent: 2, lowWater: 6000 }
    expect(pruneToolResults(session, { ...marks, highWater: 10_000 })).toMatchObject({ kind: 'under', replaced: [] })
    const outcome = pruneToolResults(session, { ...marks, highWater: 9999 })
    expect(outcome).toMatchObject({ kind: 'pruned', bytesBefore: 10_000 })
    expect(outcome.replaced.map(({ seq }) => seq)).toEqual(seqs.slice(0, 5))
    expect(outcome.bytesAfter).toBeLessThanOrEqual(6000)
  })

  it('never touches the newest results, and says that it is over', () => {
    const session = fresh()
    for (let count = 0; count < 3; count += 1) use(session, [text(big(5000))])
    const outcome = pruneToolResults(session, { maxBytes: 100, keepRecent: 3, highWater: 1000 })
    expect(outcome).toMatchObject({ kind: 'over', replaced: [], bytesAfter: 15_000, deferredBytes: 0 })
  })

  it('waits after a first step that could not reach the low mark until a step frees what lies between the marks', () => {
    const session = fresh()
    const options = { maxBytes: 500, keepRecent: 1, highWater: 6000, lowWater: 2000 }
    const freed: number[] = []
    const deferred: number[] = []
    for (let turn = 0; turn < 40; turn += 1) {
      use(session, [text(big(1000))])
      const { replaced, bytesBefore, bytesAfter, deferredBytes } = pruneToolResults(session, options)
      if (replaced.length > 0) freed.push(bytesBefore - bytesAfter)
      deferred.push(deferredBytes)
    }
    expect(freed.length).toBeGreaterThan(2)
    expect(freed.slice(1).every((bytes) => bytes >= 4000)).toBe(true)
    expect(deferred.some((bytes) => bytes > 0)).toBe(true)
  })

  it('may cut a result while another call of its batch is open', () => {
    const session = fresh()
    say(session, [text('go')])
    use(session, [text(big(5000))])
    reply(session, [{ type: 'tool-call', id: 'open' as never, name: 'read', arguments: '{}' }])
    expect(pruneToolResults(session, { ...NOW, maxBytes: 100 }).replaced).toHaveLength(1)
  })

  it('refuses budgets that are no whole numbers and marks in the wrong order', () => {
    const refused = [{ maxBytes: -1 }, { keepRecent: 0.5 }, { highWater: Number.NaN }, { highWater: 10, lowWater: 11 }]
    for (const options of refused) {
      expect(() => planPruning(fresh(), options)).toThrowError(ToolResultPrunerError)
    }
  })
})
