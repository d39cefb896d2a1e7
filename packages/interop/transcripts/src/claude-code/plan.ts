import type { ImportWarning } from '../report.ts'
import { planItems } from './items.ts'
import type { Item } from './items.ts'
import type { Lane } from './lanes.ts'
import { outlineTurns } from './outline.ts'
import type { Outline } from './outline.ts'
import { reconstruct } from './path.ts'
import type { Conversation } from './path.ts'

/** What becomes of each line of a conversation, decided before any content is read. */
export interface LanePlan {
  readonly lane: Lane
  readonly items: readonly Item[]
  readonly outline: Outline
  /** Lines that messages are made of. */
  readonly mapped: ReadonlySet<number>
  /** Lines to keep as they stand, and why. A line may be mapped in part and kept too. */
  readonly raw: ReadonlyMap<number, string>
  readonly blank: number
  readonly warnings: readonly ImportWarning[]
}

export function planLane(lane: Lane): LanePlan {
  const { records } = lane
  const conversation = reconstruct(records)
  const { items, orphans, moved } = planItems(records, conversation.segments)
  const lineAt = (at: number): number => records[at]?.line ?? 0
  const mapped = new Set(items.flatMap(placesOf).map(lineAt))
  const raw = new Map<number, string>()
  const orphaned = new Map<number, string>(orphans.map(({ at, reason }) => [at, reason]))
  for (const [at, record] of records.entries()) {
    if (record.kind === 'blank') continue
    const reason =
      record.reason ??
      conversation.left.get(at) ??
      orphaned.get(at) ??
      (record.oddBlocks.length > 0 ? 'block/unsupported' : undefined)
    if (reason !== undefined) raw.set(record.line, reason)
    else if (!mapped.has(record.line)) raw.set(record.line, 'line/unplaced')
    else if (record.userClass === 'summary' && record.results.length > 0) raw.set(record.line, 'result/no-call')
  }
  return {
    lane,
    items,
    outline: outlineTurns(items),
    mapped,
    raw,
    blank: records.filter((record) => record.kind === 'blank').length,
    warnings: [...conversationWarnings(lane, conversation), ...moved.map((at) => movedWarning(lineAt(at)))],
  }
}

function placesOf(item: Item): number[] {
  if (item.kind !== 'model') return [item.at]
  return [...item.lines, ...item.calls.flatMap((call) => (call.answer === undefined ? [] : [call.answer.at]))]
}

const movedWarning = (line: number): ImportWarning => ({
  line,
  code: 'order/after-batch',
  message: 'written while calls were open: it stands after their answers',
})

function conversationWarnings({ records }: Lane, { segments, flat, dangling }: Conversation): ImportWarning[] {
  const warnings: ImportWarning[] = []
  const warn = (at: number, code: string, message: string): void => {
    warnings.push({ line: records[at]?.line ?? 0, code, message })
  }
  if (flat) warn(0, 'order/file', 'no line names the line before it: file order was taken')
  if (dangling !== undefined)
    warn(dangling, 'branch/dangling', 'the line before this one is not in the file: the conversation begins here')
  for (const { compaction } of segments) {
    if (compaction === undefined) continue
    const { mark, summary, hasHistory } = compaction
    if (!hasHistory) warn(mark, 'compaction/history-missing', 'what was compacted here is not in the file')
    if (summary === undefined)
      warn(mark, 'compaction/no-summary', 'no summary follows this boundary: the history before it stays visible')
  }
  return warnings
}
