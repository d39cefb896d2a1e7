import {
  codingSession,
  type CodingSessionOptions,
  ReferenceSession,
  referenceVerdict,
  transcriptProblems,
} from '@palimpsest/testkit'
import { describe, expect, it } from 'vitest'

const eventsOf = (options: CodingSessionOptions) => Array.from(codingSession(options), ({ event }) => event)

describe('the seeded coding session', () => {
  it('is the same for the same seed and another for another', () => {
    const options = { seed: 7, events: 400, replacementRate: 0.02 }
    expect(JSON.stringify(eventsOf(options))).toBe(JSON.stringify(eventsOf(options)))
    expect(JSON.stringify(eventsOf({ ...options, seed: 8 }))).not.toBe(JSON.stringify(eventsOf(options)))
  })

  it('has as many events as asked for, numbered from 0, of which a longer one is the continuation', () => {
    const events = eventsOf({ seed: 1, events: 300, replacementRate: 0.01 })
    expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 300 }, (_, at) => at))
    expect(eventsOf({ seed: 1, events: 500, replacementRate: 0.01 }).slice(0, 300)).toEqual(events)
  })

  it.each([0, 0.01, 0.05])('makes replacements at a rate of %d', (replacementRate) => {
    const events = eventsOf({ seed: 3, events: 3000, replacementRate })
    const replacements = events.filter(({ surfaceOp }) => typeof surfaceOp === 'object').length
    expect(Math.abs(replacements / events.length - replacementRate)).toBeLessThan(0.005)
  })

  it('is a session that the reference accepts event by event, with parallel batches, prunes and summaries', () => {
    let session = new ReferenceSession()
    const met = new Set<string>()
    for (const { type, data, intent, event } of codingSession({ seed: 11, events: 500, replacementRate: 0.05 })) {
      const verdict = referenceVerdict(session, {
        type,
        data,
        ...(intent === undefined ? {} : { intent: { ...intent } }),
      })
      expect([...verdict], `${String(event.seq)} ${type}`).toEqual([])
      if (session.openCalls().length > 1) met.add('batch')
      if (typeof event.surfaceOp === 'object') met.add(type)
      session = session.with(event)
    }
    expect(met).toEqual(new Set(['batch', 'tool/result', 'user/message']))
    const settled = session.prefix(session.log.findLast(({ type }) => type === 'turn/end')?.seq ?? 0)
    expect(transcriptProblems(settled.derived())).toEqual([])
  })
})
