import { expect, test } from 'vitest'
import { importDamaged, seed } from './deepseek-harness-damage.ts'

test.each([0, 1, 2, 3] as const)(
  `a damaged log of version %i becomes a sound session with every line in it, or is refused by its header (seed ${seed})`,
  async (version) => {
    const { settled } = await importDamaged(15, version)
    expect(settled).toBeGreaterThan(0)
  },
)
