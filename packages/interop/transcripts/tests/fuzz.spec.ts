import { expect, test } from 'vitest'
import { formats } from './formats.ts'
import type { FormatName } from './formats.ts'
import { fuzzImporter } from './fuzzed-imports.ts'
import { seed } from './fuzz.ts'

test.each(Object.keys(formats) as FormatName[])(
  `%s: mutations of real lines neither crash an import nor lose a line (seed ${seed})`,
  async (name) => {
    expect(await fuzzImporter(name, 30)).toMatchObject({ inputs: 30 })
  },
)
