import {
  type EventEnvelope,
  type Json,
  type JsonObject,
  type SessionEvent,
  type SessionEventMap,
  type SessionEventType,
  type SessionSeq,
  type Vocabulary,
  coreEvents,
} from '@palimpsest/session'
import { CompactionError } from './errors.ts'

/** Where seqs of one log went in another. What it throws comes through. */
export interface SeqMap {
  /** The new seq of an event that something names. */
  cited(seq: SessionSeq): SessionSeq
  /** The new seq of a point in the log: everything up to it, whatever stands there. */
  through(seq: SessionSeq): SessionSeq
}

/** Which members are seqs, or lists of them, and how each is meant. */
interface Shape {
  readonly [member: string]: keyof SeqMap | Shape
}
type PayloadShape<Data> = { readonly [Member in Data extends unknown ? keyof Data : never]?: Shape[string] }

const range: Shape = { startSeq: 'cited', endSeq: 'cited' }

/** Payloads that name seqs of their own log. Every event type of this repository that does is here. */
const payloads: { readonly [Type in SessionEventType]?: PayloadShape<SessionEventMap[Type]> } = {
  'assistant/message': { requestSeq: 'cited' },
  'assistant/attempt': { requestSeq: 'cited' },
  'request/start': { throughSeq: 'through' },
  'compaction/start': range,
  // deepseek-harness names the ends of the range `start` and `end`.
  'compaction/summary': { shadowedRange: { ...range, start: 'cited', end: 'cited' }, shadowedSeqs: 'cited' },
  'compaction/end': { replacementSeq: 'cited' },
}

/** Types of other packages without a seq, or whose seqs are those of another log. */
const withoutReferences: ReadonlySet<string> = new Set(['import/raw', 'salvage/raw', 'salvage/missing'])

/**
 * The event with every seq that its metadata and its payload name moved by the map; its own seq stays, and so does all
 * that is no number where a seq belongs. The payload of a type that no package of this repository defines passes as it is.
 * SPEC 6, 7.1.
 */
export function remapReferences(event: SessionEvent, map: SeqMap): SessionEvent {
  const data: Shape = Object.hasOwn(payloads, event.type) ? { ...payloads[event.type] } : {}
  return moved(event, { surfaceOp: range, sourceEventSeqs: 'cited', data }, map) as SessionEvent
}

function moved(value: unknown, shape: Shape[string], map: SeqMap): unknown {
  if (typeof shape === 'string') {
    if (Array.isArray(value)) return value.map((each) => moved(each, shape, map))
    return typeof value === 'number' ? map[shape](value as SessionSeq) : value
  }
  if (typeof value !== 'object' || value === null) return value
  const changed = Object.entries(shape).flatMap(([member, inner]) =>
    Object.hasOwn(value, member) ? [[member, moved(value[member as keyof typeof value], inner, map)] as const] : [],
  )
  return { ...value, ...Object.fromEntries(changed) }
}

/** Whether this package knows all that an event of this type may name. */
export function isUnderstood(type: string, vocabulary: Vocabulary): type is SessionEventType {
  return (
    vocabulary.accepts(type) &&
    (coreEvents.accepts(type) || Object.hasOwn(payloads, type) || withoutReferences.has(type))
  )
}

/** Throws `CompactionError` `undo/opaque` for an event that looks as if it named seqs in a way that only its plugin knows. */
export function requireNoReferences(event: SessionEvent): void {
  const { surfaceOp, sourceEventSeqs, data } = event as unknown as EventEnvelope
  const name = (surfaceOp ?? sourceEventSeqs) ? 'its metadata' : seqMember(data)
  if (name === undefined) return
  throw new CompactionError(
    'undo/opaque',
    `event ${event.seq} (${event.type}) is opaque here and ${name} may name seqs that would move: fork before the compaction instead`,
  )
}

/** The first member of a payload that is named like a seq. Iterative, since payloads nest as deep as they like. */
function seqMember(data: JsonObject): string | undefined {
  const pending: Json[] = [data]
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (typeof value !== 'object' || value === null) continue
    for (const [name, member] of Object.entries(value)) {
      if (/seqs?$/i.test(name)) return `its member ${name}`
      pending.push(member as Json)
    }
  }
  return undefined
}
