import { SessionError } from './errors.ts'
import type { EventOf, RequestHeader, SessionEvent } from './events.ts'
import { deriveMessagesAt } from './fold.ts'
import type { SessionId, SessionSeq } from './ids.ts'
import type { Message } from './messages.ts'

/** What one request said: everything that is not history, and the history. SPEC 2.3. */
export interface ReconstructedRequest {
  readonly header: RequestHeader
  readonly messages: readonly Message[]
}

/** Where a copied event stands in the log that it was copied from: its data's member `copiedFrom`. SPEC 7.1, undo. */
export interface CopiedFrom {
  readonly session: SessionId
  readonly seq: SessionSeq
}

/**
 * The exact request behind an `assistant/message` or `assistant/attempt`, found through its `request/start`; `seq` may
 * also be that of the `request/start` itself. From the log alone. Throws `RangeError` outside the log and
 * `SessionError`: `request/unrecorded` for an event that no recorded request stands behind, `request/copied` for one
 * that another session's request made; its message names that session and seq. SPEC 2.3, 3.3.
 */
export function reconstructRequest(events: readonly SessionEvent[], seq: number): ReconstructedRequest {
  const start = startOf(events, seq)
  const { throughSeq } = start.data
  const header = events
    .slice(0, throughSeq + 1)
    .findLast((event): event is EventOf<'request/header'> => event.type === 'request/header')
  if (throughSeq >= start.seq || header === undefined) {
    throw new SessionError(
      'request/unrecorded',
      `request ${start.seq} has no request/header at or before ${throughSeq}`,
    )
  }
  return { header: header.data.header, messages: deriveMessagesAt(events, throughSeq) }
}

/** The parent's event behind a copy that `undoCompaction` made; `undefined` for an event of this session's own. */
export function copiedFrom(event: SessionEvent): CopiedFrom | undefined {
  const { copiedFrom: origin } = event.data as { readonly copiedFrom?: Partial<CopiedFrom> | null }
  if (
    typeof origin !== 'object' ||
    origin === null ||
    typeof origin.session !== 'string' ||
    typeof origin.seq !== 'number'
  )
    return undefined
  return { session: origin.session, seq: origin.seq }
}

function startOf(events: readonly SessionEvent[], seq: number): EventOf<'request/start'> {
  const event = Number.isInteger(seq) ? events[seq] : undefined
  if (event === undefined) throw new RangeError(`seq ${seq} is not in the log: it has ${events.length} events`)
  const origin = copiedFrom(event)
  if (origin !== undefined) {
    const where = `event ${origin.seq} of session ${origin.session}`
    throw new SessionError('request/copied', `event ${seq} is a copy: the real request is behind ${where}`)
  }
  const start = event.type === 'request/start' ? event : events[requestSeqOf(event) ?? seq]
  if (start?.type === 'request/start' && start.seq <= event.seq) return start
  throw new SessionError('request/unrecorded', `no recorded request stands behind event ${seq} (${event.type})`)
}

function requestSeqOf(event: SessionEvent): SessionSeq | undefined {
  return event.type === 'assistant/message' || event.type === 'assistant/attempt' ? event.data.requestSeq : undefined
}
