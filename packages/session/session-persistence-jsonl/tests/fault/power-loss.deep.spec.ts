import { describe, expect, it } from 'vitest'
import { scenarios } from './power-loss-scenarios.ts'
import { record, searchLoss } from './power-loss.ts'
import { scratch } from './scratch.ts'

const place = scratch()

describe.each([4096, 512])(
  'after a power loss that took any subset of the unsynced pages of %i bytes, lengths and names',
  (pageSize) => {
    it.each(scenarios)('while $name: every promise holds in every state that was tried', async (scenario) => {
      const seed = Date.now() % 2 ** 31
      console.info(`seed ${seed}`)
      const { states, loss } = await searchLoss(
        scenario,
        await record(scenario, place.fresh(), { pageSize }),
        place.fresh,
        { seed, limit: 500 },
      )
      expect(loss).toBeUndefined()
      expect(states).toBeGreaterThan(1)
    })
  },
)
