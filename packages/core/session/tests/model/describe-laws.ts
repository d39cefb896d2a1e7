import { anyCommands } from '@palimpsest/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { situations, type Situation } from './driver.ts'
import { laws } from './laws.ts'

type LawName = keyof typeof laws
export const lawNames = Object.keys(laws) as LawName[]

/** Runs per law: few on every change, many in CI (`*.deep.spec.ts`). `PALIMPSEST_MODEL_RUNS` overrides both. */
const runs = process.env['PALIMPSEST_MODEL_RUNS']
export const defaultRuns: number = Number(runs ?? 100)
export const deepRuns: number = Number(runs ?? 2000)

/** `PALIMPSEST_SEED` repeats a run. */
const given = process.env['PALIMPSEST_SEED']
const seed = given === undefined ? (Math.random() * 2 ** 31) | 0 : Number(given)

/** One test per law, each over `runs` sequences of at least 40 commands; each situation must come up in a fifth of them. */
export function describeLaws(names: readonly LawName[], runs: number): void {
  console.info(`model: ${String(runs)} runs per law, PALIMPSEST_SEED=${String(seed)}`)
  describe(`laws of the kernel, seed ${String(seed)}`, () => {
    it.each(names)('%s', (name) => {
      const counts = new Map<Situation, number>(situations.map((situation) => [situation, 0]))
      const property = fc.property(anyCommands, (commands) => {
        const { met } = laws[name](commands)
        for (const situation of met) counts.set(situation, (counts.get(situation) ?? 0) + 1)
      })
      fc.assert(property, { numRuns: runs, seed })
      const rare = [...counts].filter(([, count]) => count < runs / 5)
      expect(rare, `situations met in less than a fifth of ${String(runs)} runs`).toEqual([])
    })
  })
}
