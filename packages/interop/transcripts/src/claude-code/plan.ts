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

const remarks: Readonly<Record<string, string>> = {
  'line/not-json': 'not JSON',
  'line/torn': 'cut off before its end',
  'line/not-utf8': 'not UTF-8',
  'line/not-object': 'no JSON object',
  'line/no-type': 'without a type',
  'line/unknown-type': 'of a type this importer does not know',
  'line/too-deep': 'nested too deep for a log',
  'line/repeated': 'written again elsewhere in the file',
  'line/unplaced': 'without a place in the conversation',
  attachment: 'attachments, which the model saw as reminders in a wording the file does not hold',
  'message/malformed': 'without a readable message',
  'message/empty': 'with nothing in it',
  'message/synthetic': 'written by the agent in place of a response: the model never saw it',
  'message/transcript-only': 'shown to the user only',
  'message/retracted': 'taken back by a later line',
  'branch/left': 'on a branch that the conversation left',
  'branch/other-root': 'of another conversation or of a copy written again',
  'block/unsupported': 'with blocks that no message here can hold',
  'result/no-call': 'with an answer to a call that is not in the conversation',
  'result/duplicate': 'with a second answer to a call',
}

/** One warning per kind of line that a person might miss on the surface. */
export function rawWarnings(raw: ReadonlyMap<number, string>): ImportWarning[] {
  const found = new Map<string, number[]>()
  for (const [line, reason] of raw) {
    const known = found.get(reason)
    if (known === undefined) found.set(reason, [line])
    else known.push(line)
  }
  return [...found].flatMap(([code, lines]) => {
    const remark = remarks[code]
    const [line] = lines
    if (remark === undefined || line === undefined) return []
    return [{ line, code, message: `${lines.length} line(s) ${remark}: kept raw, not on the surface` }]
  })
}
