import { expect, test } from 'vitest'
import { fuzzImporter } from './fuzzed-imports.ts'
import { seed } from './fuzz.ts'
import { tangledFormats } from './tangled-files.ts'

for (const format of tangledFormats) {
  test(`${format.name}: mutations of real lines neither crash an import nor lose a line (seed ${seed})`, async () => {
    expect(await fuzzImporter(format, 60)).toMatchObject({ inputs: 60 })
  })
}
