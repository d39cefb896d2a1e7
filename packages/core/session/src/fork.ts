import { SessionError } from './errors.ts'
import type { SessionEvent } from './events.ts'
import { createSessionHeader } from './header.ts'
import type { SessionSeq } from './ids.ts'
import { interruptedTurnClosers } from './repair.ts'
import { type Session, type SessionOptions, openSession } from './session.ts'

export interface ForkOptions extends Omit<SessionOptions, 'vocabulary'> {
  /** Id of the child; a random UUID unless given. */
  readonly id?: string
  /** Refuse a boundary inside a turn with `fork/open-turn` instead of closing the turn in the child. */
  readonly onOpenTurn?: 'refuse'
}

/**
 * A child that inherits events `0..boundary` (inclusive; the last event unless given), then the inherited end-seed
 * marker, then whatever closes a turn that the cut left open. The child shares the parent's frozen events. Throws
 * `SessionError` `fork/boundary` or `fork/open-turn`. SPEC 3.4.
 */
export function forkSession(parent: Session, boundary: number = parent.length - 1, options: ForkOptions = {}): Session {
  const { id, onOpenTurn, now = Date.now, ...rest } = options
  if (boundary !== -1 || parent.length > 0) requireBoundary(parent, boundary)
  const inherited = parent.events.slice(0, boundary + 1)
  const marker: SessionEvent = {
    type: 'session/end-seed',
    seq: inherited.length as SessionSeq,
    time: now(),
    data: { inherited: true },
  }
  const closers = interruptedTurnClosers([...inherited, marker])
  if (onOpenTurn === 'refuse' && closers.length > 0) {
    throw new SessionError('fork/open-turn', `event ${boundary} lies inside a turn: fork at the end of one`)
  }
  const { cwd, origin, delegationDepth, agentPreset } = parent.header
  const lineage = { parentSession: parent.id, isSeeded: true, delegationDepth }
  const header = createSessionHeader({ ...lineage, id, cwd, origin, agentPreset }, now)
  return openSession({
    ...rest,
    now,
    vocabulary: parent.vocabulary,
    unknown: 'keep',
    header,
    stored: [...inherited, marker, ...closers],
    mode: 'adopt',
    firstLiveSeq: inherited.length,
  })
}

function requireBoundary(parent: Session, boundary: number): void {
  if (parent.eventAt(boundary) !== undefined) return
  throw new SessionError(
    'fork/boundary',
    `session ${parent.id} has no event ${boundary}: it ends at ${parent.length - 1}`,
  )
}
