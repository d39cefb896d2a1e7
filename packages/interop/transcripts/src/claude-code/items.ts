import type { Compaction, Segment } from './path.ts'
import type { LineRecord, UserClass } from './record.ts'

/** A place in a lane: the position of a line, and which of its calls or results is meant. */
export interface Place {
  readonly at: number
  readonly index: number
}
export interface PlannedCall {
  readonly place: Place
  /** As the source wrote it: possibly empty, possibly repeated. */
  readonly sourceId: string
  /** Unambiguous while it is open. SPEC 2.4. */
  readonly callId: string
  readonly answer?: Place
}

/** One thing that goes to the surface together. `at` is where it stands in the lane. */
export type Item =
  | { readonly kind: 'user'; readonly at: number; readonly userClass: UserClass }
  | { readonly kind: 'summary'; readonly at: number; readonly userClass: 'summary'; readonly compaction: Compaction }
  | ModelItem
/** One API response and the answers to its calls. */
export interface ModelItem {
  readonly kind: 'model'
  readonly at: number
  readonly lines: readonly number[]
  readonly calls: readonly PlannedCall[]
  readonly stopReason?: string
}

export interface ItemPlan {
  readonly items: readonly Item[]
  /** Results that answer nothing, and why. */
  readonly orphans: readonly (Place & { readonly reason: 'result/no-call' | 'result/duplicate' })[]
  /** User lines that stood inside a batch of calls and go behind it. */
  readonly moved: readonly number[]
}

/** Puts the lines of a conversation into the order in which a provider accepts them. FORMATS 1.4 (6). */
export function planItems(records: readonly LineRecord[], segments: readonly Segment[]): ItemPlan {
  const items: Item[] = []
  const orphans: (Place & { reason: 'result/no-call' | 'result/duplicate' })[] = []
  const moved: number[] = []
  for (const { lines, compaction } of segments) {
    if (compaction?.summary !== undefined) {
      items.push({ kind: 'summary', at: compaction.summary, userClass: 'summary', compaction })
    }
    const matched = matchResults(records, lines)
    orphans.push(...matched.orphans)
    const responses = groupLines(records, lines)
    let batchEnd = -1
    for (const at of lines) {
      const record = records[at]
      const response = responses.get(at)
      if (response !== undefined) {
        const item = modelItem(records, response, matched.answers)
        items.push(item)
        const reach = [...item.lines, ...item.calls.map((call) => call.answer?.at ?? -1)]
        batchEnd = reach.reduce((furthest, place) => Math.max(furthest, place), batchEnd)
      } else if (record?.hasContent === true) {
        if (at < batchEnd) moved.push(at)
        items.push({ kind: 'user', at, userClass: record.userClass ?? 'prompt' })
      }
    }
  }
  return { items, orphans, moved }
}

/**
 * The lines of each response, by its first line. No response goes on past something the user said: some gateways give
 * every response the same id.
 */
function groupLines(records: readonly LineRecord[], lines: readonly number[]): ReadonlyMap<number, readonly number[]> {
  const responses = new Map<number, number[]>()
  const current = new Map<string, number[]>()
  for (const at of lines) {
    const record = records[at]
    if (record?.hasContent === true && record.userClass !== 'meta') current.clear()
    if (record?.group === undefined) continue
    const known = current.get(record.group)
    if (known !== undefined) known.push(at)
    else {
      const response = [at]
      current.set(record.group, response)
      responses.set(at, response)
    }
  }
  return responses
}

const key = ({ at, index }: Place): string => `${at}/${index}`

function modelItem(
  records: readonly LineRecord[],
  lines: readonly number[],
  answers: ReadonlyMap<string, Place>,
): ModelItem {
  const taken = new Set<string>()
  const calls = lines.flatMap((at) =>
    (records[at]?.calls ?? []).map((sourceId, index): PlannedCall => {
      const callId = mint(sourceId, taken)
      taken.add(callId)
      const answer = answers.get(key({ at, index }))
      return { place: { at, index }, sourceId, callId, ...(answer === undefined ? {} : { answer }) }
    }),
  )
  const stopReason = lines.map((at) => records[at]?.stopReason).findLast((reason) => reason !== undefined)
  return { kind: 'model', at: lines[0] ?? 0, lines, calls, ...(stopReason === undefined ? {} : { stopReason }) }
}

function mint(sourceId: string, taken: ReadonlySet<string>): string {
  let callId = sourceId
  for (let n = 2; callId === '' || taken.has(callId); n += 1) callId = `${sourceId}~${n}`
  return callId
}

interface Matched {
  readonly answers: ReadonlyMap<string, Place>
  readonly orphans: readonly (Place & { readonly reason: 'result/no-call' | 'result/duplicate' })[]
}

/** Pairs results with calls by outstanding call, never by "seen before": some servers reuse one id for every call. */
function matchResults(records: readonly LineRecord[], lines: readonly number[]): Matched {
  const outstanding = new Map<string, Place[]>()
  for (const at of lines) {
    records[at]?.calls.forEach((id, index) => {
      const known = outstanding.get(id)
      if (known === undefined) outstanding.set(id, [{ at, index }])
      else known.push({ at, index })
    })
  }
  const answers = new Map<string, Place>()
  const assign = (result: NamedPlace, late: boolean): boolean => {
    const open = outstanding.get(result.id) ?? []
    const call = choose(records, open, result.at, late)
    if (call === undefined) return false
    open.splice(open.indexOf(call), 1)
    answers.set(key(call), { at: result.at, index: result.index })
    return true
  }
  const results = lines.flatMap((at) =>
    (records[at]?.results ?? []).map((id, index): NamedPlace => ({ id, at, index })),
  )
  // What is left after each answer has found its call may still stand before it: some writers race.
  const left = results.filter((result) => !assign(result, false)).filter((result) => !assign(result, true))
  const orphans = left.map(({ id, at, index }) => {
    return { at, index, reason: outstanding.has(id) ? ('result/duplicate' as const) : ('result/no-call' as const) }
  })
  return { answers, orphans }
}

interface NamedPlace extends Place {
  readonly id: string
}

/** The call a result answers: the one it names, else the first open one of the latest response before it. */
function choose(records: readonly LineRecord[], open: readonly Place[], at: number, late: boolean): Place | undefined {
  if (late) return open[0]
  const named = records[at]?.answers
  const exact = open.find((place) => named !== undefined && records[place.at]?.uuid === named)
  const latest = open.findLast((place) => place.at < at)
  const group = latest && records[latest.at]?.group
  return exact ?? open.find((place) => place.at < at && records[place.at]?.group === group)
}
