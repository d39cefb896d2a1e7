import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { anyDamagedLog } from './salvage-damage.ts'
import { expectReachable, headerLine, salvageBytes } from './salvage-support.ts'

function said(seq: number, text: string): string {
  const data = { id: `m${text}`, role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } }
  return JSON.stringify({ type: 'user/message', seq, time: seq, surfaceOp: 'append', data })
}

it('keeps what can be read of thousands of damaged logs', { timeout: 1_800_000 }, async () => {
  let slowest = 0
  await fc.assert(
    fc.asyncProperty(anyDamagedLog, async (bytes) => {
      const salvaged = await salvageBytes(bytes)
      slowest = Math.max(slowest, salvaged.milliseconds)
      await expectReachable(bytes, salvaged)
    }),
    { numRuns: 3000 },
  )
  console.log(`slowest of 3000: ${Math.round(slowest)} ms`)
})

/** 50,000 records, of which each of 1,000 branches has 25 to itself. */
const logs: Readonly<Record<string, () => string[]>> = {
  'branches from anywhere': () => branches((branch) => 1 + ((branch * 7919) % 24_000)),
  'branches from the begin': () => branches(() => 3),
  'records in reverse': () => Array.from({ length: 50_000 }, (_, seq) => said(seq, `r${seq}`)).toReversed(),
  'one seq': () => Array.from({ length: 50_000 }, (_, index) => said(Math.min(index, 1), `s${index}`)),
  'one seq that waits': () =>
    Array.from({ length: 50_000 }, (_, index) => said([0, 2][Math.min(index, 1)] ?? 0, `w${index}`)).concat(
      said(1, 'x'),
    ),
}

function branches(forkOf: (branch: number) => number): string[] {
  const trunk = Array.from({ length: 25_000 }, (_, seq) => said(seq, `t${seq}`))
  const own = Array.from({ length: 1000 }, (_, branch) =>
    Array.from({ length: 25 }, (_each, at) => said(forkOf(branch) + at, `b${branch}-${at}`)),
  )
  return [...trunk, ...own.flat()]
}

it.each(Object.entries(logs))(
  'stays in proportion to 50,000 records: %s',
  { timeout: 300_000 },
  async (name, linesOf) => {
    const bytes = Buffer.from([headerLine('s'), ...linesOf()].map((line) => `${line}\n`).join(''))
    const { salvage, milliseconds } = await salvageBytes(bytes)
    const events = salvage.sessions.reduce((sum, each) => sum + each.events, 0)
    console.log(`${name}: ${Math.round(milliseconds)} ms, ${salvage.sessions.length} sessions, ${events} events`)
    expect(events).toBeLessThan(500_000)
  },
)
