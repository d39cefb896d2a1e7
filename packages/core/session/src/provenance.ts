import { type SessionEvent, isSurfaceType } from './events.ts'
import { type SurfaceReplacement, foldSurface } from './fold.ts'
import type { SessionSeq } from './ids.ts'

/** Where an event stands and what it stands for. Orders are surface order. SPEC 2.6. */
export interface Provenance {
  readonly seq: SessionSeq
  readonly onSurface: boolean
  /** The replacement that took it off the surface. */
  readonly shadowedBy?: SessionSeq
  /** What it covers directly. */
  readonly shadows: readonly SessionSeq[]
  /** Its `sourceEventSeqs`. */
  readonly cites: readonly SessionSeq[]
  /** The appended events that it stands for, through any depth of replacement; none for a log-only event. */
  readonly origins: readonly SessionSeq[]
}

/** Traces one event of a log. Throws `RangeError` when the log has no such event. SPEC 3.3. */
export function explain(events: readonly SessionEvent[], seq: number): Provenance {
  const event = Number.isInteger(seq) ? events[seq] : undefined
  if (event === undefined) throw new RangeError(`seq ${seq} is not in the log: it has ${events.length} events`)
  const { nodes, replacements } = foldSurface(events)
  const bySeq = new Map(replacements.map((replacement) => [replacement.seq, replacement]))
  const shadowedBy = replacements.find(({ shadowedSeqs }) => shadowedSeqs.includes(event.seq))?.seq
  return {
    seq: event.seq,
    onSurface: nodes.includes(event.seq),
    ...(shadowedBy === undefined ? {} : { shadowedBy }),
    shadows: bySeq.get(event.seq)?.shadowedSeqs ?? [],
    cites: isSurfaceType(event.type) ? (event.sourceEventSeqs ?? []) : [],
    origins: isSurfaceType(event.type) ? origins(event.seq, bySeq) : [],
  }
}

/** Iterative, since replacements of replacements nest as deep as a session is old. */
function origins(seq: SessionSeq, bySeq: ReadonlyMap<SessionSeq, SurfaceReplacement>): readonly SessionSeq[] {
  const found: SessionSeq[] = []
  const pending = [seq]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const replacement = bySeq.get(next)
    if (replacement === undefined) found.push(next)
    // One by one: a range may be longer than an argument list can be.
    else for (const shadowed of replacement.shadowedSeqs.toReversed()) pending.push(shadowed)
  }
  return found
}
