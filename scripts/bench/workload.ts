import type { SessionEvent } from '../../packages/core/session/src/events.ts'
import { Session } from '../../packages/core/session/src/session.ts'
import { codingSession, type CodingStep } from '../../packages/testing/testkit/src/coding-session.ts'
import { type PeerEvent, type PeerPlacement, peerPlacement } from './peer.ts'

/** The pinned workload: a tool-heavy coding session, one replacement in a hundred events. */
const pinned = { seed: 20_261_130, replacementRate: 0.01 }

/** A step as each side is given it. */
export interface Step {
  readonly step: CodingStep
  readonly placement: PeerPlacement | undefined
}

export function* codingSteps(events: number): Generator<Step> {
  for (const step of codingSession({ ...pinned, events })) yield { step, placement: peerPlacement(step) }
}

/** A session whose types only the run time knows, as for a loop over a recorded session. */
export interface Appender {
  append(type: string, data: CodingStep['data'], intent: CodingStep['intent']): unknown
  readonly surface: { readonly nodes: readonly number[] }
  deriveMessages(): readonly unknown[]
}

export function newSession(): Appender {
  return Session.create()
}

/**
 * Frozen logs of the same events for both sides, with the payloads shared. Provider streams are left out: a fold
 * reads none, and a million of them do not fit in memory.
 */
export function codingLogs(events: number): { readonly ours: SessionEvent[]; readonly theirs: PeerEvent[] } {
  const ours: SessionEvent[] = []
  const theirs: PeerEvent[] = []
  for (const { step, placement } of codingSteps(events)) {
    const { type, seq, time } = step.event
    const data = type === 'assistant/message' ? { ...step.data, stream: [] } : step.data
    ours.push(deepFreeze({ type, seq, time, ...step.intent, data }) as unknown as SessionEvent)
    theirs.push(deepFreeze({ type, seq, time, data, ...placement }))
  }
  return { ours, theirs }
}

function deepFreeze<Value extends object>(value: Value): Value {
  for (const member of Object.values(value) as unknown[]) {
    if (typeof member === 'object' && member !== null && !Object.isFrozen(member)) deepFreeze(member)
  }
  return Object.freeze(value)
}
