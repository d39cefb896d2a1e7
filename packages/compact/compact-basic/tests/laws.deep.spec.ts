import { expect, it } from 'vitest'
import { checkLaws } from './laws.ts'
import { longRun } from './long-run.ts'

it('the laws of compaction hold over thousands of sessions', async () => {
  expect(await checkLaws(50)).toBeGreaterThan(300)
})

it('a run of 10,000 messages stays under its budget at every request, and is rewritten no more often than the gap fills up', async () => {
  const { requests, rewritten, bound } = await longRun(10_000, 20_000)
  process.stdout.write(`${requests} requests, ${rewritten} of them no extension of the one before, ${bound} at most\n`)
  expect(rewritten).toBeLessThanOrEqual(bound)
})
