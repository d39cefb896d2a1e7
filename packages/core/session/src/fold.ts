import { coreEvents } from './core-events.ts'
import { deriveEventMessage } from './derive.ts'
import { refuse } from './errors.ts'
import type { SessionEvent } from './events.ts'
import type { SessionSeq } from './ids.ts'
import type { Message } from './messages.ts'
import { checkPlacement } from './placement.ts'
import { type SurfaceChange, SurfaceManager } from './surface.ts'

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
  const record = (change: SurfaceChange): void => {
    if (change.kind !== 'replace') return
    const { shadowed } = change
    const [startSeq, endSeq] = [shadowed[0], shadowed.at(-1)] as [SessionSeq, SessionSeq]
    replacements.push({ seq: change.event.seq, startSeq, endSeq, shadowedSeqs: shadowed })
  }
  const log = { length, eventAt: (seq: number) => checked(events[seq] as SessionEvent, seq) }
  return { nodes: new SurfaceManager(log, record).nodes, replacements }
}

function checked(event: SessionEvent, seq: number): SessionEvent {
  const { type } = event
  if (!Object.is(event.seq, seq)) refuse({ type, seq }, 'envelope/seq', `its seq is ${event.seq}`)
  if (coreEvents.accepts(type)) checkPlacement(event, event)
  // Any other type is opaque without its vocabulary; off the surface it may stand in a log, as `unknown: 'keep'` has it.
  else if (event.ignorable !== true && event.surfaceOp !== undefined) {
    refuse({ type, seq }, 'surface/forbidden', 'an event of unknown type has no place on the surface')
  }
  return event
}
