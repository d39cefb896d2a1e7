import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { SessionEvent } from '@palimpsest/session'
import type { SessionPersistence } from '@palimpsest/session-persistence'
import { faultFileSystem, PowerLossRecorder, type CrashState, type PowerLossOptions } from '@palimpsest/testkit'
import { nodeFileSystem, type FileSystem } from '../../src/index.ts'
import type { Promised, Scenario } from './power-loss-scenarios.ts'
import { filesBelow, headerOf, id, isClean, openStore, said, unsynced } from './support.ts'

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
  return [...filesBelow(disk)].some(([path, content]) => !path.endsWith('.tmp') && content.includes(bytes))
}

/**
 * Opens what a power loss left, for read and for write, and says what is wrong with it; undefined when every promise
 * holds, nothing is half there, and the session goes on.
 */
async function lossIn(scenario: Scenario, state: CrashState<Promised>, disk: string): Promise<string | undefined> {
  state.materialise(disk)
  const root = join(disk, 'root')
  const promisedLength = Math.max(-1, ...state.marks.map((mark) => ('length' in mark ? mark.length : -1)))
  if (state.marks.some((mark) => 'deleted' in mark)) {
    const back = [...filesBelow(disk).keys()].filter((path) => /session\.v3|attachments|recovered/.test(path))
    return back.length === 0 ? undefined : `what was deleted is back: ${back.join(', ')}`
  }
  if (scenario.kept !== undefined && !isKept(disk, scenario.kept)) return 'the bytes that recovery took out are lost'
  const store = openStore(root, unsynced)
  try {
    if ((await store.stat(id)) === undefined)
      return promisedLength >= 0 ? 'the session is lost' : await goesOn(scenario, store, false)
    for (const mark of state.marks) {
      if ('attachment' in mark && (await store.attachments(id).get(mark.attachment)) === undefined)
        return 'an attachment is lost'
    }
    const read = await store.open(id, 'read')
    const { events } = read.stored
    await read.close()
    if (events.length < promisedLength) return `${events.length} events are left of ${promisedLength} acknowledged`
    if (!isHistory(scenario, events)) return 'events differ from those that were appended'
    return await goesOn(scenario, store, true)
  } catch (cause) {
    return `it does not open: ${String(cause)}`
  } finally {
    await store.close()
  }
}

async function goesOn(scenario: Scenario, store: SessionPersistence, exists: boolean): Promise<string | undefined> {
  const handle = exists ? await store.open(id, 'write') : await store.create(headerOf())
  const next = handle.nextSeq
  await handle.append([said(next, 'after the crash')])
  await handle.close()
  const again = await store.open(id, 'read')
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
