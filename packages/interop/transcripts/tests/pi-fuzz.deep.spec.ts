import { samplesOf } from '@palimpsest/testkit'
import { expect, test } from 'vitest'
import { importPi } from '../src/pi/import.ts'
import { fuzz, seed } from './fuzz.ts'
import { expectSound } from './import-laws.ts'
import { tangledPi } from './pi-fixture.ts'
import { importBytes, sampleBytes } from './support.ts'

test(
  `20,000 mutated files crash nothing, hang nothing and lose nothing, seed ${seed}`,
  { timeout: 600_000 },
  async () => {
    const samples = samplesOf('pi').map((name) => new TextDecoder().decode(sampleBytes(name)).split('\n'))
    const { inputs } = await fuzz({
      files: [tangledPi().lines, ...samples],
      run: (bytes) => importBytes(bytes, { importer: importPi }),
      check: expectSound,
      numRuns: 20_000,
    })
    expect(inputs).toBe(20_000)
  },
)
