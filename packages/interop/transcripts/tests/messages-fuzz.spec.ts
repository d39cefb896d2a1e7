import { expect, test } from 'vitest'
import { seed } from './fuzz.ts'
import { fuzzMessages } from './messages-fuzz.ts'

test(`mutations of messages neither crash an import, nor hang it, nor lose an element (seed ${seed})`, async () => {
  expect((await fuzzMessages(120)).inputs).toBe(120)
})
