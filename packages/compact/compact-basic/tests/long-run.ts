import { expect } from 'vitest'
import { basicCompaction, extractSummarizer } from '@palimpsest/compact-basic'
import { seededRandom } from '@palimpsest/testkit'
import { looped, requestsOf } from './looped.ts'
import { expectValid } from './support.ts'

/** A scripted run of so many messages under one budget: what was sent, and how often it was no extension of what was sent before. */
export async function longRun(
  messages: number,
  budget: number,
): Promise<{ requests: number; rewritten: number; bound: number }> {
  const random = seededRandom(7)
  const one = looped(() =>
    random() < 0.15
      ? `So it is: ${'word '.repeat(Math.floor(random() * 200))}`
      : {
          parts: Array.from({ length: 1 + Math.floor(random() * 2) }, () => ({
            call: 'read',
            input: { lines: Math.floor(random() * 120) },
          })),
        },
  )
  const [highWater, lowWater] = [0.8, 0.4]
  const compaction = basicCompaction({
    session: one.session,
    summarize: extractSummarizer(),
    budget: { tokens: budget },
    highWater,
    lowWater,
  })
  compaction.attach(one.loop)
  let largest = 0
  one.loop.on('agent/request', () => void (largest = Math.max(largest, compaction.meter.usage().tokens)))
  const surfaced = (): number => one.session.events.filter((event) => 'surfaceOp' in event).length
  for (let turn = 1; surfaced() < messages; turn += 1) {
    expect(await one.loop.send(`Task ${turn}: ${'please '.repeat(20)}`)).toMatchObject({
      reason: { kind: 'completed' },
    })
  }
  expect(largest).toBeLessThanOrEqual(budget)
  expectValid(one.session)
  const total = one.session.events.reduce((sum, { seq }) => sum + compaction.meter.entry(seq).tokens, 0)
  const bound = Math.ceil(total / (budget * (highWater - lowWater)))
  const { lists, rewritten } = requestsOf(one.session)
  return { requests: lists.length, rewritten, bound }
}
