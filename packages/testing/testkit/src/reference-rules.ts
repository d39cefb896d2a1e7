import type { AcceptanceCode, ToolResultMessage } from '@palimpsest/session'
import { isKnownType, isLossless, isSeq, payloadCodes } from './reference-payload.ts'
import {
  answerOf,
  callsOf,
  type Candidate,
  type ReferenceEvent,
  type ReferenceSession,
  referencePairing,
  surfaceTypes,
} from './reference-session.ts'

interface Range {
  readonly startSeq: number
  readonly endSeq: number
}

/** The intent's members that are there: an undefined member counts as absent. */
function membersOf(candidate: Candidate): Record<string, unknown> {
  return Object.fromEntries(Object.entries(candidate.intent ?? {}).filter(([, value]) => value !== undefined))
}

function isReplace(op: unknown): op is Range & { readonly op: 'replace' } {
  if (typeof op !== 'object' || op === null || Reflect.ownKeys(op).length !== 3) return false
  const { op: name, startSeq, endSeq } = op as Record<string, unknown>
  return name === 'replace' && isSeq(startSeq) && isSeq(endSeq)
}

/** JSON equality, whatever the order of members. */
function sameJson(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null) return one === other
  const keys = Object.keys(one)
  if (Array.isArray(one) !== Array.isArray(other) || keys.length !== Object.keys(other).length) return false
  return keys.every((key) => Object.hasOwn(other, key) && sameJson(Reflect.get(one, key), Reflect.get(other, key)))
}

/** A result's payload with nothing in its block. */
function emptied({ data }: ReferenceEvent): unknown {
  const { message, ...rest } = data as { readonly message: ToolResultMessage }
  return { ...rest, message: { ...message, content: [{ ...message.content[0], content: [] }] } }
}

function appendCodes(session: ReferenceSession, event: ReferenceEvent): AcceptanceCode[] {
  const open = session.openCalls()
  const answer = answerOf(event)
  if (answer !== undefined) return open.includes(answer) ? [] : ['pairing/unknown-call']
  const codes: AcceptanceCode[] = open.length > 0 ? ['pairing/open-calls'] : []
  const calls = callsOf(event)
  if (new Set(calls).size < calls.length || calls.some((id) => open.includes(id))) codes.push('pairing/duplicate-call')
  return codes
}

function replaceCodes(
  session: ReferenceSession,
  event: ReferenceEvent,
  { startSeq, endSeq }: Range,
  cited: unknown,
): AcceptanceCode[] {
  const surface = session.surface()
  const start = surface.indexOf(startSeq)
  const end = surface.indexOf(endSeq)
  if (start < 0 || end < 0) return ['replace/not-on-surface']
  if (start > end) return ['replace/reversed']

  const entries = session.entries()
  const shadowed = entries.slice(start, end + 1)
  const codes: AcceptanceCode[] = []
  if (!shadowed.every(({ seq }) => Array.isArray(cited) && cited.includes(seq))) codes.push('sources/uncovered')
  if (entries[0]?.type === 'system/message' && start === 0 && (end > 0 || event.type !== 'system/message'))
    codes.push('replace/system-head')
  const [only] = shadowed
  if (event.type === 'tool/result') {
    const isRewrite = shadowed.length === 1 && only?.type === 'tool/result' && sameJson(emptied(only), emptied(event))
    if (!isRewrite) codes.push('replace/tool-result')
  }
  // Not the kernel's wording of the rule: the surface that would result is read from its start.
  const before = referencePairing(entries)
  const after = referencePairing([...entries.slice(0, start), event, ...entries.slice(end + 1)])
  if (!after.sound || after.open.toSorted().join('\n') !== before.open.toSorted().join('\n'))
    codes.push('pairing/split')
  return codes
}

/**
 * The codes that a candidate may be refused with, worked out from the whole log; empty when it must be accepted.
 * SPEC 3.1: where several rules are broken, any of their codes may be reported.
 */
export function referenceVerdict(session: ReferenceSession, candidate: Candidate): ReadonlySet<string> {
  const { type } = candidate
  const { surfaceOp, sourceEventSeqs, ignorable, ...extra } = membersOf(candidate)
  const codes: string[] = []
  if (!isKnownType(type)) {
    if (ignorable !== true) codes.push('vocabulary/unknown')
    if (Reflect.ownKeys(extra).length > 0) codes.push('envelope/keys')
    // Opaque, metadata included; its data is an object all the same, and all of it is JSON.
    const parts = [candidate.data, surfaceOp ?? null, sourceEventSeqs ?? null]
    const isObject = typeof candidate.data === 'object' && candidate.data !== null && !Array.isArray(candidate.data)
    if (!isObject || !parts.every((part) => isLossless(part))) codes.push('envelope/json')
    return new Set(codes)
  }
  if (Reflect.ownKeys(extra).length > 0 || (ignorable !== undefined && ignorable !== true)) codes.push('envelope/keys')
  codes.push(...payloadCodes(candidate))

  if (!surfaceTypes.includes(type)) {
    if (surfaceOp !== undefined || sourceEventSeqs !== undefined) codes.push('surface/forbidden')
    if (!isLossless(surfaceOp ?? null)) codes.push('surface/invalid-op')
    if (!isLossless(sourceEventSeqs ?? null)) codes.push('sources/invalid')
    return new Set(codes)
  }
  if (surfaceOp === undefined) codes.push('surface/missing-op')
  else if (surfaceOp !== 'append' && !isReplace(surfaceOp)) codes.push('surface/invalid-op')
  if (sourceEventSeqs !== undefined) {
    if (type === 'assistant/message') codes.push('sources/forbidden')
    const isValid =
      Array.isArray(sourceEventSeqs) &&
      sourceEventSeqs.length > 0 &&
      sourceEventSeqs.every((seq) => isSeq(seq) && seq < session.log.length) &&
      new Set(sourceEventSeqs).size === sourceEventSeqs.length
    if (!isValid) codes.push('sources/invalid')
  }
  if (type === 'assistant/message' && surfaceOp !== 'append') codes.push('sources/forbidden', 'surface/invalid-op')
  // A payload that is no message cannot be placed; its own codes are enough.
  if (codes.some((code) => code.startsWith('payload/') || code === 'envelope/json')) return new Set(codes)

  const event = { type, seq: session.log.length, data: candidate.data } as ReferenceEvent
  if (surfaceOp === 'append') codes.push(...appendCodes(session, event))
  if (isReplace(surfaceOp)) codes.push(...replaceCodes(session, event, surfaceOp, sourceEventSeqs))
  return new Set(codes)
}
