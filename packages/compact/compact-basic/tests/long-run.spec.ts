import { expect, it } from 'vitest'
import { longRun } from './long-run.ts'

it('a run of 300 messages stays under its budget at every request, and is rewritten no more often than the gap fills up', async () => {
  const { rewritten, bound } = await longRun(300, 8000)
  expect(rewritten).toBeGreaterThan(2)
  expect(rewritten).toBeLessThanOrEqual(bound)
})
