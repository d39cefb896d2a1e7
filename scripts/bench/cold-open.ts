import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundleProgram } from './build.ts'
import { writeCodingLog } from './coding-log.ts'
import type { Comparison } from './figures.ts'
import type { Opened } from './report-opened.ts'

const megabyte = 1_000_000

/** Row 4 of SPEC 10: every side opens the same file in a fresh process, in turn, with a warm page cache. */
export async function coldOpen(directory: string, isQuick: boolean): Promise<Comparison[]> {
  const path = join(directory, 'session.v3.jsonl')
  const events = writeCodingLog(path, 'bench', isQuick ? megabyte : 100 * megabyte)
  const bytes = readFileSync(path).length
  const [floor, kernel] = await Promise.all(['open-floor', 'open-kernel'].map((name) => bundleProgram(name, directory)))
  const open = (program: string | undefined): Opened => {
    const output = execFileSync(process.execPath, ['--max-old-space-size=8192', program as string, path], {
      encoding: 'utf8',
    })
    const opened = JSON.parse(output) as Opened
    if (opened.events !== events) throw new Error(`${String(program)} read ${opened.events} of ${events} events`)
    return opened
  }
  const rounds = Array.from({ length: isQuick ? 1 : 7 }, (_, round) => {
    const first = open(round % 2 === 0 ? kernel : floor)
    const second = open(round % 2 === 0 ? floor : kernel)
    return round % 2 === 0 ? { ours: first, theirs: second } : { ours: second, theirs: first }
  })
  return [
    {
      name: 'cold open through the kernel, every payload parsed, validated, frozen',
      work: `${(bytes / megabyte).toFixed(0)} MB, ${events.toLocaleString('en-US')} events, a fresh process each time`,
      against: 'JSON.parse floor',
      bar: { kind: 'share', times: 1.8 },
      rounds,
    },
  ]
}
