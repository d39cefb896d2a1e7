import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { converse } from './conversations.ts'
import { addTally, emptyTally } from './tally.ts'
import { allTargets } from './targets.ts'
import { temporaryRoot } from './wire-session.ts'

const given = process.env['PALIMPSEST_SEED']
/** Every change is judged by the same conversations; `PALIMPSEST_SEED` tries others. */
const firstSeed = given === undefined ? 756_737_178 : Number(given)
/** Conversations at a time: most of one is waiting for sockets and disks. */
const sideBySide = 4

/** SPEC 7.4, 8: whatever happens to a session, its provider takes the next request. */
export function describeConversations(each: number): void {
  let root: Awaited<ReturnType<typeof temporaryRoot>>
  const sum = emptyTally()
  beforeAll(async () => {
    root = await temporaryRoot()
  })
  afterAll(async () => {
    await root.dispose()
    const counts = Object.entries(sum).map(([name, count]) => `${name} ${count}`)
    console.info(`wire: ${counts.join(', ')}; PALIMPSEST_SEED=${firstSeed}`)
  })

  describe.each(allTargets)('conversations with the published package for $name', (target) => {
    it(`end with nothing refused and every request in the log, ${each} from seed ${firstSeed}`, async () => {
      const seeds = Array.from({ length: each }, (_, at) => firstSeed + at)
      const own = emptyTally()
      const failed: { readonly seed: number; readonly problems: readonly string[] }[] = []
      const worker = async (): Promise<void> => {
        for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
          const { tally, problems } = await converse(root.path, target, seed)
          addTally(own, tally)
          if (problems.length > 0) failed.push({ seed, problems })
        }
      }
      await Promise.all(Array.from({ length: sideBySide }, worker))
      addTally(sum, own)
      expect(failed).toEqual([])
      // It would hold for loops that never send any.
      if (each > 5 && target.kind !== 'openai-chat') expect(own.reasoning).toBeGreaterThan(0)
    })
  })
}
