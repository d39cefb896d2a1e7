import type { Compaction, Segment } from './path.ts'
import type { LineRecord, UserClass } from './record.ts'

/** One thing that was said. `at` is the position of its first line in the lane. */
export type Item =
  | { readonly kind: 'user'; readonly at: number; readonly userClass: UserClass }
  | { readonly kind: 'summary'; readonly at: number; readonly userClass: 'summary'; readonly compaction: Compaction }
  | { readonly kind: 'results'; readonly at: number }
  | ModelItem

/** One API response. */
export interface ModelItem {
  readonly kind: 'model'
  readonly at: number
  readonly lines: readonly number[]
  readonly hasCalls: boolean
  readonly stopReason?: string
}

/** What was said in each segment, in file order; a response stands where it begins. FORMATS 1.4 (6). */
export function planItems(records: readonly LineRecord[], segments: readonly Segment[]): Item[] {
  const items: Item[] = []
  for (const { lines, compaction } of segments) {
    if (compaction?.summary !== undefined) {
      items.push({ kind: 'summary', at: compaction.summary, userClass: 'summary', compaction })
    }
    const responses = groupLines(records, lines)
    for (const at of lines) {
      const { results = [], hasContent = false, userClass = 'prompt' } = records[at] ?? {}
      const response = responses.get(at)
      if (response !== undefined) items.push(modelItem(records, response))
      if (results.length > 0) items.push({ kind: 'results', at })
      if (hasContent) items.push({ kind: 'user', at, userClass })
    }
  }
  return items
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

function modelItem(records: readonly LineRecord[], lines: readonly number[]): ModelItem {
  const stopReason = lines.map((at) => records[at]?.stopReason).findLast((reason) => reason !== undefined)
  const hasCalls = lines.some((at) => (records[at]?.calls.length ?? 0) > 0)
  return { kind: 'model', at: lines[0] ?? 0, lines, hasCalls, ...(stopReason === undefined ? {} : { stopReason }) }
}
