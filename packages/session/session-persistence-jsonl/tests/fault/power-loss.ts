import { appendFileSync, mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { AttachmentRef, SessionEvent } from '@palimpsest/session'
import type { SessionPersistence } from '@palimpsest/session-persistence'
import {
  faultFileSystem,
  PowerLossRecorder,
  type CrashState,
  type Fault,
  type FaultFileSystem,
  type PowerLossOptions,
} from '@palimpsest/testkit'
import { nodeFileSystem, type FileSystem } from '../../src/index.ts'
import {
  called,
  filesBelow,
  headerOf,
  id,
  isClean,
  logOf,
  openStore,
  said,
  saidAll,
  sha256,
  writeSession,
} from './support.ts'

/** What the user was told: so many events are durable, this attachment is, the session is gone. */
export type Promised = { readonly length: number } | { readonly attachment: AttachmentRef } | { readonly deleted: true }

interface Stage {
  /** The store's root. */
  readonly root: string
  readonly fileSystem: FileSystem
  readonly faults: FaultFileSystem<FileSystem>
  promise(promised: Promised): void
}

/** A piece of a session's life during which the power may fail. */
export interface Scenario {
  readonly name: string
  /** What is on disk, durably, before it begins. */
  readonly before?: (root: string) => Promise<void>
  readonly run: (stage: Stage) => Promise<void>
  /** Every event that may ever be stored, in order; closers are taken as they come. */
  readonly events: readonly SessionEvent[]
  /** What may be stored instead: the events of a batch that failed and gave way to another one. */
  readonly otherwise?: readonly SessionEvent[]
  /** Bytes that recovery may move but never lose. */
  readonly kept?: Buffer
}

/** Longer than a page, so that one record spans several. */
const long = 'x'.repeat(9000)
/** Of another length in pages and of other content. */
const other = 'y'.repeat(5000)
const tornBytes = Buffer.from(`{"type":"user/message","seq":2,"time":17,"data":{"id":"half`)

/** What a writer leaves that was killed between its write and its sync: bytes that every reader sees and no disk holds yet. */
async function leaveUnsynced({ fileSystem, root }: Stage, text: string): Promise<void> {
  const file = await fileSystem.open(logOf(root), 'update')
  await file.write(Buffer.from(text), 0, Buffer.byteLength(text), (await file.stat()).size)
  await file.close()
}

function refOf(bytes: Buffer): AttachmentRef {
  return { attachmentId: `sha256:${sha256(bytes)}`, mediaType: 'text/plain', bytes: bytes.length }
}

/** Named, so that a recording can tell who asked for a sync. */
async function putAttachment(store: SessionPersistence, bytes: Buffer): Promise<AttachmentRef> {
  const ref = await store.attachments(id).put(bytes, { mediaType: 'text/plain' })
  return ref
}

async function deleteSession(store: SessionPersistence): Promise<void> {
  await store.delete(id)
}

/** A batch fails, and another one takes its place: what is left of the first must not meet the second. */
async function replaceBatch({ fileSystem, root, faults, promise }: Stage, fault: Fault): Promise<void> {
  const store = openStore(root, fileSystem)
  const handle = await store.open(id, 'write')
  const active = faults.inject({ ...fault, path: (path) => basename(path) === 'session.v3.jsonl', times: 1 })
  await handle.append([said(2, long)]).catch(() => undefined)
  if (active.struck !== 1) throw new Error('the fault did not strike')
  await handle.append([said(2, other)])
  promise({ length: 3 })
  await handle.append([said(3)])
  promise({ length: 4 })
  await handle.close()
  await store.close()
}

async function appendAll(
  { fileSystem, root, promise }: Stage,
  batches: readonly (readonly SessionEvent[])[],
): Promise<void> {
  const store = openStore(root, fileSystem)
  const handle = await store.open(id, 'write')
  promise({ length: handle.stored.events.length })
  for (const batch of batches) {
    await handle.append(batch)
    promise({ length: (batch.at(-1)?.seq ?? 0) + 1 })
  }
  await handle.close()
  await store.close()
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'a session is created and appended to',
    events: [said(0), said(1, long), said(2), said(3), said(4)],
    run: async ({ fileSystem, root, promise }) => {
      const store = openStore(root, fileSystem)
      const handle = await store.create(headerOf())
      await handle.append([said(0), said(1, long)])
      promise({ length: 2 })
      await handle.append([said(2)])
      promise({ length: 3 })
      await handle.append([said(3), said(4)])
      promise({ length: 5 })
      await handle.close()
      await store.close()
    },
  },
  {
    name: 'a session without events is made durable',
    events: [said(0)],
    run: async ({ fileSystem, root, promise }) => {
      const store = openStore(root, fileSystem)
      const handle = await store.create(headerOf())
      await handle.flush()
      promise({ length: 0 })
      await handle.append([said(0)])
      promise({ length: 1 })
      await handle.close()
      await store.close()
    },
  },
  {
    name: 'a stored session is opened and appended to',
    before: (root) => writeSession(root, [saidAll(0, 2)]),
    events: [said(0), said(1), said(2, long), said(3), said(4)],
    run: (stage) => appendAll(stage, [[said(2, long)], [said(3), said(4)]]),
  },
  {
    name: 'a torn tail is recovered',
    before: async (root) => {
      await writeSession(root, [saidAll(0, 2)])
      appendFileSync(logOf(root), tornBytes)
    },
    kept: tornBytes,
    events: [said(0), said(1), said(2, long), said(3)],
    run: (stage) => appendAll(stage, [[said(2, long)], [said(3)]]),
  },
  {
    name: 'a last record gets its newline',
    before: (root) => writeSession(root, [saidAll(0, 2)]),
    events: saidAll(0, 5),
    run: async (stage) => {
      await leaveUnsynced(stage, JSON.stringify(said(2)))
      await appendAll(stage, [[said(3)], [said(4)]])
    },
  },
  {
    name: 'whole records that were never acknowledged are kept',
    before: (root) => writeSession(root, [saidAll(0, 2)]),
    events: saidAll(0, 6),
    run: async (stage) => {
      await leaveUnsynced(stage, `${JSON.stringify(said(2))}\n${JSON.stringify(said(3))}\n`)
      await appendAll(stage, [[said(4)], [said(5)]])
    },
  },
  {
    name: 'an open call is closed',
    before: (root) => writeSession(root, [[said(0), called(1)]]),
    events: [said(0), called(1)],
    run: (stage) => appendAll(stage, []),
  },
  {
    name: 'an attachment is put and cited',
    before: (root) => writeSession(root, [saidAll(0, 1)]),
    events: saidAll(0, 2),
    run: async (stage) => {
      const store = openStore(stage.root, stage.fileSystem)
      for (const bytes of [Buffer.alloc(5000, 'a'), Buffer.from('b')]) {
        stage.promise({ attachment: await putAttachment(store, bytes) })
      }
      await store.close()
      await appendAll(stage, [[said(1)]])
    },
  },
  {
    name: 'an attachment is put before the first event',
    events: saidAll(0, 1),
    run: async ({ fileSystem, root, promise }) => {
      const store = openStore(root, fileSystem)
      const handle = await store.create(headerOf())
      promise({ attachment: await putAttachment(store, Buffer.from('early')) })
      await handle.append([said(0)])
      promise({ length: 1 })
      await handle.close()
      await store.close()
    },
  },
  {
    name: 'a batch is written halfway and gives way to another',
    before: (root) => writeSession(root, [saidAll(0, 2)]),
    events: [said(0), said(1), said(2, other), said(3)],
    otherwise: [said(0), said(1), said(2, long)],
    run: (stage) => replaceBatch(stage, { operation: 'write', bytes: 9100, code: 'ENOSPC' }),
  },
  {
    name: 'a batch is written, its sync fails, and it gives way to another',
    before: (root) => writeSession(root, [saidAll(0, 2)]),
    events: [said(0), said(1), said(2, other), said(3)],
    otherwise: [said(0), said(1), said(2, long)],
    run: (stage) => replaceBatch(stage, { operation: 'datasync', code: 'EIO' }),
  },
  {
    name: 'a sync fails and drops its pages, and the batch is written again',
    before: (root) => writeSession(root, [saidAll(0, 2)]),
    events: [said(0), said(1), said(2, long), said(3)],
    run: async ({ fileSystem, root, faults, promise }) => {
      const store = openStore(root, fileSystem)
      const handle = await store.open(id, 'write')
      faults.inject({
        operation: 'datasync',
        path: (path) => basename(path) === 'session.v3.jsonl',
        code: 'EIO',
        times: 1,
      })
      await handle.append([said(2, long)]).catch(() => undefined)
      await handle.append([said(2, long)])
      promise({ length: 3 })
      await handle.append([said(3)])
      promise({ length: 4 })
      await handle.close()
      await store.close()
    },
  },
  {
    name: 'a session is deleted',
    before: async (root) => {
      await writeSession(root, [saidAll(0, 2)])
      const store = openStore(root)
      await putAttachment(store, Buffer.from('a'))
      await store.close()
    },
    events: saidAll(0, 2),
    run: async ({ fileSystem, root, promise }) => {
      // As long as the session is there, its attachments are.
      promise({ attachment: refOf(Buffer.from('a')) })
      const store = openStore(root, fileSystem)
      await deleteSession(store)
      promise({ deleted: true })
      await store.close()
    },
  },
]

export type Recording = PowerLossRecorder<FileSystem, Promised>

/** Plays a scenario once below `disk`, an empty directory. */
export async function record(scenario: Scenario, disk: string, options: PowerLossOptions = {}): Promise<Recording> {
  const root = join(disk, 'root')
  if (scenario.before !== undefined) {
    mkdirSync(root, { mode: 0o700 })
    await scenario.before(root)
  }
  const faults = faultFileSystem(nodeFileSystem)
  const recorder: Recording = new PowerLossRecorder(faults.fileSystem, disk, options)
  await scenario.run({ root, fileSystem: recorder.fileSystem, faults, promise: (promised) => recorder.mark(promised) })
  return recorder
}

function same(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right)
}

/** Whether these events, as far as they are known, are what the scenario may have stored. */
function isHistory(scenario: Scenario, events: readonly SessionEvent[]): boolean {
  const histories = [scenario.events, ...(scenario.otherwise === undefined ? [] : [scenario.otherwise])]
  return histories.some((history) => {
    const known = Math.min(events.length, history.length)
    return same(events.slice(0, known), history.slice(0, known))
  })
}

function isKept(disk: string, bytes: Buffer): boolean {
  return [...filesBelow(disk).values()].some((content) => content.includes(bytes))
}

/**
 * Opens what a power loss left, for read and for write, and says what is wrong with it; undefined when every promise
 * holds, nothing is half there, and the session goes on.
 */
export async function lossIn(
  scenario: Scenario,
  state: CrashState<Promised>,
  disk: string,
): Promise<string | undefined> {
  state.materialise(disk)
  const root = join(disk, 'root')
  const promisedLength = Math.max(-1, ...state.marks.map((mark) => ('length' in mark ? mark.length : -1)))
  if (state.marks.some((mark) => 'deleted' in mark)) {
    const back = [...filesBelow(disk).keys()].filter((path) => /session\.v3|attachments|recovered/.test(path))
    return back.length === 0 ? undefined : `what was deleted is back: ${back.join(', ')}`
  }
  if (scenario.kept !== undefined && !isKept(disk, scenario.kept)) return 'the bytes that recovery took out are lost'
  const store = openStore(root)
  try {
    if ((await store.stat(id)) === undefined)
      return promisedLength >= 0 ? 'the session is lost' : await goesOn(scenario, store)
    for (const mark of state.marks) {
      if ('attachment' in mark && (await store.attachments(id).get(mark.attachment)) === undefined)
        return 'an attachment is lost'
    }
    const read = await store.open(id, 'read')
    const { events } = read.stored
    await read.close()
    if (events.length < promisedLength) return `${events.length} events are left of ${promisedLength} acknowledged`
    if (!isHistory(scenario, events)) return 'events differ from those that were appended'
    return await goesOn(scenario, store)
  } catch (cause) {
    return `it does not open: ${String(cause)}`
  } finally {
    await store.close()
  }
}

async function goesOn(scenario: Scenario, store: SessionPersistence): Promise<string | undefined> {
  const exists = (await store.stat(id)) !== undefined
  const handle = exists ? await store.open(id, 'write') : await store.create(headerOf())
  const next = handle.nextSeq
  await handle.append([said(next, 'after the crash')])
  await handle.close()
  const again = await store.open(id, 'write')
  const { events, recovered } = again.stored
  await again.close()
  if (!isClean(recovered)) return 'the recovered session does not reopen clean'
  if (!same(events.at(-1), said(next, 'after the crash'))) return 'the append after the crash is not there'
  return isHistory(scenario, events.slice(0, next)) ? undefined : 'events differ after the write open'
}

export interface Search {
  readonly seed: number
  /** Crash states to try at each moment, at most. */
  readonly limit: number
}

/** What a search came to: how many different states it opened, and the first loss. */
export interface Found {
  readonly states: number
  readonly loss?: string
}

/** Opens what a power loss may leave at every moment of a recording, until something is lost. The extremes come first. */
export async function searchLoss(
  scenario: Scenario,
  recording: Recording,
  fresh: () => string,
  { seed, limit }: Search,
): Promise<Found> {
  // The same tree under the same promises says nothing new.
  const seen = new Set<string>()
  const states = function* (): Iterable<CrashState<Promised>> {
    yield* recording.crashStates(2, seed)
    yield* recording.crashStates(limit, seed)
  }
  for (const state of states()) {
    const key = `${state.digest} ${state.marks.length}`
    if (seen.has(key)) continue
    seen.add(key)
    const loss = await lossIn(scenario, state, fresh())
    if (loss !== undefined)
      return {
        states: seen.size,
        loss: [`${loss}; seed ${seed}, after ${state.after}, lost:`, ...state.lost].join('\n  '),
      }
  }
  return { states: seen.size }
}
