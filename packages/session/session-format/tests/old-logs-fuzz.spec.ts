import { test } from 'vitest'
import { openMutations, seed } from './mutations.ts'

test.each([0, 1, 2, 3] as const)(
  `a damaged log of version %i is refused with a code, or nothing of it is lost (seed ${seed})`,
  async (version) => {
    await openMutations(80, version)
  },
)
