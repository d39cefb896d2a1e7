import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compactionEvents } from '@palimpsest/compact'
import { Session, coreEvents, interruptedTurnClosers, sessionId, traceFindings } from '@palimpsest/session'
import { jsonlPersistence } from '@palimpsest/session-persistence-jsonl'
import { Child, type ChildProgram, bundleChild, seededRandom, startProviderServer } from '@palimpsest/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sendAgain } from './checks.ts'
import { Dice, anyReply, anyTrouble } from './scripts.ts'
import { type WireTarget, allTargets } from './targets.ts'
import { temporaryRoot } from './wire-session.ts'

const given = process.env['PALIMPSEST_SEED']
const firstSeed = given === undefined ? Math.trunc(Math.random() * 2 ** 30) : Number(given)
const each = Number(process.env['PALIMPSEST_KILLED'] ?? 2)
const mostLives = 6
const vocabulary = coreEvents.extend(compactionEvents)

let root: Awaited<ReturnType<typeof temporaryRoot>>
let program: ChildProgram
const sum = { conversations: 0, requests: 0, kills: 0, bodies: 0, compactions: 0 }

beforeAll(async () => {
  root = await temporaryRoot()
  program = await bundleChild(fileURLToPath(new URL('./programs/life.ts', import.meta.url)), ['fs-native-extensions'])
})
afterAll(async () => {
  await program.dispose()
  await root.dispose()
  const counts = Object.entries(sum).map(([name, count]) => `${name} ${count}`)
  console.info(`killed for real: ${counts.join(', ')}; PALIMPSEST_SEED=${firstSeed}`)
})

/** Lets a life say `lines` lines and kills it; answers whether it was done before that. */
async function live(child: Child, lines: number): Promise<boolean> {
  for (let line = 0; line < lines; line += 1) {
    if ((await child.next()) === 'done') return (await child.exit).code === 0
  }
  await child.end()
  return false
}

async function killAgainAndAgain(target: WireTarget, seed: number): Promise<void> {
  const dice = new Dice(seededRandom(seed))
  const place = { root: join(root.path, `${target.kind}-${target.name}-${seed}`), id: `killed ${seed}` }
  await using server = await startProviderServer({
    kind: target.kind,
    strict: true,
    seed,
    script: (request) => {
      const reply = anyReply(dice, target, request, dice.chance(0.6))
      return dice.chance(0.1) ? anyTrouble(dice, reply) : reply
    },
  })
  const said: string[] = []
  for (let life = 1; life <= mostLives; life += 1) {
    const isLast = life === mostLives
    const child = new Child(program, [place.root, place.id, target.name, server.baseURL, isLast ? '1' : '3'])
    const isDone = await live(child, isLast ? Infinity : dice.below(70))
    if (isLast) expect([isDone, child.errors]).toEqual([true, ''])
    if (!isDone) sum.kills += 1
    said.push(...child.lines)
  }
  await server.settled()
  expect(server.refusals).toEqual([])
  expect(server.dropped).toEqual([])

  const store = jsonlPersistence({ root: place.root })
  const { stored } = await store.open(sessionId(place.id), 'read')
  const { events } = Session.restore(stored, { vocabulary })
  expect(interruptedTurnClosers(events)).toEqual([])
  expect(traceFindings(events).filter(({ code }) => code !== 'trace/undelivered-result')).toEqual([])

  // A body runs once, and only behind a call that is on the disk.
  const bodies = said.filter((line) => line.startsWith('body '))
  const calls = events.flatMap((event) =>
    event.type === 'tool/call' ? [`body ${event.data.turn}/${event.data.step}/${event.data.callId}`] : [],
  )
  expect(bodies).toEqual([...new Set(bodies)])
  expect(bodies.filter((body) => !calls.includes(body))).toEqual([])

  // Whatever reached the server is a request that the log gives again, byte by byte.
  const attachments = store.attachments(sessionId(place.id))
  const known = new Set<string | undefined>()
  for (const { type, seq } of events) {
    if (type === 'request/start') known.add(await sendAgain(events, { seq, target }, { attachments }))
  }
  expect(server.requests.filter(({ text }) => !known.has(text)).map(({ text }) => text)).toEqual([])
  await store.close()

  sum.conversations += 1
  sum.requests += server.requests.length
  sum.bodies += bodies.length
  sum.compactions += events.filter(({ type }) => type === 'compaction/summary').length
}

describe.each(allTargets)('processes killed while they talk to $name', (target) => {
  it(`leave a session that goes on, ${each} from seed ${firstSeed}`, async () => {
    for (let seed = firstSeed; seed < firstSeed + each; seed += 1) await killAgainAndAgain(target, seed)
  })
})
