import { test } from 'vitest'
import { openMutations, seed } from './mutations.ts'

test(`a damaged log of version 0 is refused with a code, or nothing of it is lost (seed ${seed})`, async () => {
  await openMutations(150)
})
