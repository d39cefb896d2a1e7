import { type Message, isSurfaceType } from '@palimpsest/session'
import { expect } from 'vitest'
import { basicCompaction, extractSummarizer } from '@palimpsest/compact-basic'
import { seededRandom } from '@palimpsest/testkit'
import { looped } from './looped.ts'
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
  let [requests, rewritten, largest] = [0, 0, 0]
  let before: readonly Message[] = []
  one.loop.on('agent/request', ({ messages }) => {
    requests += 1
    if (before.some((message, at) => messages[at] !== message)) rewritten += 1
    before = messages
    largest = Math.max(largest, compaction.meter.usage().tokens)
  })
  let surfaced = 0
  one.session.on('session/event', ({ type }) => void (isSurfaceType(type) && (surfaced += 1)))
  for (let turn = 1; surfaced < messages; turn += 1) {
    expect(await one.loop.send(`Task ${turn}: ${'please '.repeat(20)}`)).toMatchObject({
      reason: { kind: 'completed' },
    })
  }
  expect(largest).toBeLessThanOrEqual(budget)
  expectValid(one.session)
  const total = one.session.events.reduce((sum, { seq }) => sum + compaction.meter.entry(seq).tokens, 0)
  const bound = Math.ceil(total / (budget * (highWater - lowWater)))
  return { requests, rewritten, bound }
}
