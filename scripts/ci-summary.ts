/** Prints how each step of `.ci/run` went and, as the last line, the sum of tests and checks. Exits 1 when anything failed. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Counts {
  passed: number
  failed: number
  skipped: number
}

interface VitestReport {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  numTodoTests: number
}

const [results = ''] = process.argv.slice(2)

/** A suite that broke without a failing test (an import error, a missed threshold) still counts as one failure. */
function count(name: string, isGood: boolean): Counts {
  const file = join(results, `${name}.json`)
  if (!existsSync(file)) return { passed: isGood ? 1 : 0, failed: isGood ? 0 : 1, skipped: 0 }
  const report = JSON.parse(readFileSync(file, 'utf8')) as VitestReport
  return {
    passed: report.numPassedTests,
    failed: isGood ? report.numFailedTests : Math.max(1, report.numFailedTests),
    skipped: report.numPendingTests + report.numTodoTests,
  }
}

function line({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`
}

const total: Counts = { passed: 0, failed: 0, skipped: 0 }
for (const step of readFileSync(join(results, 'steps.tsv'), 'utf8').trim().split('\n')) {
  const [name = '', code, seconds = ''] = step.split('\t')
  const isGood = code === '0'
  const counts = count(name, isGood)
  total.passed += counts.passed
  total.failed += counts.failed
  total.skipped += counts.skipped
  console.log(`${isGood ? 'ok    ' : 'FAILED'} ${name.padEnd(20)} ${seconds.padStart(5)} s  ${line(counts)}`)
}
console.log(`\n${line(total)}`)
if (total.failed > 0 || total.passed === 0) process.exitCode = 1
