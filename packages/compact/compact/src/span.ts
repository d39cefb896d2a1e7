import { type Message, type Session, type SessionEvent, type SessionSeq, deriveEventMessage } from '@palimpsest/session'
import { balancedAfter, balancedBefore, positionOf } from './boundaries.ts'
import { CompactionError } from './errors.ts'

/** Entries from one through another, as they stood when it was planned. */
export interface Span {
  readonly startSeq: SessionSeq
  readonly endSeq: SessionSeq
  /** In surface order. */
  readonly seqs: readonly SessionSeq[]
  /** The replacements that the surface had then. */
  readonly generation: number
}

/** Ends of a range of surface entries, both inclusive. */
export interface RangeEnds {
  readonly startSeq: SessionSeq
  readonly endSeq: SessionSeq
}

/** Judges a range against the surface as it stands. Throws `CompactionError` with a `range/` code. SPEC 7.1. */
export function planSpan(session: Session, { startSeq, endSeq }: RangeEnds): Span {
  const start = requireEntry(session, startSeq)
  const end = requireEntry(session, endSeq)
  if (start > end) {
    throw new CompactionError('range/reversed', `entry ${startSeq} stands after entry ${endSeq}: swap the ends`)
  }
  if (start === 0 && session.eventAt(startSeq)?.type === 'system/message') {
    throw new CompactionError('range/head', `entry ${startSeq} is the system prompt: start after it`)
  }
  if (!balancedBefore(session, startSeq)) {
    throw new CompactionError(
      'range/unbalanced',
      `calls are open right before entry ${startSeq}: start at their message`,
    )
  }
  if (!balancedAfter(session, endSeq)) {
    throw new CompactionError(
      'range/unbalanced',
      `calls are open right after entry ${endSeq}: end at their last result`,
    )
  }
  const { nodes, replaceGeneration: generation } = session.surface
  return { startSeq, endSeq, seqs: nodes.slice(start, end + 1), generation }
}

/** Whether the surface still holds exactly these entries between the ends. Appends never change that. */
export function stillStands(session: Session, { startSeq, seqs, generation }: Span): boolean {
  const { nodes, replaceGeneration } = session.surface
  if (replaceGeneration === generation) return true
  const start = positionOf(session, startSeq)
  return start !== undefined && seqs.every((seq, offset) => nodes[start + offset] === seq)
}

/** What the entries put before the model. */
export function messagesOf(session: Session, seqs: readonly SessionSeq[]): readonly Message[] {
  return seqs.flatMap((seq) => deriveEventMessage(session.eventAt(seq) as SessionEvent) ?? [])
}

/** What the model saw up to the end of the span, the system prompt included. */
export function prefixOf(session: Session, span: Span): readonly Message[] {
  const end = requireEntry(session, span.endSeq)
  return messagesOf(session, session.surface.nodes.slice(0, end + 1))
}

function requireEntry(session: Session, seq: SessionSeq): number {
  const position = positionOf(session, seq)
  if (position !== undefined) return position
  throw new CompactionError(
    'range/not-on-surface',
    `event ${String(seq)} is not on the surface of session ${session.id}`,
  )
}
