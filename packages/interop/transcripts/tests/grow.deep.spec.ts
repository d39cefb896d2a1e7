import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formats, sampleFiles } from './formats.ts'
import type { FormatName } from './formats.ts'
import { growThrough } from './growing.ts'
import type { GrowthCount } from './growing.ts'

const names = Object.keys(formats) as FormatName[]

test.each(names.filter((name) => sampleFiles(name).length > 0))(
  '%s: real files that grew in any steps derive what a fresh import derives',
  async (name) => {
    const { importer } = formats[name]
    const count: GrowthCount = { extended: 0, regrown: 0, diverged: 0 }
    const files = sampleFiles(name).map((lines) => new TextEncoder().encode(lines.join('\n')))
    const steps = fc.array(fc.integer({ min: 0, max: 1_000 }), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(fc.nat(files.length - 1), steps, async (at, parts) => {
        const bytes = files[at] ?? new Uint8Array()
        const first = bytes.indexOf(10) + 1
        const lengths = parts.map((part) => first + Math.floor((part / 1_000) * (bytes.length - first)))
        await growThrough(
          (source, options) => importer(source, { ...options, normalised: true }),
          bytes,
          lengths.sort((a, b) => a - b),
          count,
        )
      }),
      { numRuns: 60 },
    )
    process.stdout.write(`${name}: ${JSON.stringify(count)}\n`)
    expect(count.regrown).toBeGreaterThan(0)
  },
)
