import { type Session, type SessionEvent, type SessionSeq, foldSurface } from '@palimpsest/session'
import { CompactionError } from './errors.ts'

/** The events of one compaction that replaced something. */
export interface Bracket {
  readonly compactionId: string
  readonly startSeq: SessionSeq
  readonly replacementSeq: SessionSeq
  /** What the replacement stands for, in surface order. */
  readonly shadowedSeqs: readonly SessionSeq[]
  /** Start, summary, replacement, and the end where there is one: a crash may have come first. */
  readonly seqs: ReadonlySet<SessionSeq>
}

/** Id of the compaction that an event stands for, when it is the replacement of one. */
function compactionOf(event: SessionEvent | undefined): string | undefined {
  if (event?.type !== 'user/message' || event.surfaceOp === 'append') return undefined
  const { kind, plugin, compactionId } = event.data.source as { readonly [member: string]: unknown }
  return kind === 'plugin' && plugin === 'compact' && typeof compactionId === 'string' ? compactionId : undefined
}

/** Finds a compaction by its id or by its replacement. Throws `CompactionError` `undo/unknown`. */
export function findBracket(session: Session, compaction: string | number): Bracket {
  const { events } = session
  const replacement =
    typeof compaction === 'number'
      ? session.eventAt(compaction)
      : events.findLast((event) => compactionOf(event) === compaction)
  const compactionId = compactionOf(replacement)
  if (replacement === undefined || compactionId === undefined) return unknown(session, compaction, 'replaced nothing')
  const ofBracket = events.filter((event) => bracketOf(event) === compactionId)
  const start = ofBracket.find(({ type, seq }) => type === 'compaction/start' && seq < replacement.seq)
  if (start === undefined) return unknown(session, compaction, 'has no compaction/start')
  return {
    compactionId,
    startSeq: start.seq,
    replacementSeq: replacement.seq,
    // A replacement of another program may cite more than it shadows.
    shadowedSeqs: foldSurface(events).replacements.find(({ seq }) => seq === replacement.seq)?.shadowedSeqs ?? [],
    seqs: new Set([...ofBracket.map(({ seq }) => seq), replacement.seq]),
  }
}

/** Id of the compaction whose bracket a log-only event is part of. */
function bracketOf(event: SessionEvent): string | undefined {
  switch (event.type) {
    case 'compaction/start':
    case 'compaction/summary':
    case 'compaction/end':
      return event.data.compactionId
    default:
      return undefined
  }
}

function unknown(session: Session, compaction: string | number, why: string): never {
  const what =
    typeof compaction === 'number'
      ? `event ${compaction} is no replacement of a compaction, or it`
      : `compaction ${compaction}`
  throw new CompactionError('undo/unknown', `${what} ${why} in session ${session.id}`)
}
