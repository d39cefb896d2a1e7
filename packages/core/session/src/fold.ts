import { deriveEventMessage } from './derive.ts'
import { refuse } from './errors.ts'
import { type SessionEvent, isSurfaceType } from './events.ts'
import type { SessionSeq } from './ids.ts'
import type { Message } from './messages.ts'
import { checkPlacement } from './placement.ts'
import { SurfaceManager, type SurfacePlan } from './surface.ts'

/** One replacement of a log, with the entries that it took off the surface, in surface order. */
export interface SurfaceReplacement {
  readonly seq: SessionSeq
  readonly startSeq: SessionSeq
  readonly endSeq: SessionSeq
  readonly shadowedSeqs: readonly SessionSeq[]
}

export interface FoldedSurface {
  readonly nodes: readonly SessionSeq[]
  readonly replacements: readonly SurfaceReplacement[]
}

/**
 * Replays a whole log, detached from any session. Checks seqs, placement, sources and replacements; payloads and
 * pairing are acceptance's. Throws `SessionAcceptanceError`. SPEC 3.3.
 */
export function foldSurface(events: readonly SessionEvent[]): FoldedSurface {
  return foldPrefix(events, events.length)
}

/** The surface right after event `seq`; `-1` is before any event. Throws `RangeError` outside the log. SPEC 3.3. */
export function surfaceAt(events: readonly SessionEvent[], seq: number): readonly SessionSeq[] {
  if (!Number.isInteger(seq) || seq < -1 || seq >= events.length) {
    throw new RangeError(`seq ${seq} is not in the log: it has ${events.length} events, and -1 is before any`)
  }
  return foldPrefix(events, seq + 1).nodes
}

/** What the model saw right after event `seq`; `-1` is before any event. Throws `RangeError` outside the log. SPEC 3.3. */
export function deriveMessagesAt(events: readonly SessionEvent[], seq: number): readonly Message[] {
  return surfaceAt(events, seq).flatMap((node) => deriveEventMessage(events[node] as SessionEvent) ?? [])
}

function foldPrefix(events: readonly SessionEvent[], length: number): FoldedSurface {
  const replacements: SurfaceReplacement[] = []
  const record = (plan: SurfacePlan): void => {
    if (plan.kind !== 'replace') return
    const { shadowed } = plan
    const [startSeq, endSeq] = [shadowed[0], shadowed.at(-1)] as [SessionSeq, SessionSeq]
    replacements.push({ seq: plan.event.seq, startSeq, endSeq, shadowedSeqs: shadowed })
  }
  const log = { length, eventAt: (seq: number) => checked(events[seq] as SessionEvent, seq) }
  return { nodes: new SurfaceManager(log, record).nodes, replacements }
}

function checked(event: SessionEvent, seq: number): SessionEvent {
  if (event.seq !== seq) refuse({ type: event.type, seq }, 'envelope/seq', `its seq is ${event.seq}`)
  // Without a vocabulary, an ignorable event that is not ours is opaque, metadata included.
  if (isSurfaceType(event.type) || event.ignorable !== true) checkPlacement(event, event)
  return event
}
