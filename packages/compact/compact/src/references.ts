import {
  type EventEnvelope,
  type Json,
  type JsonObject,
  type ReplaceOp,
  type SessionEvent,
  type SessionEventMap,
  type SessionEventType,
  type SessionSeq,
  type Vocabulary,
  coreEvents,
} from '@palimpsest/session'
import { CompactionError } from './errors.ts'

/** Where seqs of one log went in another. Seqs that the log does not have stay what they are. */
export interface SeqMap {
  /** The new seq of an event that something names. Throws `CompactionError` `undo/cited` where it was left out. */
  cited(seq: SessionSeq): SessionSeq
  /** The new seq of a point in the log: of the last event at or before it that was not left out. */
  through(seq: SessionSeq): SessionSeq
}

type Remap<Type extends SessionEventType> = (data: SessionEventMap[Type], map: SeqMap) => SessionEventMap[Type]

/** Payloads that name seqs of their own log. Every event type of this repository that does is here. */
const payloads: { readonly [Type in SessionEventType]?: Remap<Type> } = {
  'assistant/message': requestSeq,
  'assistant/attempt': requestSeq,
  'request/start': (data, map) => ({ ...data, throughSeq: map.through(data.throughSeq) }),
  'compaction/start': (data, map) => ({ ...data, ...ends(data, map) }),
  'compaction/summary': (data, map) => ({
    ...data,
    shadowedRange: { ...data.shadowedRange, ...ends(data.shadowedRange, map) },
    shadowedSeqs: data.shadowedSeqs.map((seq) => map.cited(seq)),
  }),
  'compaction/end': (data, map) =>
    data.replacementSeq === undefined ? data : { ...data, replacementSeq: map.cited(data.replacementSeq) },
}

/** Types of other packages without a seq, or whose seqs are those of another log. */
const withoutReferences: ReadonlySet<string> = new Set(['import/raw', 'salvage/raw', 'salvage/missing'])

/**
 * The event with every seq that it names remapped; its own seq stays. An event of a type that `vocabulary` lacks, or
 * that only its own plugin understands, passes as it is, unless it looks as if it named seqs: then it throws
 * `CompactionError` `undo/opaque`.
 */
export function remapReferences(event: SessionEvent, map: SeqMap, vocabulary: Vocabulary): SessionEvent {
  const { type } = event
  if (!isUnderstood(type, vocabulary)) return requireNoReferences(event)
  const remap = payloads[type] as Remap<SessionEventType> | undefined
  const { surfaceOp, sourceEventSeqs } = event
  return {
    ...event,
    ...(surfaceOp === undefined || surfaceOp === 'append'
      ? {}
      : { surfaceOp: { ...surfaceOp, ...ends(surfaceOp, map) } satisfies ReplaceOp }),
    ...(sourceEventSeqs === undefined ? {} : { sourceEventSeqs: sourceEventSeqs.map((seq) => map.cited(seq)) }),
    ...(remap === undefined ? {} : { data: remap(event.data, map) }),
  } as SessionEvent
}

/** Whether this package knows all that an event of this type may name. */
export function isUnderstood(type: string, vocabulary: Vocabulary): type is SessionEventType {
  return (
    vocabulary.accepts(type) &&
    (coreEvents.accepts(type) || Object.hasOwn(payloads, type) || withoutReferences.has(type))
  )
}

function requestSeq<Data extends SessionEventMap['assistant/message' | 'assistant/attempt']>(
  data: Data,
  map: SeqMap,
): Data {
  return data.requestSeq === undefined ? data : { ...data, requestSeq: map.cited(data.requestSeq) }
}

interface Ends {
  readonly startSeq: SessionSeq
  readonly endSeq: SessionSeq
}

function ends({ startSeq, endSeq }: Ends, map: SeqMap): Ends {
  return { startSeq: map.cited(startSeq), endSeq: map.cited(endSeq) }
}

function requireNoReferences(event: SessionEvent): SessionEvent {
  const { surfaceOp, sourceEventSeqs, data } = event as unknown as EventEnvelope
  const name = (surfaceOp ?? sourceEventSeqs) ? 'its metadata' : seqMember(data)
  if (name === undefined) return event
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
