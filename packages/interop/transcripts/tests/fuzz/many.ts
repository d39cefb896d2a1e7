import { expect, test } from 'vitest'
import type { FormatName } from '../formats.ts'
import { fuzzImporter } from '../fuzzed-imports.ts'
import { seed } from '../fuzz.ts'

const inputs = 20_000

/** One file of tests for each format, so that they run side by side. */
export function fuzzMany(name: FormatName): void {
  test(`${name}: ${inputs} mutations neither crash an import, nor hang it, nor lose a line (seed ${seed})`, async () => {
    const report = await fuzzImporter(name, inputs, true)
    process.stdout.write(`${name}: ${report.inputs} inputs, the slowest took ${report.slowest.toFixed(0)} ms\n`)
    expect(report.inputs).toBe(inputs)
  })
}
