import { sessionId } from '@palimpsest/session'
import { seededRandom, type ChildProgram } from '@palimpsest/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleWriter, WriterProcess } from './processes.ts'
import { scratch } from './scratch.ts'
import { headerOf, openStore, said, saidAll } from './support.ts'

/** Lets `count` turns of the event loop pass: a moment too short and too uneven for a timer. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

interface Round {
  readonly name: string
  /** Events that were stored before the round; 0 creates the session. */
  readonly stored: number
}

/** One process appends until it is killed; then this one opens the session, checks it, and goes on with it. */
async function killOnce(
  program: ChildProgram,
  root: string,
  { name, stored }: Round,
  random: () => number,
): Promise<{ stored: number; acknowledged: number }> {
  const writer = new WriterProcess(program, root, name)
  writer.child.send(stored === 0 ? 'create' : 'open')
  writer.child.send(`loop ${Math.floor(random() * 2 ** 31)}`)
  const answers = Math.floor(random() * 24)
  for (let seen = 0; seen < answers; seen += 1) expect((await writer.answer()).failed).toBeUndefined()
  await turns(Math.floor(random() * 400))
  await writer.child.end()
  const acknowledged = writer.acknowledged

  const store = openStore(root)
  const exists = (await store.stat(sessionId(name))) !== undefined
  // A session that was killed before its first acknowledged batch may or may not be there.
  expect(exists || (acknowledged === -1 && stored === 0)).toBe(true)
  const handle = exists ? await store.open(sessionId(name), 'write') : await store.create(headerOf(name))
  const { events } = handle.stored
  expect(events.length).toBeGreaterThanOrEqual(Math.max(stored, acknowledged + 1))
  expect(events).toEqual(saidAll(0, events.length))
  await handle.append([said(events.length)])
  await handle.close()
  await store.close()
  return { stored: events.length + 1, acknowledged: Math.max(0, acknowledged + 1 - stored) }
}

/** Kills a writer `rounds` times at moments that `seed` decides; returns how many events were acknowledged in all. */
async function killWriters(program: ChildProgram, root: string, rounds: number, seed: number): Promise<number> {
  const random = seededRandom(seed)
  let round: Round = { name: 'killed-0', stored: 0 }
  let total = 0
  for (let done = 0; done < rounds; done += 1) {
    if (done % 8 === 0) round = { name: `killed-${done}`, stored: 0 }
    const { stored, acknowledged } = await killOnce(program, root, round, random).catch((cause: unknown) => {
      throw new Error(`round ${done} of seed ${seed}: ${String(cause)}`, { cause })
    })
    round = { ...round, stored }
    total += acknowledged
  }
  return total
}

/** The tests of one file: a writer is killed `rounds` times. */
export function describeKills(rounds: number): void {
  const place = scratch()
  let writer: ChildProgram

  beforeAll(async () => {
    writer = await bundleWriter()
  })
  afterAll(() => writer.dispose())

  describe(`a writer killed with SIGKILL at ${rounds} random moments`, () => {
    it('loses no acknowledged event, and its session always opens and goes on', async () => {
      const seed = Date.now() % 2 ** 31
      console.info(`seed ${seed}`)
      expect(await killWriters(writer, place.path, rounds, seed)).toBeGreaterThan(rounds)
    })
  })
}
