import { test } from 'vitest'
import { importCodex } from '../src/codex/import.ts'
import { tangledRollout } from './codex-fixture.ts'
import { fuzz, seed } from './fuzz.ts'
import { expectSound } from './import-laws.ts'
import { importBytes } from './support.ts'

test(`no mutation of a rollout crashes, hangs or loses a line (seed ${seed})`, async () => {
  await fuzz({
    files: [tangledRollout().lines],
    run: (bytes) => importBytes(bytes, { importer: importCodex }),
    check: expectSound,
    numRuns: 100,
  })
}, 60_000)
