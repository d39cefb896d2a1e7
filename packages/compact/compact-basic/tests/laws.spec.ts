import { expect, it } from 'vitest'
import { checkLaws } from './laws.ts'

it('over any turns and any policy, everything is shown or summarised once, every range is balanced, prefixes are stable, and nothing loops', async () => {
  expect(await checkLaws(25)).toBeGreaterThan(0)
})
