import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { bundleProgram } from './build.ts'
import { writeCodingLog } from './coding-log.ts'
import type { Comparison } from './figures.ts'
import type { Opened } from './report-opened.ts'

const megabyte = 1_000_000

/** Row 4 of SPEC 10: both sides open the same log in a fresh process, in turn, with a warm page cache. */
export async function coldOpen(directory: string, isQuick: boolean): Promise<Comparison> {
  const root = join(directory, 'store')
  const id = 'bench'
  const { path, events } = await writeCodingLog(root, id, isQuick ? megabyte : 100 * megabyte)
  const floor = await bundleProgram('open-floor', directory)
  const store = await bundleProgram('open-store', directory)
  const open = (program: string, ...args: string[]): Opened => {
    const output = execFileSync(process.execPath, ['--max-old-space-size=8192', program, ...args], { encoding: 'utf8' })
    const opened = JSON.parse(output) as Opened
    if (opened.events !== events) throw new Error(`${program} read ${opened.events} of ${events} events`)
    return opened
  }
  open(floor, path)
  const rounds = Array.from({ length: isQuick ? 1 : 7 }, (_, round) => {
    if (round % 2 === 0) return { ours: open(store, root, id), theirs: open(floor, path) }
    const theirs = open(floor, path)
    return { ours: open(store, root, id), theirs }
  })
  const size = (statSync(path).size / megabyte).toFixed(0)
  return {
    name: 'cold open of a JSONL log, every payload parsed, validated, frozen',
    work: `${size} MB, ${events.toLocaleString('en-US')} events, a fresh process each time`,
    against: 'JSON.parse floor',
    bar: { kind: 'share', times: 1.8 },
    rounds,
  }
}
