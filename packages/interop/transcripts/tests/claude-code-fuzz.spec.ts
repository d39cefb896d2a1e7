import { test } from 'vitest'
import { importMutations, seed } from './mutations.ts'

test(`whatever is cut, spliced or changed, an import ends, loses no line and makes sound logs (seed ${seed})`, async () => {
  await importMutations(80)
}, 60_000)
