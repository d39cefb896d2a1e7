/**
 * Plants named faults in the kernel, one at a time, and requires a test of the kernel's suite to fail for every one; a
 * run that breaks in another way proves nothing. A fault is put into the text of a module while it is loaded, so no file
 * is ever changed. `pnpm mutants [NAME…]` runs some of them.
 */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BaseSequencer, createVitest, type TestSpecification, type Vitest } from 'vitest/node'
import { faults, type Fault } from './lib/kernel-faults.ts'
import { report } from './lib/report.ts'
import { repoRoot } from './lib/workspace.ts'

const kernel = join(repoRoot, 'packages/core/session')
/** Names the kernel as it is. */
const sound = 'no fault'
/** How long one run may take before it is stopped, in milliseconds. */
const patience = 180_000

/** The module with the fault in it. Throws when a replaced text is not there exactly once. */
function planted({ name, file, edits }: Fault): string {
  let text = readFileSync(join(kernel, 'src', file), 'utf8')
  for (const [right, wrong] of edits) {
    const places = text.split(right).length - 1
    if (places !== 1) throw new Error(`${name}: the text to replace stands ${places} times in ${file}:\n${right}`)
    text = text.replace(right, () => wrong)
  }
  return text
}

/** Examples before models: most faults are caught within a second then. */
class ExamplesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isModel = ({ moduleId }: TestSpecification): number => Number(moduleId.includes('/model/'))
    return files.toSorted((one, other) => isModel(one) - isModel(other) || (one.moduleId < other.moduleId ? -1 : 1))
  }
}

/** What a run of the suite tells its parent when it is not green: the first failed test, or what broke instead. */
interface Failure {
  readonly test?: string
  readonly reason: string
}

function failureOf(vitest: Vitest): Failure | undefined {
  const modules = vitest.state.getTestModules()
  // A file that does not load and a worker that dies may fail a test beside, which then says nothing of the fault.
  const [broken] = [...modules.flatMap((one) => one.errors()), ...vitest.state.getUnhandledErrors()]
  if (broken !== undefined)
    return { reason: broken instanceof Object && 'message' in broken ? String(broken.message) : 'an error' }
  for (const { children, relativeModuleId } of modules) {
    for (const { fullName } of children.allTests('failed')) return { test: fullName, reason: relativeModuleId }
  }
  if (modules.length === 0) return { reason: 'there are no tests' }
  return modules.every((one) => one.ok()) ? undefined : { reason: 'no test was named' }
}

/** Runs the kernel's suite in this process, with a fault or as it is, and exits 0 when it is green. */
async function runSuite(fault: Fault | undefined): Promise<never> {
  const path = fault && join(kernel, 'src', fault.file)
  const text = fault && planted(fault)
  const conditions = ['@palimpsest/source', 'module', 'node', 'development|production']
  const vitest = await createVitest(
    'test',
    {
      config: false,
      root: kernel,
      watch: false,
      include: ['tests/**/*.spec.ts'],
      exclude: ['**/*.deep.spec.ts'],
      bail: 1,
      fileParallelism: false,
      // Whoever is slow is stopped as a whole: a test that timed out has not caught anything.
      testTimeout: patience,
      sequence: { sequencer: ExamplesFirst },
      reporters: fault === undefined ? ['default'] : ['json'],
    },
    {
      resolve: { conditions },
      ssr: { resolve: { conditions } },
      plugins: [{ name: 'fault', enforce: 'pre', load: (id) => (id === path ? text : undefined) }],
    },
  )
  await vitest.start()
  const failure = failureOf(vitest)
  await vitest.close()
  if (failure !== undefined) await new Promise((resolve) => process.send?.(failure, resolve))
  process.exit(failure === undefined ? 0 : 1)
}

/** `undefined` for a green suite. */
function judge(name: string): Promise<Failure | undefined> {
  const script = fileURLToPath(import.meta.url)
  // The seed is pinned, so that a verdict can be had again.
  const env = { ...process.env, PALIMPSEST_SEED: '1', PALIMPSEST_MODEL_RUNS: '60' }
  const output = name === sound ? 'inherit' : 'ignore'
  const child = spawn(process.execPath, [...process.execArgv, script, '--run', name], {
    env,
    stdio: ['ignore', output, output, 'ipc'],
  })
  return new Promise((resolve) => {
    let failure: Failure | undefined
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      failure = { reason: `stopped after ${patience / 1000} s` }
    }, patience)
    child.on('message', (message) => (failure ??= message as Failure))
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      resolve(code === 0 ? undefined : (failure ?? { reason: `the run ended with ${signal ?? `code ${code}`}` }))
    })
  })
}

async function main(names: readonly string[]): Promise<void> {
  const chosen = names.length === 0 ? faults : faults.filter(({ name }) => names.includes(name))
  const complaints: string[] = []
  for (const fault of chosen) {
    try {
      planted(fault)
    } catch (error) {
      complaints.push(error instanceof Error ? error.message : String(error))
    }
  }
  if (new Set(faults.map(({ name }) => name)).size < faults.length) complaints.push('two faults have one name')
  if (complaints.length === 0 && (await judge(sound)) !== undefined)
    complaints.push('the suite fails without any fault: mend it first')
  if (complaints.length === 0) {
    const waiting = [...chosen]
    const work = async (): Promise<void> => {
      for (let fault = waiting.shift(); fault !== undefined; fault = waiting.shift()) {
        const start = Date.now()
        const failure = await judge(fault.name)
        const verdict = failure === undefined ? 'SURVIVED' : failure.test === undefined ? 'BROKE' : 'caught'
        const seconds = ((Date.now() - start) / 1000).toFixed(1).padStart(5)
        process.stdout.write(`${verdict.padEnd(8)} ${seconds} s  ${fault.name}\n`)
        if (failure?.test === undefined)
          complaints.push(`no test fails when ${fault.name} (${fault.file})${failure ? `: ${failure.reason}` : ''}`)
        else process.stdout.write(`${' '.repeat(18)}by ${failure.reason}: ${failure.test}\n`)
      }
    }
    await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work))
  }
  report('mutants', complaints, `${chosen.length} faults planted and caught`)
}

const [flag, name] = process.argv.slice(2)
if (flag === '--run') await runSuite(faults.find((fault) => fault.name === name))
else await main(process.argv.slice(2))
