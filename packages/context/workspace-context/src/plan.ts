import type { SessionSeq } from '@palimpsest/session'
import type { InstructionFile } from './content.ts'
import { renderFrame } from './frame.ts'
import { bySpecificity, directoryOf } from './paths.ts'
import { type FileRecord, saysTheSame } from './records.ts'

/** A message of this package on the surface. */
export interface LiveMessage {
  readonly seq: SessionSeq
  readonly files: readonly FileRecord[]
}

/** What the model was told so far. */
export interface ContextState {
  /** In surface order. */
  readonly messages: readonly LiveMessage[]
  /** The last record of each path that was on the surface once, whether it still is or a compaction covered it. */
  readonly told: ReadonlyMap<string, FileRecord>
}

export interface ContextBudget {
  /** UTF-8 bytes of quoted text in all messages on the surface together. */
  readonly maxBytes: number
  /** From the least specific to the most. */
  readonly fileNames: readonly string[]
}

/** A message that is to be written. */
export interface PlannedMessage {
  readonly text: string
  readonly files: readonly FileRecord[]
}

/** What brings the surface in line with the files. */
export interface ContextPlan {
  /** Messages whose files changed; each is replaced where it stands. */
  readonly replace: readonly (PlannedMessage & { readonly seq: SessionSeq })[]
  /** One message with all files that no message on the surface tells of. */
  readonly inject: PlannedMessage | undefined
}

/**
 * What to write so that the surface tells of each file exactly once, and what it says is so. `files` are the files that
 * are there, by path. Nothing to do gives an empty plan. Pure and deterministic. SPEC 7.3.
 */
export function planContext(
  state: ContextState,
  files: ReadonlyMap<string, InstructionFile>,
  budget: ContextBudget,
): ContextPlan {
  const wanted = wantedRecords(files, budget)
  const keepers = keepOne(state.messages, wanted)
  const replace = state.messages.flatMap(({ seq, files: told }) => {
    const kept = told.filter((record) => keepers.get(record.path) === record)
    const next = kept.map((record) => nextRecord(record, wanted.get(record.path)))
    if (next.length === told.length && next.every((record, index) => record === told[index])) return []
    return [{ seq, files: next, text: renderFrame(next, files) }]
  })
  const fresh = [...new Set([...wanted.keys(), ...state.told.keys()])]
    .filter((path) => !keepers.has(path))
    .sort(bySpecificity(budget.fileNames))
    .flatMap((path) => freshRecord(wanted.get(path), state.told.get(path)))
  return { replace, inject: fresh.length === 0 ? undefined : { files: fresh, text: renderFrame(fresh, files) } }
}

/** What is to be said of each file that is there: what fits the budget is quoted, the most specific first. */
function wantedRecords(
  files: ReadonlyMap<string, InstructionFile>,
  { maxBytes, fileNames }: ContextBudget,
): ReadonlyMap<string, FileRecord> {
  const paths = [...files.keys()].sort(bySpecificity(fileNames))
  const twins = firstTwins(paths, files)
  const wanted = new Map<string, FileRecord>()
  let room = maxBytes
  for (const path of paths.toReversed()) {
    const file = files.get(path)
    const as = twins.get(path)
    if (file === undefined) continue
    if (file.kind === 'refused') wanted.set(path, { path, status: 'left-out', reason: file.reason })
    else if (as !== undefined) wanted.set(path, { path, status: 'same', as })
    else if (file.bytes > room) wanted.set(path, { path, status: 'left-out', reason: 'over-budget' })
    else {
      room -= file.bytes
      wanted.set(path, { path, status: 'quoted', digest: file.digest })
    }
  }
  return wanted
}

/** The files that repeat one of their own directory, often by a link, with the first that holds the text. */
function firstTwins(
  paths: readonly string[],
  files: ReadonlyMap<string, InstructionFile>,
): ReadonlyMap<string, string> {
  const firsts = new Map<string, string>()
  const twins = new Map<string, string>()
  for (const path of paths) {
    const file = files.get(path)
    if (file?.kind !== 'text') continue
    const key = `${file.digest} ${directoryOf(path)}`
    const first = firsts.get(key)
    if (first === undefined) firsts.set(key, path)
    else twins.set(path, first)
  }
  return twins
}

/**
 * Of several records of one path, such as a compaction that was undone brings back, the one that stays: the first that
 * is right as it stands, else the last.
 */
function keepOne(
  messages: readonly LiveMessage[],
  wanted: ReadonlyMap<string, FileRecord>,
): ReadonlyMap<string, FileRecord> {
  const keepers = new Map<string, FileRecord>()
  for (const record of messages.flatMap(({ files }) => files)) {
    const keeper = keepers.get(record.path)
    if (keeper === undefined || !isRight(keeper, wanted.get(record.path))) keepers.set(record.path, record)
  }
  return keepers
}

function isRight(record: FileRecord, wanted: FileRecord | undefined): boolean {
  return wanted === undefined ? record.status === 'removed' : saysTheSame(record, wanted)
}

/** The record itself where it is still right. */
function nextRecord(record: FileRecord, wanted: FileRecord | undefined): FileRecord {
  if (isRight(record, wanted)) return record
  return wanted === undefined ? { path: record.path, status: 'removed' } : afterChange(wanted, record)
}

/** For a path that nothing on the surface tells of. Gone is worth a word only where the model may remember the text. */
function freshRecord(wanted: FileRecord | undefined, told: FileRecord | undefined): readonly FileRecord[] {
  if (wanted !== undefined) return [afterChange(wanted, told)]
  return told?.status === 'quoted' || told?.status === 'same' ? [{ path: told.path, status: 'removed' }] : []
}

function afterChange(wanted: FileRecord, told: FileRecord | undefined): FileRecord {
  if (wanted.status !== 'quoted' || told === undefined) return wanted
  const isNews = told.status === 'removed' || (told.status === 'quoted' && told.digest !== wanted.digest)
  return isNews ? { ...wanted, changed: true } : wanted
}
