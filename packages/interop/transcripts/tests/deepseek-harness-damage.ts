import { SessionFormatError } from '@palimpsest/session-format'
import fc from 'fast-check'
import { expect } from 'vitest'
import { edit, seed, textsOf } from '../../../session/session-format/tests/mutations.ts'
import { importDeepSeekHarness } from '../src/index.ts'
import type { ImportedSession } from '../src/index.ts'
import { expectSound, expectSoundSessions } from './import-laws.ts'
import { importBytes } from './support.ts'

export { seed }

/** Milliseconds of work that one small log may take: more is a hang. */
const hangs = 1_000

/** What became of damaged logs: converted event by event, read line by line, or refused as a whole. */
export interface DamageCounts {
  converted: number
  settled: number
  refused: number
}

/** Imports logs of deepseek-harness with a few faults each: every session is sound, and no line of a log is lost. */
export async function importDamaged(numRuns: number, version: 0 | 1 | 2 | 3): Promise<DamageCounts> {
  const texts = await textsOf(version)
  const counts = { converted: 0, settled: 0, refused: 0 }
  const edits = fc.array(edit, { minLength: 1, maxLength: 3 })
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...texts), edits, async (rows, edits) => {
      const lines = [...rows]
      for (const change of edits) change(lines)
      const bytes = new TextEncoder().encode(lines.join('\n'))
      const before = process.cpuUsage()
      const imported = await importOrRefuse(bytes)
      const { user, system } = process.cpuUsage(before)
      expect((user + system) / 1_000).toBeLessThan(hangs)
      counts[check(imported, bytes)] += 1
    }),
    { numRuns, seed },
  )
  return counts
}

function check(imported: readonly ImportedSession[] | undefined, bytes: Uint8Array): keyof DamageCounts {
  const [first] = imported ?? []
  if (imported === undefined || first === undefined) return 'refused'
  const { warnings, lines } = first.report
  expect(lines.mapped + lines.raw + lines.blank).toBeGreaterThanOrEqual(lines.total)
  if (warnings.some(({ code }) => code === 'migration/refused')) {
    expectSound(imported, bytes)
    return 'settled'
  }
  expectSoundSessions(imported)
  expect(lines.mapped + lines.raw + lines.blank).toBe(lines.total)
  return 'converted'
}

async function importOrRefuse(bytes: Uint8Array): Promise<readonly ImportedSession[] | undefined> {
  try {
    return await importBytes(bytes, { importer: importDeepSeekHarness })
  } catch (error) {
    if (!(error instanceof SessionFormatError)) throw error
    expect(error.code).toMatch(/^format\/(not-a-log|normalised|newer-version)$/)
    return undefined
  }
}
