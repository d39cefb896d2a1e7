import { expect, it } from 'vitest'
import { budget, longRun } from './long-run.ts'
import { expectValid } from './support.ts'

it('a run of 1,000 messages stays under its budget at every request, is rewritten no more often than the gap fills up, and reads no more of a longer log', async () => {
  const { session, largest, rewritten, batches, bound, compactions, pruned, mostReads, problems } = await longRun({
    messages: 1000,
  })
  expect(problems).toEqual([])
  expect(largest.tokens).toBeLessThanOrEqual(budget.tokens)
  expect(largest.bytes).toBeLessThanOrEqual(budget.bytes)
  expect(compactions).toBeGreaterThan(5)
  expect(pruned).toBeGreaterThan(20)
  expect(rewritten).toBeLessThanOrEqual(batches)
  expect(batches).toBeLessThanOrEqual(bound)
  expect(mostReads.whole).toBeLessThan(1.5 * mostReads.firstHalf)
  expectValid(session)
})
