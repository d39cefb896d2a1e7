import { expect, test } from 'vitest'
import { seed } from './fuzz.ts'
import { fuzzMessages } from './messages-fuzz.ts'

const inputs = 20_000

test(`${inputs} mutations of messages neither crash an import, nor hang it, nor lose an element (seed ${seed})`, async () => {
  const report = await fuzzMessages(inputs)
  process.stdout.write(`messages: ${report.inputs} inputs, the slowest took ${report.slowest.toFixed(0)} ms\n`)
  expect(report.inputs).toBe(inputs)
}, 1_800_000)
