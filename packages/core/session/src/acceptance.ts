import { refuse } from './errors.ts'
import type { EventEnvelope, SessionEvent } from './events.ts'
import { type SessionSeq, isSessionSeq } from './ids.ts'
import { type Json, type JsonFault, type JsonObject, MAX_JSON_DEPTH, adoptJson, snapshotJson } from './json.ts'
import { checkPayload, requireObject } from './payload.ts'
import { type GivenPlacement, checkPlacement, readPlacement } from './placement.ts'
import type { Vocabulary } from './vocabulary.ts'

/** What `append` was given. */
export interface AppendCandidate {
  readonly type: unknown
  readonly data: unknown
  readonly intent: unknown
  readonly seq: SessionSeq
  readonly time: number
}

/** Where a whole event came from: a copy is taken of a seed, a stored log is adopted. */
export interface StoredCandidate {
  readonly value: unknown
  readonly seq: SessionSeq
  readonly mode: 'copy' | 'adopt'
  /** Keep events of unknown type that have no place on the surface. */
  readonly keepUnknown: boolean
}

/** An event that passed every rule that needs no surface. */
export interface Accepted {
  readonly event: SessionEvent
  /** Its type is unknown or retired and it is not ignorable: kept because the caller asked for it. */
  readonly kept: boolean
}

interface Given {
  readonly type: string
  readonly seq: SessionSeq
}

const intentKeys: ReadonlySet<PropertyKey> = new Set(['surfaceOp', 'sourceEventSeqs', 'ignorable'])
const envelopeKeys: ReadonlySet<string> = new Set([
  'type',
  'seq',
  'time',
  'data',
  'surfaceOp',
  'sourceEventSeqs',
  'ignorable',
])

/** Builds the frozen event of an `append`, in canonical key order. Throws `SessionAcceptanceError`. SPEC 3.1. */
export function acceptAppend(candidate: AppendCandidate, vocabulary: Vocabulary): SessionEvent {
  const { seq, time } = candidate
  const type = typeof candidate.type === 'string' ? candidate.type : ''
  const given: Given = { type, seq }
  if (type === '') refuse(given, 'envelope/keys', 'the type of an event is a non-empty string')
  checkTime(given, time)
  const intent = readIntent(given, candidate.intent)
  const known = vocabulary.accepts(type)
  if (!known && intent.ignorable !== true) refuseUnknown(given, vocabulary)
  const snapshot = snapshotJson(candidate.data)
  if ('fault' in snapshot) refuse(given, 'envelope/json', at(snapshot.fault, 'data'))
  const data = snapshot.value as JsonObject
  const { surfaceOp, sourceEventSeqs } = known ? readPlacement(given, intent) : opaquePlacement(given, intent)
  if (known) checkPayload(given, data, vocabulary)
  else requireObject(given, data)
  return Object.freeze(envelope(type, seq, time, surfaceOp, sourceEventSeqs, intent.ignorable, data)) as SessionEvent
}

/** Absent members stay absent. The common shapes are literals, which are several times faster than spreading. */
function envelope(
  type: string,
  seq: SessionSeq,
  time: number,
  surfaceOp: unknown,
  sourceEventSeqs: unknown,
  ignorable: true | undefined,
  data: JsonObject,
): unknown {
  if (ignorable === undefined) {
    if (surfaceOp === undefined) return { type, seq, time, data }
    if (sourceEventSeqs === undefined) return { type, seq, time, surfaceOp, data }
    return { type, seq, time, surfaceOp, sourceEventSeqs, data }
  }
  const op = surfaceOp === undefined ? undefined : { surfaceOp }
  const sources = sourceEventSeqs === undefined ? undefined : { sourceEventSeqs }
  return { type, seq, time, ...op, ...sources, ignorable, data }
}

/** Checks one event of a seed or a stored log. Throws `SessionAcceptanceError`. SPEC 3.1. */
export function acceptStored(candidate: StoredCandidate, vocabulary: Vocabulary): Accepted {
  const { value, seq, mode } = candidate
  // The envelope is a level above `data`, where counting begins.
  const walked = mode === 'adopt' ? adoptJson(value, MAX_JSON_DEPTH + 1) : snapshotJson(value, MAX_JSON_DEPTH + 1)
  if ('fault' in walked) return refuseFault({ type: typeOf(value), seq }, walked.fault, vocabulary)
  const type = typeOf(walked.value)
  const given: Given = { type, seq }
  if (typeof walked.value !== 'object' || walked.value === null || type === '') {
    return refuse(given, 'envelope/keys', 'an event is an object with a type')
  }
  const event = walked.value as unknown as SessionEvent
  if (!isSessionSeq(event.seq) || event.seq !== seq) {
    refuse(given, 'envelope/seq', `its seq is ${JSON.stringify(event.seq)}, but the log has ${seq} events before it`)
  }
  checkTime(given, event.time)
  if (!vocabulary.accepts(type)) return acceptUnknown(event, candidate.keepUnknown, vocabulary)
  checkKeys(given, event)
  checkPlacement(given, event)
  checkPayload(given, event.data as unknown as JsonObject, vocabulary)
  return { event, kept: false }
}

function acceptUnknown(event: SessionEvent, keepUnknown: boolean, vocabulary: Vocabulary): Accepted {
  const { ignorable, surfaceOp } = event
  requireObject(event, event.data)
  if (ignorable === true) return { event, kept: false }
  if (keepUnknown && surfaceOp === undefined) return { event, kept: true }
  return refuseUnknown(event, vocabulary)
}

function refuseUnknown(given: Given, vocabulary: Vocabulary): never {
  const why = vocabulary.get(given.type)?.retired === true ? 'is retired' : 'is not in the vocabulary of this session'
  return refuse(given, 'vocabulary/unknown', `the type ${why}, and the event is not ignorable`)
}

/** Names the rule that a value which is not JSON breaks, by the member that it stands in. */
function refuseFault(given: Given, fault: JsonFault, vocabulary: Vocabulary): never {
  const { member } = fault
  const known = vocabulary.accepts(given.type)
  if (member === 'seq') refuse(given, 'envelope/seq', at(fault, ''))
  if (member === 'time') refuse(given, 'envelope/time', at(fault, ''))
  if (member === 'surfaceOp' && known) refuse(given, 'surface/invalid-op', at(fault, ''))
  if (member === 'sourceEventSeqs' && known) refuse(given, 'sources/invalid', at(fault, ''))
  if (member === undefined || (member !== 'data' && known)) refuse(given, 'envelope/keys', at(fault, ''))
  return refuse(given, 'envelope/json', at(fault, ''))
}

function at(fault: JsonFault, prefix: string): string {
  const path = `${prefix}${fault.path}`.replace(/^\./, '')
  return path === '' ? fault.reason : `${path}: ${fault.reason}`
}

/** Reads the type for an error message from a value that may be anything. */
function typeOf(value: unknown): string {
  try {
    const type = (value as Partial<EventEnvelope> | null | undefined)?.type
    return typeof type === 'string' ? type : ''
  } catch {
    return ''
  }
}

function checkTime(given: Given, time: unknown): void {
  if (!Number.isSafeInteger(time) || Object.is(time, -0)) {
    const what = typeof time === 'number' ? String(time) : `a ${typeof time}`
    refuse(given, 'envelope/time', `${what} is not an integer number of milliseconds`)
  }
}

function checkKeys(given: Given, event: SessionEvent): void {
  for (const key of Object.keys(event)) {
    if (!envelopeKeys.has(key)) refuse(given, 'envelope/keys', `an event has no member ${JSON.stringify(key)}`)
  }
  if (event.data === undefined) refuse(given, 'envelope/keys', 'the event has no data')
  if (Object.hasOwn(event, 'ignorable') && event.ignorable !== true) {
    refuse(given, 'envelope/keys', 'ignorable is true or absent')
  }
}

interface Intent extends GivenPlacement {
  readonly ignorable: true | undefined
}

const emptyIntent: Intent = { surfaceOp: undefined, sourceEventSeqs: undefined, ignorable: undefined }

function readIntent(given: Given, intent: unknown): Intent {
  if (intent === undefined) return emptyIntent
  if (typeof intent !== 'object' || intent === null) return refuse(given, 'envelope/keys', 'an intent is an object')
  const members = intent as Readonly<Record<PropertyKey, unknown>>
  for (const key of [...Object.getOwnPropertyNames(intent), ...Object.getOwnPropertySymbols(intent)]) {
    if (!intentKeys.has(key) && members[key] !== undefined) {
      refuse(given, 'envelope/keys', `an intent has no member ${JSON.stringify(String(key))}`)
    }
  }
  const { surfaceOp, sourceEventSeqs, ignorable } = members as Partial<Record<string, unknown>>
  if (ignorable !== undefined && ignorable !== true) refuse(given, 'envelope/keys', 'ignorable is true or absent')
  return { surfaceOp, sourceEventSeqs, ignorable }
}

/** The metadata of an event of unknown type is kept as it is, so long as it is JSON. */
function opaquePlacement(given: Given, intent: Intent): GivenPlacement {
  const read = (name: 'surfaceOp' | 'sourceEventSeqs'): Json | undefined => {
    if (intent[name] === undefined) return undefined
    const snapshot = snapshotJson(intent[name])
    if ('fault' in snapshot) return refuse(given, 'envelope/json', at(snapshot.fault, name))
    return snapshot.value
  }
  return { surfaceOp: read('surfaceOp'), sourceEventSeqs: read('sourceEventSeqs') }
}
