import { describe, expect, it } from 'vitest'
import { scenarios } from './power-loss-scenarios.ts'
import { record, searchLoss } from './power-loss.ts'
import { scratch } from './scratch.ts'

const place = scratch()

const search = { seed: 20_260_101, limit: 8 }

describe('after a power loss that took any subset of the unsynced pages, lengths and names', () => {
  it.each(scenarios)('while $name: every promise holds, and the session opens and goes on', async (scenario) => {
    const recording = await record(scenario, place.fresh())
    const { states, loss } = await searchLoss(scenario, recording, place.fresh, search)
    expect(loss).toBeUndefined()
    expect(states).toBeGreaterThan(1)
  })
})
