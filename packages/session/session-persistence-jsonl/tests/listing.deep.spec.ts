import { closeSync, openSync, writeSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundleChild, Child } from '@palimpsest/testkit'
import { expect, it } from 'vitest'
import { headerLine, plant, record, scratch } from './support.ts'

const mebibyte = 1024 * 1024

function toolResult(seq: number, bytes: number): string {
  return `{"type":"tool/result","seq":${seq},"time":${1_000 + seq},"surfaceOp":"append","data":{"text":"${'r'.repeat(bytes)}"}}`
}

/** A log of 200 MB, nearly all of it tool results; some of them long. Returns its number of events. */
function plantLarge(root: string, prompt: number, longest: number): number {
  const file = openSync(plant(root, `${headerLine}\n`), 'a')
  let seq = 0
  for (let size = 0; size < 200 * mebibyte; seq += 1) {
    size += writeSync(
      file,
      `${seq === prompt ? record(seq, 'the title') : toolResult(seq, seq === 0 ? longest : 64 * 1024)} \n`,
    )
  }
  writeSync(file, `${toolResult(seq, longest)} \n`)
  closeSync(file)
  return seq + 1
}

it.each([
  ['its first event', 0, 1],
  ['an event behind one of 60 MB', 1, 60 * mebibyte],
])('SZ-01: a log of 200 MB whose prompt is %s is listed in a heap of 64 MB', async (_, prompt, longest) => {
  const root = scratch()
  const count = plantLarge(root, prompt, longest)
  const program = await bundleChild(fileURLToPath(new URL('./programs/list.ts', import.meta.url)), [
    'fs-native-extensions',
  ])
  const child = new Child(program, [root], { NODE_OPTIONS: '--max-old-space-size=64' })
  try {
    expect((await child.exit).code).toBe(0)
    const [stat, usage] = child.lines.map((line) => JSON.parse(line) as Record<string, number>)
    expect(stat).toMatchObject({ id: 'a', eventCount: count, updatedAt: 1_000 + count - 1, firstPrompt: 'the title' })
    expect(usage?.['peak']).toBeLessThan(160 * 1024)
  } finally {
    await program.dispose()
  }
})
