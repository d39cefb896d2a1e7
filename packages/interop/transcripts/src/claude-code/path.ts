import { lineGraph } from './graph.ts'
import type { LineGraph } from './graph.ts'
import type { LineRecord } from './record.ts'

/** A stretch of conversation between two compactions, oldest first in a lane. */
export interface Segment {
  /** Positions of the user and assistant lines the model saw, in file order. */
  readonly lines: readonly number[]
  /** The compaction that begins this stretch; absent in the first one. */
  readonly compaction?: Compaction
}
export interface Compaction {
  /** Position of the boundary, or of the summary where old versions wrote no boundary. */
  readonly mark: number
  /** Position of the summary line, where there is one. */
  readonly summary?: number
  /** Uuids of the messages that stay visible after the summary. */
  readonly preserved: ReadonlySet<string>
  /** Whether the history before it is in the file. */
  readonly hasHistory: boolean
}
export interface Conversation {
  readonly segments: readonly Segment[]
  /** Why each user or assistant line that is in no segment is none of the conversation. */
  readonly left: ReadonlyMap<number, string>
  /** Whether no line named another one, so that file order had to do. */
  readonly flat: boolean
  /** Position of the first line, where the file does not hold the line it follows. */
  readonly dangling?: number
}

const isTalk = (record: LineRecord | undefined): boolean => record?.kind === 'user' || record?.kind === 'assistant'

/** Finds what the model saw, by the rule of FORMATS 1.4: the path from the last line, plus its whole responses. */
export function reconstruct(records: readonly LineRecord[]): Conversation {
  const graph = lineGraph(records)
  const retracted = new Set(records.flatMap((record) => record.retracts))
  const stays = (position: number): boolean =>
    isTalk(records[position]) && !retracted.has(records[position]?.uuid ?? '')
  const talk = [...records.keys()].filter(stays)
  const flat = talk.length > 1 && talk.every((at) => graph.previous(at, Infinity) === undefined)
  const { segments, roots, dangling } = flat
    ? { segments: [{ lines: talk }], roots: new Set<number>(), dangling: undefined }
    : walk(graph, leafOf(graph, talk), stays)
  const used = new Set(segments.flatMap(({ lines, compaction }) => [...lines, compaction?.summary ?? -1]))
  const rootOf = rootFinder(graph, Infinity)
  const left = new Map<number, string>()
  for (const [position, record] of records.entries()) {
    if (!isTalk(record) || used.has(position)) continue
    left.set(position, reasonLeft(graph, position, retracted, roots.has(rootOf(position))))
  }
  return { segments, left, flat, ...(dangling === undefined ? {} : { dangling }) }
}

function reasonLeft(graph: LineGraph, at: number, retracted: ReadonlySet<string>, sameRoot: boolean): string {
  const { uuid } = graph.records[at] ?? {}
  if (retracted.has(uuid ?? '')) return 'message/retracted'
  if (graph.resolve(uuid, at) !== undefined || graph.resolve(uuid, Infinity) !== at) return 'line/repeated'
  return sameRoot ? 'branch/left' : 'branch/other-root'
}

/** The end of the conversation: its last line, or where a later `last-prompt` record says the user went back to. */
function leafOf(graph: LineGraph, talk: readonly number[]): number | undefined {
  const last = talk.at(-1)
  if (last === undefined) return undefined
  const chosen = graph.records.findLast((record, position) => position > last && record.leaf !== undefined)
  const leaf = graph.resolve(chosen?.leaf, Infinity)
  return leaf === undefined || pathFrom(graph, last).has(leaf) ? last : leaf
}

function pathFrom(graph: LineGraph, leaf: number): ReadonlySet<number> {
  const path = new Set<number>()
  for (let at: number | undefined = leaf; at !== undefined && !path.has(at); at = graph.previous(at, Infinity))
    path.add(at)
  return path
}

interface Walked {
  readonly segments: readonly Segment[]
  readonly roots: ReadonlySet<number>
  readonly dangling: number | undefined
}

interface Stretch {
  readonly path: readonly number[]
  readonly bound: number
  readonly mark?: number
  readonly summary?: number
  readonly hasHistory: boolean
}

function walk(graph: LineGraph, leaf: number | undefined, stays: (at: number) => boolean): Walked {
  const { records } = graph
  const stretches: Stretch[] = []
  let seen = new Set<number>()
  const roots = new Set<number>()
  let dangling: number | undefined
  let bound = Infinity
  let path: number[] = []
  let summary: number | undefined
  for (let at = leaf; at !== undefined && !seen.has(at);) {
    seen.add(at)
    const record = records[at]
    if (record === undefined) break
    path.push(at)
    if (record.userClass === 'summary') summary ??= at
    let next = graph.previous(at, bound)
    if (graph.isMark(at, bound)) {
      next = before(graph, at)
      stretches.push({
        path,
        bound,
        mark: at,
        ...(summary === undefined ? {} : { summary }),
        hasHistory: next !== undefined,
      })
      roots.add(at)
      // Below the mark the search starts over: a preserved line is passed on both sides of it.
      ;[path, bound, summary, seen] = [[], at, undefined, new Set()]
    } else if (next === undefined) {
      roots.add(at)
      if (record.parent !== undefined) dangling = at
    }
    at = next
  }
  if (path.length > 0) stretches.push({ path, bound, hasHistory: true })
  return { segments: settle(graph, stretches.reverse(), stays), roots, dangling }
}

/** Where the history before a compaction mark ends. */
function before(graph: LineGraph, mark: number): number | undefined {
  const record = graph.records[mark]
  const named = record?.kind === 'boundary' ? record.logicalParent : record?.parent
  if (named !== undefined) return graph.resolve(named, mark)
  const last = graph.records.findLastIndex((other, position) => position < mark && isTalk(other))
  return last === -1 ? undefined : last
}

function settle(graph: LineGraph, stretches: readonly Stretch[], stays: (at: number) => boolean): Segment[] {
  const { records } = graph
  const used = new Set<string>()
  return stretches.map(({ path, bound, mark, summary, hasHistory }) => {
    const whole = wholeResponses(graph, path, bound).filter((at) => stays(at) && at !== summary)
    // A preserved message may be written again after the boundary: it is on the surface already.
    const lines = whole.filter((at) => !used.has(records[at]?.uuid ?? ''))
    for (const at of lines) used.add(records[at]?.uuid ?? '')
    used.delete('')
    if (mark === undefined) return { lines }
    const preserved = graph.keptAt(mark)
    return { lines, compaction: { mark, preserved, hasHistory, ...(summary === undefined ? {} : { summary }) } }
  })
}

/** The path plus every line of its responses, and every answer to their calls, of the same root. */
function wholeResponses(graph: LineGraph, path: readonly number[], bound: number): number[] {
  const { records } = graph
  const chosen = new Set(path)
  const rootOf = rootFinder(graph, bound)
  const root = rootOf(path.at(-1) ?? 0)
  const admit = (candidates: readonly number[]): void => {
    for (const at of candidates) {
      if (at >= bound || chosen.has(at)) continue
      if (graph.resolve(records[at]?.uuid, bound) === at && rootOf(at) === root) chosen.add(at)
    }
  }
  for (const group of new Set(path.flatMap((at) => records[at]?.group ?? []))) admit(graph.inGroup(group))
  for (const callId of new Set([...chosen].flatMap((at) => records[at]?.calls ?? []))) admit(graph.answering(callId))
  return [...chosen].sort((a, b) => a - b)
}

/** Follows lines to their root, remembering what it learnt. A cycle's root is where it was entered. */
function rootFinder(graph: LineGraph, bound: number): (position: number) => number {
  const known = new Map<number, number>()
  return (position) => {
    const trail = new Set<number>()
    let at = position
    for (;;) {
      const root = known.get(at)
      const next = graph.isMark(at, bound) ? undefined : graph.previous(at, bound)
      if (root !== undefined || next === undefined || trail.has(at)) {
        for (const passed of trail) known.set(passed, root ?? at)
        known.set(at, root ?? at)
        return root ?? at
      }
      trail.add(at)
      at = next
    }
  }
}
