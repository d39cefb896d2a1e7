import { expect, test } from 'vitest'
import { importDamaged, seed } from './deepseek-harness-damage.ts'

test.each([0, 1, 2, 3] as const)(
  `2,000 damaged logs of version %i become sound sessions with every line in them, or are refused by their headers (seed ${seed})`,
  async (version) => {
    const { converted, settled, refused } = await importDamaged(2_000, version)
    expect(converted + settled + refused).toBe(2_000)
    expect(converted).toBeGreaterThan(0)
    expect(settled).toBeGreaterThan(0)
  },
)
