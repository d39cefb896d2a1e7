/**
 * `pnpm bench [core|size] [--quick] [--only append|fold|derive|open]`: the figures of SPEC 10, side by side in one
 * run. `--quick` proves that the benchmark runs; its figures mean nothing.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bundleProgram, installPeers, peerModule } from './build.ts'
import { coldOpen } from './cold-open.ts'
import { type Comparison, rendered } from './figures.ts'
import { sizeOfKernel } from './size.ts'

const rowNames = ['append', 'fold', 'derive', 'open']
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } },
})
const suite = positionals[0] ?? 'all'
if (!['all', 'core', 'size'].includes(suite) || (values.only !== undefined && !rowNames.includes(values.only))) {
  console.error(`usage: pnpm bench [core|size] [--quick] [--only ${rowNames.join('|')}]`)
  process.exit(2)
}

/** Runs a bundled program and gives the comparisons that it prints, one per line. */
function comparisonsOf(program: string, args: readonly string[]): void {
  const flags = ['--expose-gc', '--max-old-space-size=8192']
  const { status, stdout } = spawnSync(process.execPath, [...flags, program, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (status !== 0) throw new Error(`${program} ended with ${String(status)}`)
  for (const line of stdout.trim().split('\n')) console.log(rendered(JSON.parse(line) as Comparison))
}

async function core(directory: string): Promise<void> {
  installPeers()
  const peer = peerModule('@deepseek-ai/dsh-session')
  const program = await bundleProgram('core', directory)
  console.log('The peer has no system/message on its surface: it is given that one event of a session as log-only.')
  console.log(
    'Its log has no streams in the fold, and neither has ours. cpu is the time of all threads of the process.\n',
  )
  const pace = values.quick ? 'quick' : 'full'
  for (const row of rowNames) {
    if (values.only !== undefined && values.only !== row) continue
    if (row === 'open') console.log(rendered(await coldOpen(directory, values.quick)))
    else comparisonsOf(program, [peer, pace, row])
  }
}

const directory = mkdtempSync(join(tmpdir(), 'palimpsest-bench-'))
try {
  const processor = cpus()[0]?.model ?? 'unknown processor'
  console.log(`Node ${process.version}, ${processor}, ${new Date().toISOString().slice(0, 10)}\n`)
  if (suite !== 'size') await core(directory)
  if (suite !== 'core') console.log((await sizeOfKernel()).text)
} finally {
  rmSync(directory, { recursive: true, force: true })
}
