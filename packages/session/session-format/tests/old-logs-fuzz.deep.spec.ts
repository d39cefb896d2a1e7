import { test } from 'vitest'
import { openMutations, seed } from './mutations.ts'

test(`the same over many more damaged logs (seed ${seed})`, async () => {
  await openMutations(20_000)
})
