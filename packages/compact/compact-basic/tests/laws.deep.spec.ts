import { expect, it } from 'vitest'
import { checkLaws } from './laws.ts'

it('the laws of compaction hold over thousands of sessions', async () => {
  expect(await checkLaws(50)).toBeGreaterThan(0)
})
