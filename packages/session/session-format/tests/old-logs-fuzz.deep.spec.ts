import { test } from 'vitest'
import { openMutations, seed } from './mutations.ts'

test.each([0, 1, 2, 3] as const)(
  `the same over many more damaged logs of version %i (seed ${seed})`,
  async (version) => {
    await openMutations(20_000, version)
  },
)
