import { expect, test } from 'vitest'
import { fuzzImporter } from './fuzzed-imports.ts'
import { seed } from './fuzz.ts'
import { sampleFiles, tangledFormats } from './tangled-files.ts'

const inputs = 5_000

for (const format of tangledFormats) {
  test(`${format.name}: ${inputs} mutations neither crash an import, nor hang it, nor lose a line (seed ${seed})`, async () => {
    const report = await fuzzImporter(format, inputs, sampleFiles(format.name))
    process.stdout.write(`${format.name}: ${report.inputs} inputs, the slowest took ${report.slowest.toFixed(0)} ms\n`)
    expect(report.inputs).toBe(inputs)
  })
}
