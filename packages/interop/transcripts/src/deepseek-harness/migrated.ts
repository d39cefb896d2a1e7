import { Session, sessionId } from '@palimpsest/session'
import type { OpenedFormat } from '@palimpsest/session-format'
import { countCalls } from '../conversation/report-of.ts'
import type { ReadLine } from '../conversation/source-lines.ts'
import type { ConversationInit } from '../conversation/write.ts'
import { Trail } from '../conversation/trail.ts'
import { importVocabulary } from '../events.ts'
import { countMember, stringMember } from '../json.ts'
import { rawWarnings } from '../raw-reasons.ts'
import type { ImportWarning, UnmappedLine } from '../report.ts'
import type { ImportedSession } from '../source.ts'

/** Name of the agent in headers and message sources. */
export const agent = 'deepseek-harness'

/** A log that was converted, with what it could not hold kept raw and what it left open closed. */
export function migratedSession(source: string, opened: OpenedFormat, lines: readonly ReadLine[]): ImportedSession {
  let now = opened.events.at(-1)?.time ?? opened.header.createdAt
  const header = {
    ...opened.header,
    id: sessionId(idOf(opened.header.id, source)),
    importedFrom: { agent, source },
  }
  const { events, inheritedEventCount } = opened
  const session = Session.restore(
    { header, events, inheritedEventCount },
    { vocabulary: importVocabulary, now: () => now },
  )
  const unmapped: UnmappedLine[] = []
  for (const line of lines) {
    // Too deep to be kept apart is no matter for what is an event already.
    if (line.kind !== 'foreign' || line.reason === 'line/too-deep') continue
    const { reason, kept } = line
    const { time = now, ...data } = kept
    now = time
    session.append('import/raw', { ...data, reason }, { ignorable: true })
    unmapped.push({ line: kept.line, reason })
  }
  const trail = new Trail(session)
  trail.finish()
  const unanswered = session.events.flatMap((event) =>
    event.type === 'tool/result' && trail.synthetic.has(event.seq) ? [event.data.message.source.callId] : [],
  )
  const warnings: ImportWarning[] = rawWarnings(new Map(unmapped.map(({ line, reason }) => [line, reason])))
  // A torn tail is kept raw, and told as such.
  for (const { code, line = 0, message } of opened.notes)
    if (code !== 'tail/torn') warnings.push({ line, code, message })
  if (unanswered.length > 0) {
    const message = `the source ends before an answer to ${unanswered.join(', ')}: closed as interrupted`
    warnings.push({ line: lines.length, code: 'call/unanswered-tail', message })
  }
  const blank = lines.filter(({ kind }) => kind === 'blank').length
  return {
    session: { header: session.header, events: session.events, inheritedEventCount },
    report: {
      source,
      sessionId: header.id,
      events: session.length,
      messages: session.deriveMessages().length,
      ...countCalls(session.events, trail.synthetic),
      lines: { total: lines.length, mapped: lines.length - blank - unmapped.length, raw: unmapped.length, blank },
      warnings: warnings.sort((a, b) => a.line - b.line),
      unmapped,
      leftOut: {},
      leftOutLines: [],
    },
  }
}

/** What a header says of its session, where the log is read line by line. */
export function headerOf(source: string, lines: readonly ReadLine[]): Omit<ConversationInit, 'agent' | 'source'> {
  const first = lines.find((line) => line.kind === 'object' && stringMember(line.value, 'type') === 'session')
  const header = first?.kind === 'object' ? first.value : {}
  const createdAt = countMember(header, 'createdAt')
  const cwd = stringMember(header, 'cwd')
  const parent = stringMember(header, 'parentSession')
  return {
    sessionId: idOf(stringMember(header, 'id') ?? '', source),
    ...(createdAt === undefined ? {} : { createdAt }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(parent === undefined || parent === '' ? {} : { parentSession: parent }),
    ...(stringMember(header, 'origin') === 'subagent' ? { isSubagent: true } : {}),
  }
}

/** The file's own name stands in for an id that is a placeholder of a recording, or none. */
function idOf(id: string, source: string): string {
  const stem = source.replace(/\.jsonl$/i, '')
  return id === '' || id.includes('{{') ? stem || agent : id
}
