import { appendFileSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { SessionEvent } from '@palimpsest/session'
import type { SessionHandle, SessionPersistence } from '@palimpsest/session-persistence'
import { layerFileSystem, type FileSystemCall } from '@palimpsest/testkit'
import { beforeEach, describe, expect, it } from 'vitest'
import type { FileSystem } from '../../src/index.ts'
import { scratch } from './scratch.ts'
import { called, headerOf, id, logOf, openStore, readAll, said, saidAll, unsynced, writeSession } from './support.ts'

type Lock = 'kernel' | 'lease'

const place = scratch()
let root: string

beforeEach(() => {
  root = place.fresh()
})

/** What a crash left, so that a write open has something to mend. */
const wrecks: Readonly<Record<string, () => Promise<void>>> = {
  'a torn tail': async () => {
    await writeSession(root, [saidAll(0, 2)])
    appendFileSync(logOf(root), '{"type":"user/message","seq":2,"ti')
  },
  'a last line without its newline': async () => {
    await writeSession(root, [saidAll(0, 2)])
    truncateSync(logOf(root), readFileSync(logOf(root)).length - 2)
  },
  'an open turn': async () => {
    await writeSession(root, [saidAll(0, 2), [called(2)]])
  },
}

/** How a writer comes to its handle: by opening a wreck, or by creating a session over a log that is empty. */
type Way = (store: SessionPersistence) => Promise<SessionHandle>
const opens: Way = (store) => store.open(id, 'write')
const creates: Way = (store) => store.create(headerOf())

/** Takes the claim away from whoever has it, and acknowledges one event. */
async function overtake(lock: Lock, way: Way): Promise<SessionEvent> {
  rmSync(join(dirname(logOf(root)), lock === 'kernel' ? 'session.lock' : 'session.owner'), { force: true })
  const store = openStore(root, unsynced, lock)
  const handle = await way(store)
  const event = said(handle.nextSeq, 'of the successor')
  await handle.append([event])
  await store.close()
  return event
}

/** The write itself: between the look and it, only the kernel could keep another process out. See the README. */
const writes = new Set(['write', 'truncate', 'datasync', 'rename'])

function isWrite({ operation, path, target }: FileSystemCall): boolean {
  return writes.has(operation) && (target ?? path) === logOf(root)
}

interface Overtaken {
  /** What the successor acknowledged; absent where it was not let in. */
  readonly event: SessionEvent | undefined
  readonly error: unknown
  /** Calls that the open and its append made. */
  readonly calls: number
}

/** Comes to a handle, appends, and is overtaken right before its `at`-th call. */
async function beOvertaken(lock: Lock, way: Way, at: number): Promise<Overtaken> {
  let calls = 0
  let event: SessionEvent | undefined
  const fileSystem: FileSystem = layerFileSystem(unsynced, async (call, proceed) => {
    calls += 1
    if (calls === at && !isWrite(call)) event = await overtake(lock, way)
    return proceed()
  })
  const store = openStore(root, fileSystem, lock)
  let error: unknown
  try {
    const handle = await way(store)
    await handle.append([said(handle.nextSeq, 'of the first')])
  } catch (caught) {
    error = caught
  }
  await store.close().catch(() => undefined)
  return { event, error, calls }
}

/** Is overtaken before each of its calls in turn; whatever the successor acknowledged must be there afterwards. */
async function holdsWheneverOvertaken(lock: Lock, way: Way, wreck: () => Promise<void>): Promise<void> {
  let overtaken = 0
  let refused = 0
  for (let at = 1, calls = 1; at <= calls; at += 1) {
    root = place.fresh()
    await wreck()
    const attempt = await beOvertaken(lock, way, at)
    calls = attempt.calls
    if (attempt.event === undefined) continue
    overtaken += 1
    if (attempt.error !== undefined) refused += 1
    expect((await readAll(root)).events, `overtaken before call ${at}`).toContainEqual(attempt.event)
  }
  expect(overtaken).toBeGreaterThan(10)
  expect(refused).toBeGreaterThan(3)
}

describe.each(['kernel', 'lease'] as const)('a writer that loses its claim on the way (%s)', (lock) => {
  it.each(Object.entries(wrecks))('takes nothing from its successor by opening %s', (_, wreck) =>
    holdsWheneverOvertaken(lock, opens, wreck),
  )

  it('takes nothing from its successor by creating over an empty log', () =>
    holdsWheneverOvertaken(lock, creates, async () => {
      await writeSession(root, [saidAll(0, 1)])
      truncateSync(logOf(root), 10)
    }))
})
