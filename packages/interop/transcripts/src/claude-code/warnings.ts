import type { ImportWarning } from '../report.ts'
import type { Conversation } from './path.ts'
import type { LineRecord } from './record.ts'

/** What a person should know of how a conversation was found in its file. */
export function conversationWarnings(
  records: readonly LineRecord[],
  { segments, flat, dangling }: Conversation,
): ImportWarning[] {
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
