import type { SessionEvent } from './events.ts'
import type { SessionHeader } from './header.ts'

/**
 * One event as a line of JSON, without the newline, in the writer's key order: the payload comes last, so that a
 * reader can fold the surface from the first bytes. SPEC 2.1.
 */
export function stringifyEvent(event: SessionEvent): string {
  const { type, seq, time, surfaceOp, sourceEventSeqs, ignorable, data, ...opaque } = event
  return JSON.stringify({ type, seq, time, surfaceOp, sourceEventSeqs, ignorable, ...opaque, data })
}

/** A header as the first line of a log, without the newline. SPEC 5.2. */
export function stringifyHeader(header: SessionHeader): string {
  return JSON.stringify({ type: 'session', ...header })
}
