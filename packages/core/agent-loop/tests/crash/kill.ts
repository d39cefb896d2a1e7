import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { basicCompaction } from '@palimpsest/compact-basic'
import { type Message, Session, type SessionEvent, TOOL_OUTCOME_UNKNOWN, messageId } from '@palimpsest/session'
import { type OpenedSession, persistSession } from '@palimpsest/session-persistence'
import { jsonlPersistence } from '@palimpsest/session-persistence-jsonl'
import { Child, type ChildExit, type ChildProgram, bundleChild } from '@palimpsest/testkit'
import { expect } from 'vitest'
import { logProblems, violations } from '../harness.ts'
import { bodiesOf, converse, id, vocabulary, work } from './conversation.ts'
import { effectsOf, summarize } from './script.ts'

/** Where the process dies: right after an event was appended, or when it is durable and nothing after it is. */
export interface KillPoint {
  readonly mode: 'appended' | 'durable'
  readonly seq: number
}

/** What a killed conversation left behind, and how it went on. */
export interface Resumed {
  readonly bodies: number
  readonly turns: number
  readonly closers: number
  readonly compacted: boolean
}

/** Where one conversation lives. */
export interface Place {
  readonly root: string
  readonly effectsPath: string
}

export function placeIn(directory: string, name: string): Place {
  return { root: join(directory, name), effectsPath: join(directory, `${name}.effects`) }
}

/** Bundles the conversation program; once per test file. */
export function bundleConversation(): Promise<ChildProgram> {
  const entry = fileURLToPath(new URL('./programs/conversation.ts', import.meta.url))
  return bundleChild(entry, ['fs-native-extensions'])
}

/** The conversation without a crash: what every killed one is a prefix of. */
export async function reference(program: ChildProgram, place: Place): Promise<readonly SessionEvent[]> {
  const child = new Child(program, [place.root, place.effectsPath])
  expect({ ...(await child.exit), errors: child.errors }).toEqual({ code: 0, signal: null, errors: '' })
  const { events } = await readOpen(place.root)
  expect(appendedBy(child)).toEqual(events.map(({ seq, type }) => `${seq} ${type}`))
  return events
}

/** Kills one conversation, holds what it left against the promises of SPEC 1 and 4, and goes on with it to the end. */
export async function killAndResume(
  program: ChildProgram,
  place: Place,
  { mode, seq }: KillPoint,
  whole: readonly SessionEvent[],
): Promise<Resumed> {
  const child = new Child(program, [place.root, place.effectsPath, mode, String(seq)])
  expect(await endAfter(child, 'stopped')).toEqual({ code: null, signal: 'SIGKILL' })
  const stored = await readOpen(place.root)
  checkDurable(child, place, stored.events, whole)
  if (mode === 'durable') expect(stored.events).toHaveLength(seq + 1)
  if (mode === 'appended') expect(stored.events.length).toBeLessThanOrEqual(seq + 1)

  const closers = await repairedOnce(place, stored)
  const resumed = await goOn(place)
  const bytes = logBytes(place.root)
  await repairedOnce(place, await readOpen(place.root))
  expect(logBytes(place.root) === bytes).toBe(true)
  return { ...resumed, closers }
}

async function endAfter(child: Child, line: string): Promise<ChildExit> {
  while ((await child.next()) !== line);
  return child.end()
}

function appendedBy({ lines }: Child): string[] {
  return lines.flatMap((line) => (line.startsWith('appended ') ? [line.slice('appended '.length)] : []))
}

/** No acknowledged event is lost, what is there is what was said, and no request or body ran ahead of its event. */
function checkDurable(
  child: Child,
  { effectsPath }: Place,
  events: readonly SessionEvent[],
  whole: readonly SessionEvent[],
): void {
  const acknowledged = Math.max(
    -1,
    ...child.lines.flatMap((line) => (line.startsWith('durable ') ? [Number(line.split(' ')[1])] : [])),
  )
  expect(events.length).toBeGreaterThan(acknowledged)
  expect(events).toEqual(whole.slice(0, events.length))
  const requests = events.filter(({ type }) => type === 'request/start')
  expect(child.lines.filter((line) => line === 'asked').length).toBeLessThanOrEqual(requests.length)
  const calls = callsOf(events)
  expect(bodiesOf(effectsPath).filter(({ callId }) => !calls.includes(callId))).toEqual([])
}

function callsOf(events: readonly SessionEvent[]): string[] {
  return events.flatMap((event) => (event.type === 'tool/call' ? [event.data.callId] : []))
}

/** Opens for writing: the closers are appended once, and then every open finds the same bytes. */
async function repairedOnce({ root }: Place, before: OpenedSession): Promise<number> {
  if (before.events.length === 0) return 0
  const found = new Set<string>()
  for (let opens = 0; opens < 3; opens += 1) {
    const handle = await jsonlPersistence({ root }).open(id, 'write')
    const { events, recovered } = handle.stored
    expect(recovered.closers).toHaveLength(opens === 0 ? before.pendingClosers.length : 0)
    if (opens === 0) expect(events).toEqual([...before.events, ...before.pendingClosers])
    await handle.close()
    found.add(logBytes(root))
  }
  expect(found.size).toBe(1)
  return before.pendingClosers.length
}

/** Goes on in this process to the end of the script. */
async function goOn({ root, effectsPath }: Place): Promise<Omit<Resumed, 'closers'>> {
  const store = jsonlPersistence({ root })
  const exists = (await store.stat(id)) !== undefined
  const handle = exists
    ? await store.open(id, 'write')
    : await store.create(Session.create({ id, createdAt: 1_700_000_000_000 }).header)
  const session = Session.restore(handle.stored, { vocabulary })
  expect(problemsOf(session)).toEqual([])
  await checkCompaction(copyOf(session))

  const ranBefore = bodiesOf(effectsPath)
  const persisted = persistSession(session, handle, { maxBatchDelayMs: 1_000_000 })
  const flush = (): Promise<void> => persisted.flush()
  const { loop, compaction, outcomes } = converse(session, { effectsPath, flush })
  // Making a loop and restoring a session run nothing.
  expect(bodiesOf(effectsPath)).toEqual(ranBefore)
  const turns = await work(session, loop, flush)
  expect(turns.map(({ reason }) => reason)).toEqual(turns.map(() => ({ kind: 'completed' })))
  expect(problemsOf(session)).toEqual([])
  checkEffects(session, effectsPath)
  checkTurns(session)
  const last = await compaction.compactNow()
  expect(['compacted', 'none']).toContain(last.kind)
  expect(problemsOf(session)).toEqual([])
  await persisted.close()
  expect((await readOpen(root)).events).toEqual(session.events)
  expect(outcomes.map(({ kind }) => kind)).not.toContain('failed')
  return {
    bodies: bodiesOf(effectsPath).length,
    turns: turns.length,
    compacted: outcomes.some(({ kind }) => kind === 'compacted'),
  }
}

/** A compaction of the session as the crash left it, in memory. */
async function checkCompaction(session: Session): Promise<void> {
  const compaction = basicCompaction({ session, summarize, budget: { tokens: 1020 }, summaryTokens: 40 })
  const outcome = await compaction.compactNow()
  expect(
    outcome.kind === 'compacted' || (outcome.kind === 'none' && outcome.refusal.reason === 'nothing-to-gain'),
  ).toBe(true)
  expect(problemsOf(session)).toEqual([])
}

function copyOf({ header, events }: Session): Session {
  return Session.restore({ header, events: structuredClone([...events]), inheritedEventCount: 0 }, { vocabulary })
}

/** What a provider would refuse, as the list stands and with one more message of the user. */
function problemsOf(session: Session): unknown[] {
  const derived = session.deriveMessages()
  const more: Message = {
    id: messageId('more'),
    role: 'user',
    content: [{ type: 'text', text: 'And then?' }],
    source: { kind: 'user' },
  }
  return [...logProblems(session), ...violations([...derived, more], 'request')]
}

/** No body and no effect ran twice; one that never ran is one whose outcome the log calls unknown. */
function checkEffects(session: Session, effectsPath: string): void {
  const bodies = bodiesOf(effectsPath)
  const effects = bodies.map(({ effect }) => effect)
  expect(new Set(bodies.map(({ callId }) => callId)).size).toBe(bodies.length)
  expect(new Set(effects).size).toBe(effects.length)
  const calls = callsOf(session.events)
  expect(bodies.filter(({ callId }) => !calls.includes(callId))).toEqual([])
  const unknown = session.events.flatMap((event) =>
    event.type === 'tool/result' && event.data.error?.code === TOOL_OUTCOME_UNKNOWN
      ? [String(event.data.message.source.callId)]
      : [],
  )
  const missing = Object.values(effectsOf)
    .flat()
    .filter((effect) => !effects.includes(effect))
  expect(missing.filter((effect) => !unknown.some((callId) => callId.startsWith(`call-${effect}-`)))).toEqual([])
}

function checkTurns({ events }: Session): void {
  const turns = events.flatMap((event) => (event.type === 'turn/start' ? [event.data.turn] : []))
  expect(turns).toEqual(turns.map((_, at) => at + 1))
}

/** What is durable: nothing where the process died before its first barrier. */
async function readOpen(root: string): Promise<OpenedSession> {
  const store = jsonlPersistence({ root })
  if ((await store.stat(id)) === undefined) {
    const { header } = Session.create({ id, createdAt: 1_700_000_000_000 })
    return { header, events: [], inheritedEventCount: 0, recovered: { ranges: [], closers: [] }, pendingClosers: [] }
  }
  await using handle = await store.open(id, 'read')
  return handle.stored
}

/** Bytes of the only log below a root, each a character. */
function logBytes(root: string): string {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' })
  const log = names.find((name) => name.endsWith('session.v3.jsonl'))
  return readFileSync(join(root, log ?? ''), 'latin1')
}
