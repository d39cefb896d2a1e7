import { test } from 'vitest'
import { importMutations, seed } from './mutations.ts'

test(`the same over many more mutations (seed ${seed})`, async () => {
  await importMutations(10_000)
}, 1_200_000)
