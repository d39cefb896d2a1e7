import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SessionEvent } from '@palimpsest/session'
import type { ChildProgram } from '@palimpsest/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type KillPoint, type Resumed, bundleConversation, killAndResume, placeIn, reference } from './kill.ts'

/** Children at one time. */
const WORKERS = 2

/** Kills a conversation at each of these points and goes on with it. */
async function killAtEach(
  program: ChildProgram,
  directory: string,
  points: readonly KillPoint[],
  whole: readonly SessionEvent[],
): Promise<Resumed[]> {
  const waiting = [...points]
  const resumed: Resumed[] = []
  const work = async (): Promise<void> => {
    for (let point = waiting.shift(); point !== undefined; point = waiting.shift()) {
      const { mode, seq } = point
      const name = `${mode}-${seq}`
      const done = await killAndResume(program, placeIn(directory, name), point, whole).catch((cause: unknown) => {
        const where = `killed when event ${seq} (${whole[seq]?.type}) was ${mode}`
        throw new Error(`${where}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
      })
      resumed.push(done)
    }
  }
  await Promise.all(Array.from({ length: WORKERS }, work))
  return resumed
}

/** Where to kill, given the conversation as it goes without a crash. */
export type ChoosePoints = (whole: readonly SessionEvent[]) => readonly KillPoint[]

/** The tests of one file. */
export function describeCrashes(title: string, choose: ChoosePoints): void {
  const directory = mkdtempSync(join(tmpdir(), 'palimpsest-crash-'))
  let program: ChildProgram

  beforeAll(async () => {
    program = await bundleConversation()
  })
  afterAll(async () => {
    await program.dispose()
    rmSync(directory, { recursive: true, force: true })
  })

  describe('a process that runs the loop, killed with SIGKILL', () => {
    it(`RE-01: ${title}`, async () => {
      const whole = await reference(program, placeIn(directory, 'reference'))
      const types = new Set(whole.map(({ type }) => type))
      expect([...types].filter((type) => type.startsWith('compaction/'))).toHaveLength(3)
      const points = choose(whole)
      const resumed = await killAtEach(program, directory, points, whole)
      const sum = (count: (one: Resumed) => number): number => resumed.reduce((total, one) => total + count(one), 0)
      console.info(
        `${whole.length} events of ${types.size} types: ${points.length} kills, ${resumed.length} resumes with ` +
          `${sum(({ turns }) => turns)} turns, ${sum(({ closers }) => closers)} closers, ` +
          `${sum(({ bodies }) => bodies)} bodies run, ${sum(({ compacted }) => Number(compacted))} compacted`,
      )
      expect(resumed).toHaveLength(points.length)
    })
  })
}
