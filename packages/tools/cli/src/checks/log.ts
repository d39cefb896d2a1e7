import {
  type Finding,
  Session,
  SessionAcceptanceError,
  SessionError,
  type SessionEvent,
  type StoredSession,
  assembleStream,
  interruptedTurnClosers,
  jsonEqual,
  traceFindings,
} from '@palimpsest/session'
import type { OpenedSession } from '@palimpsest/session-persistence'
import { argument, count } from '../render/text.ts'
import { allEvents } from '../vocabulary.ts'

export interface LogCheck {
  readonly findings: readonly Finding[]
  /** The log with the closers that a write open would append; undefined where acceptance refuses it. */
  readonly session: Session | undefined
}

/** Acceptance of every event, traces, and what is unfinished at the end. `name` is what the user calls the session. */
export function checkLog(stored: OpenedSession, name: string): LogCheck {
  const { header, events, pendingClosers } = stored
  const findings: Finding[] = []
  const session = restore({ ...stored, events: [...events, ...pendingClosers] }, findings, name)
  if (session === undefined) return { findings, session: undefined }
  // They break no rule and no command mends them, so they are told and not held against the session.
  for (const { fix: _, ...finding } of [...session.findings, ...traceFindings(events)])
    findings.push({ ...finding, severity: 'info' })
  const [closer] = pendingClosers
  if (closer !== undefined) {
    findings.push({
      code: 'closers/pending',
      severity: 'warning',
      seq: closer.seq,
      message: `the log ends inside a turn: whoever wrote it was interrupted; ${count(pendingClosers.length, 'event')} would close it`,
      fix: `palimpsest repair ${argument(name)}`,
    })
  } else if (interruptedTurnClosers(events).length > 0) {
    findings.push({
      code: 'session/running',
      severity: 'info',
      message: `a writer holds ${header.id} and is inside a turn`,
    })
  }
  return { findings, session }
}

function restore(stored: StoredSession, findings: Finding[], name: string): Session | undefined {
  try {
    return Session.restore(stored, { vocabulary: allEvents, unknown: 'keep' })
  } catch (error) {
    if (!(error instanceof SessionError)) throw error
    const seq = error instanceof SessionAcceptanceError ? (error.seq as SessionEvent['seq']) : undefined
    const later = seq === undefined ? 0 : stored.events.length - seq - 1
    findings.push({
      code: error.code,
      severity: 'error',
      ...(seq === undefined ? {} : { seq }),
      message: `${error.message}${later > 0 ? `; ${count(later, 'later event')} could not be checked` : ''}`,
      fix: `palimpsest salvage ${argument(name)}`,
    })
    return undefined
  }
}

/** Whether each recorded stream builds the message that stands beside it, apart from minted call ids. SPEC 2.5. */
export function checkStreams(events: readonly SessionEvent[]): Finding[] {
  return events.flatMap((event): Finding[] => {
    if (event.type !== 'assistant/message' || event.data.stream.length === 0) return []
    const { message, stream, interrupted } = event.data
    const said = (fault: string, code: string): Finding[] => [
      {
        code,
        severity: 'error',
        seq: event.seq,
        message: fault,
        fix: 'nothing is lost: the message counts, the stream is only for replay',
      },
    ]
    try {
      const built = assembleStream(stream, { interrupted: interrupted === true })
      const agrees = jsonEqual(withoutCallIds(built), withoutCallIds(message.content))
      return agrees
        ? []
        : said(`the stream of event ${event.seq} builds another message than the one recorded`, 'stream/mismatch')
    } catch (error) {
      if (!(error instanceof SessionError)) throw error
      return said(`the stream of event ${event.seq} cannot be read: ${error.message}`, 'stream/invalid')
    }
  })
}

function withoutCallIds(content: readonly { readonly type: string }[]): { readonly type: string }[] {
  return content.map((block) => (block.type === 'tool-call' ? { ...block, id: '' } : block))
}
