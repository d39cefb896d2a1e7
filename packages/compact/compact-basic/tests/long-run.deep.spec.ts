import { fileURLToPath } from 'node:url'
import { Child, bundleChild } from '@palimpsest/testkit'
import { expect, it } from 'vitest'
import { type LongRun, budget } from './long-run.ts'

interface Sample {
  readonly messages: number
  readonly events: number
  readonly entries: number
  /** Of the log as JSON. */
  readonly logBytes: number
  /** Bytes that live on the heap after a collection, without those of an idle process. */
  readonly heap: number
  readonly seconds: number
}

it('a run of 10,000 messages stays under its budget at every request, with memory that follows the log and the surface', async () => {
  const program = await bundleChild(fileURLToPath(new URL('./programs/long-run.ts', import.meta.url)))
  const child = new Child(program, ['10000'])
  expect({ ...(await child.exit), errors: child.errors }).toEqual({ code: 0, signal: null, errors: '' })
  await program.dispose()
  const said = child.lines.map((line) => JSON.parse(line) as unknown)
  const run = said.pop() as Omit<LongRun, 'session'>
  const samples = said as Sample[]
  for (const { messages, events, entries, logBytes, heap, seconds } of samples) {
    const [megabytes, ofLog] = [(heap / 1e6).toFixed(1), (logBytes / 1e6).toFixed(1)]
    console.info(
      `${messages} messages, ${events} events, ${entries} on the surface: ${megabytes} MB on the heap, ${ofLog} MB of log, ${seconds.toFixed(1)} s`,
    )
  }
  const { requests, largest, rewritten, batches, bound, compactions, pruned, mostReads, problems } = run
  console.info(
    `${requests} requests of at most ${largest.tokens} tokens and ${largest.bytes} bytes; ${rewritten} derived lists are no ` +
      `extension of the one before, after ${batches} batches of replacements (at most ${bound}): ${compactions} compactions, ` +
      `${pruned} results pruned; at most ${mostReads.whole} events read in one step`,
  )
  expect(problems).toEqual([])
  expect(largest.tokens).toBeLessThanOrEqual(budget.tokens)
  expect(largest.bytes).toBeLessThanOrEqual(budget.bytes)
  expect(rewritten).toBeLessThanOrEqual(batches)
  expect(batches).toBeLessThanOrEqual(bound)
  expect(mostReads.whole).toBeLessThan(1.5 * mostReads.firstHalf)
  const [quarter, half, whole] = samples
  if (quarter === undefined || half === undefined || whole === undefined) throw new Error('a sample is missing')
  expect(whole.heap / half.heap).toBeLessThan(2.6)
  // Requests that left something of their prompts behind would take several times what the log does.
  expect(whole.heap - quarter.heap).toBeLessThan(3 * (whole.logBytes - quarter.logBytes))
})
