import { type EventOf, type Session, type SessionEvent, type SessionSeq, copiedFrom } from '@palimpsest/session'
import type { SurfacedLog } from './surface-meter.ts'

interface Planned<Type extends 'tool/result' | 'user/message'> {
  readonly type: Type
  /** The surface entry to be replaced. */
  readonly seq: SessionSeq
  /** The payload that takes its place. */
  readonly data: EventOf<Type>['data']
  readonly sourceEventSeqs: readonly SessionSeq[]
  /** UTF-8 bytes of text in the plan of results, declared bytes of images in the plan of images. */
  readonly bytesBefore: number
  readonly bytesAfter: number
}

export type PlannedResult = Planned<'tool/result'>
/** Of a tool result or a user message; `images` is how many of its images give way. */
export type PlannedImages = (Planned<'tool/result'> | Planned<'user/message'>) & { readonly images: number }

/** A replacement that was appended. */
export interface Replaced {
  /** The entry that left the surface. */
  readonly seq: SessionSeq
  /** The entry that stands in its place. */
  readonly by: SessionSeq
  readonly bytesBefore: number
  readonly bytesAfter: number
}

/** Appends the planned replacements in order. Throws what `Session.append` throws; those made before that stand. */
export function applyPlan(session: Session, plan: readonly (PlannedResult | PlannedImages)[]): readonly Replaced[] {
  return plan.map((planned) => {
    const { seq, sourceEventSeqs, bytesBefore, bytesAfter } = planned
    const intent = { surfaceOp: { op: 'replace', startSeq: seq, endSeq: seq }, sourceEventSeqs } as const
    const event =
      planned.type === 'tool/result'
        ? session.append(planned.type, planned.data, intent)
        : session.append(planned.type, planned.data, intent)
    return { seq, by: event.seq, bytesBefore, bytesAfter }
  })
}

/** The entry itself, and what it cites: whoever looks for a citation on the surface still finds it. */
export function sourcesOf({
  seq,
  sourceEventSeqs = [],
}: EventOf<'tool/result' | 'user/message'>): readonly SessionSeq[] {
  return [seq, ...sourceEventSeqs]
}

/**
 * The seq under which the full result was first recorded: that of the appended event behind an entry, however often it was
 * rewritten. In a copied log it is the original's, as the markers say that were copied with it. SPEC 7.1, undo.
 */
export function recordedSeqOf(log: SurfacedLog, event: EventOf<'tool/result'>): SessionSeq {
  let origin: SessionEvent = event
  for (let op = event.surfaceOp; op !== 'append' && op.startSeq === op.endSeq; op = origin.surfaceOp ?? 'append') {
    // What an entry replaced is in the log.
    origin = log.eventAt(op.startSeq) as SessionEvent
  }
  return copiedFrom(origin)?.seq ?? origin.seq
}
