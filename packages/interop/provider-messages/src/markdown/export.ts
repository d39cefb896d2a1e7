import { foldSurface, isSurfaceType } from '@palimpsest/session'
import type { AttachmentRef, SessionEvent, StoredSession, TurnEndReason } from '@palimpsest/session'
import { EntryWriter } from './entry.ts'
import { LogFacts } from './log-facts.ts'
import { inline } from './safe-text.ts'
import { timeText } from './time-text.ts'

export interface MarkdownOptions {
  /** Heading of the whole; `Session` and its id unless given. */
  readonly title?: string
  /** `surface`: what a model sees now. `log`: what was replaced too, in the order in which it was written. */
  readonly history?: 'surface' | 'log'
  /** Characters of a result that are shown; all unless given. What is cut is said. */
  readonly resultLength?: number
  /** Where the bytes of an attachment are, as a URL or a relative path; a placeholder stands for one without. */
  readonly link?: (ref: AttachmentRef) => string | undefined
}

/**
 * A transcript for people: who said what and when, calls, results, reasoning to unfold, and what compactions stand for.
 * Everything that was said is quoted or fenced byte for byte, so that nothing in it can pass for the transcript's own
 * markup. Throws `SessionAcceptanceError` for a log that does not fold. SPEC 8.
 */
export function toMarkdown(session: Omit<StoredSession, 'inheritedEventCount'>, options: MarkdownOptions = {}): string {
  const { events } = session
  const { nodes, replacements } = foldSurface(events)
  const facts = new LogFacts(events, replacements)
  const shown = options.history === 'log' ? events.filter(isEntry) : nodes.flatMap((seq) => events[seq] ?? [])
  const writer = new EntryWriter(facts, options)
  const parts = [`# ${inline(options.title ?? `Session ${session.header.id}`)}`, headerTable(session, shown)]
  let turn = 0
  for (const event of shown) {
    // A replacement stands where what it replaced stood, in whatever turn it was written.
    const next = event.surfaceOp === undefined || event.surfaceOp === 'append' ? facts.turnOf(event.seq) : turn
    if (next !== turn) parts.push(...endOf(turn, facts.endOf(turn)), `## Turn ${next}`)
    turn = next
    parts.push(...writer.entry(event))
  }
  parts.push(...endOf(turn, facts.endOf(turn)))
  return `${parts.join('\n\n')}\n`
}

function isEntry({ type }: SessionEvent): boolean {
  return isSurfaceType(type) || type === 'assistant/attempt'
}

function headerTable(
  { header, events }: Pick<StoredSession, 'header' | 'events'>,
  shown: readonly SessionEvent[],
): string {
  const models = new Set(
    events.flatMap(({ type, data }) => (type === 'assistant/message' ? [data.message.source.model] : [])),
  )
  const { id, createdAt, cwd, parentSession, importedFrom } = header
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['Session', id],
    ['Created', timeText(createdAt)],
    ['Model', models.size === 0 ? undefined : [...models].join(', ')],
    ['Directory', cwd],
    ['Parent session', parentSession],
    ['Imported from', importedFrom === undefined ? undefined : `${importedFrom.agent}, ${importedFrom.source}`],
    ['Entries', `${shown.length} of a log of ${events.length} events`],
  ]
  const lines = rows.flatMap(([name, value]) => (value === undefined ? [] : [`| ${name} | ${inline(value)} |`]))
  return ['| | |', '| --- | --- |', ...lines].join('\n')
}

/** How a turn ended, where that is worth a line. */
function endOf(turn: number, reason: TurnEndReason | undefined): string[] {
  if (reason === undefined || reason.kind === 'completed') return []
  const { kind, ...more } = reason
  const detail = Object.keys(more).length > 0 ? ` ${inline(JSON.stringify(more))}` : ''
  return [`*Turn ${turn} ended: ${inline(kind)}${detail}*`]
}
