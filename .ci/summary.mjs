// Prints how each step of `.ci/run` went and, as the last line, the sum of tests and checks. Exits 1 when anything failed.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const [results] = process.argv.slice(2)
const total = { passed: 0, failed: 0, skipped: 0 }

/** A suite that broke without a failing test (an import error, a missed threshold) still counts as one failure. */
function count(name, code) {
  const file = join(results, `${name}.json`)
  if (!existsSync(file)) return code === 0 ? { passed: 1, failed: 0, skipped: 0 } : { passed: 0, failed: 1, skipped: 0 }
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(readFileSync(file, 'utf8'))
  const failed = code !== 0 && numFailedTests === 0 ? 1 : numFailedTests
  return { passed: numPassedTests, failed, skipped: numPendingTests + numTodoTests }
}

console.log('')
for (const line of readFileSync(join(results, 'steps.tsv'), 'utf8').trim().split('\n')) {
  const [name, code, seconds] = line.split('\t')
  const { passed, failed, skipped } = count(name, Number(code))
  total.passed += passed
  total.failed += failed
  total.skipped += skipped
  const mark = code === '0' ? 'ok    ' : 'FAILED'
  console.log(
    `${mark} ${name.padEnd(20)} ${seconds.padStart(5)} s  ${passed} passed, ${failed} failed, ${skipped} skipped`,
  )
}
console.log('')
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`)
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0
