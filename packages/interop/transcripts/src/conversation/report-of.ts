import type { Session, SessionEvent, SessionSeq } from '@palimpsest/session'
import { rawWarnings } from '../raw-reasons.ts'
import type { ImportReport, ImportWarning } from '../report.ts'
import type { RawLines } from './raw-lines.ts'
import type { Conversation, ConversationInit } from './write.ts'

/** What the writer of a conversation knows when it is done. */
export interface WrittenConversation {
  readonly warnings: readonly ImportWarning[]
  readonly mapped: ReadonlySet<number>
  readonly raws: RawLines
  readonly synthetic: ReadonlySet<SessionSeq>
}

export function reportOf(
  { source }: ConversationInit,
  { lines, blank, warnings, leftOut }: Conversation,
  session: Session,
  written: WrittenConversation,
): ImportReport {
  const unmapped = written.raws.unmapped.toSorted((a, b) => a.line - b.line)
  const all = [...warnings, ...rawWarnings(written.raws.reasons), ...written.warnings]
  return {
    source,
    sessionId: session.id,
    events: session.length,
    messages: session.deriveMessages().length,
    ...countCalls(session.events, written.synthetic),
    lines: { total: lines.length + blank, mapped: written.mapped.size, raw: unmapped.length, blank },
    warnings: all.sort((a, b) => a.line - b.line),
    unmapped,
    ...membersLeftOut(leftOut, written.mapped),
  }
}

/** Of mapped lines only: lines that are kept raw lose nothing. */
function membersLeftOut(
  leftOut: Conversation['leftOut'],
  mapped: ReadonlySet<number>,
): Pick<ImportReport, 'leftOut' | 'leftOutLines'> {
  const counts = new Map<string, number>()
  const lines: number[] = []
  for (const [line, members] of leftOut) {
    if (members.length === 0 || !mapped.has(line)) continue
    lines.push(line)
    for (const member of members) counts.set(member, (counts.get(member) ?? 0) + 1)
  }
  return { leftOut: Object.fromEntries(counts), leftOutLines: lines.sort((a, b) => a - b) }
}

/** Over the whole log, so that a compaction does not hide what the source did. */
export function countCalls(
  events: readonly SessionEvent[],
  synthetic: ReadonlySet<SessionSeq>,
): { calls: number; answered: number } {
  let calls = 0
  let answered = 0
  for (const event of events) {
    if (event.type === 'assistant/message') {
      calls += event.data.message.content.filter(({ type }) => type === 'tool-call').length
    } else if (event.type === 'tool/result' && event.surfaceOp === 'append' && !synthetic.has(event.seq)) answered += 1
  }
  return { calls, answered }
}
