import type { AcceptanceCode } from './acceptance-codes.ts'
import { refuse } from './errors.ts'
import { type ReplaceOp, type SurfaceOp, isSurfaceType } from './events.ts'
import { type SessionSeq, isSessionSeq } from './ids.ts'
import { type Json, snapshotJson } from './json.ts'

/** The candidate that placement belongs to. */
interface Candidate {
  readonly type: string
  readonly seq: SessionSeq
}

/** The metadata of a candidate as somebody gave it: whatever that is, absent where undefined. */
export interface GivenPlacement {
  readonly surfaceOp?: unknown
  readonly sourceEventSeqs?: unknown
}

/** Metadata that was checked. */
export interface Placement {
  readonly surfaceOp?: SurfaceOp
  readonly sourceEventSeqs?: readonly SessionSeq[]
}

const logOnly: Placement = {}
const plainAppend: Placement = { surfaceOp: 'append' }

/**
 * Snapshots and checks how a candidate joins the surface. Throws `SessionAcceptanceError` with a `surface/` or
 * `sources/` code. SPEC 3.1.
 */
export function readPlacement(candidate: Candidate, given: GivenPlacement): Placement {
  const surfaceOp = snapshotMember(candidate, given.surfaceOp, 'surface/invalid-op')
  const sourceEventSeqs = snapshotMember(candidate, given.sourceEventSeqs, 'sources/invalid')
  return checkPlacement(candidate, { surfaceOp, sourceEventSeqs })
}

/** A frozen copy. Refuses with `code` what is no JSON. */
function snapshotMember(candidate: Candidate, value: unknown, code: AcceptanceCode): Json | undefined {
  if (value === undefined || value === 'append') return value
  const copy = snapshotJson(value)
  return 'fault' in copy ? refuse(candidate, code, `it is not JSON: ${copy.fault.reason}`) : copy.value
}

/** Checks the metadata of an event that is plain JSON already. Throws as `readPlacement` does. */
export function checkPlacement(candidate: Candidate, { surfaceOp, sourceEventSeqs }: GivenPlacement): Placement {
  if (!isSurfaceType(candidate.type)) {
    if (surfaceOp === undefined && sourceEventSeqs === undefined) return logOnly
    return refuse(candidate, 'surface/forbidden', 'a log-only event has neither surfaceOp nor sourceEventSeqs')
  }
  if (surfaceOp === undefined) refuse(candidate, 'surface/missing-op', 'a surface event says how it joins the surface')
  if (surfaceOp !== 'append' && !isReplaceOp(surfaceOp)) {
    refuse(candidate, 'surface/invalid-op', "surfaceOp is 'append' or exactly { op: 'replace', startSeq, endSeq }")
  }
  if (sourceEventSeqs === undefined) return surfaceOp === 'append' ? plainAppend : { surfaceOp }
  if (candidate.type === 'assistant/message')
    refuse(candidate, 'sources/forbidden', 'an assistant/message cites nothing')
  checkSources(candidate, sourceEventSeqs)
  return { surfaceOp, sourceEventSeqs }
}

function isReplaceOp(value: unknown): value is ReplaceOp {
  if (typeof value !== 'object' || value === null || Object.keys(value).length !== 3) return false
  const { op, startSeq, endSeq } = value as Partial<ReplaceOp>
  return op === 'replace' && isSessionSeq(startSeq) && isSessionSeq(endSeq)
}

function checkSources(candidate: Candidate, value: unknown): asserts value is readonly SessionSeq[] {
  if (!Array.isArray(value) || value.length === 0) {
    refuse(candidate, 'sources/invalid', 'sourceEventSeqs is a non-empty array of seqs')
  }
  const seqs = value as readonly unknown[]
  for (const seq of seqs) {
    if (!isSessionSeq(seq) || seq >= candidate.seq) {
      refuse(candidate, 'sources/invalid', `${JSON.stringify(seq)} is not the seq of an earlier event`)
    }
  }
  if (seqs.length > 1 && new Set(seqs).size < seqs.length)
    refuse(candidate, 'sources/invalid', 'a source is cited twice')
}
