import { refuse } from './errors.ts'
import type { EventOf, ReplaceOp, SurfaceEvent } from './events.ts'
import type { SessionSeq } from './ids.ts'
import { type Json, type JsonObject, jsonEqual } from './json.ts'
import { rangeEffect } from './pairing.ts'
import type { SurfaceOrder } from './surface-order.ts'

/** Which entries a replacement takes off the surface: positions, both inclusive, and their seqs in surface order. */
export interface ReplacementPlan {
  readonly start: number
  readonly end: number
  readonly shadowed: readonly SessionSeq[]
}

/**
 * Judges a replacement against the surface as it stands: ends, order, coverage, and what may stand for what. Pure,
 * O(range + log surface). Throws `SessionAcceptanceError` with a `replace/` or `sources/` code. SPEC 3.1.
 */
export function planReplacement(
  order: SurfaceOrder,
  event: SurfaceEvent,
  op: ReplaceOp,
  entryAt: (seq: SessionSeq) => SurfaceEvent,
): ReplacementPlan {
  const start = endpoint(order, event, op.startSeq)
  const end = op.endSeq === op.startSeq ? start : endpoint(order, event, op.endSeq)
  if (start > end) {
    refuse(
      event,
      'replace/reversed',
      `entry ${op.startSeq} stands after entry ${op.endSeq} on the surface: swap the ends`,
    )
  }
  const shadowed = order.nodes.slice(start, end + 1)
  checkCoverage(event, shadowed)
  const entries = shadowed.map(entryAt)
  checkHead(event, start, entries)
  if (event.type === 'tool/result') checkResult(event, entries)
  return { start, end, shadowed }
}

function endpoint(order: SurfaceOrder, event: SurfaceEvent, seq: SessionSeq): number {
  const position = order.positionOf(seq)
  if (position >= 0) return position
  const instead = seq < event.seq ? order.standsFor(seq) : undefined
  const hint = instead === undefined ? '' : `; entry ${instead} is what stands there now`
  return refuse(event, 'replace/not-on-surface', `event ${seq} is not on the surface${hint}`)
}

function checkCoverage(event: SurfaceEvent, shadowed: readonly SessionSeq[]): void {
  const cited = new Set(event.sourceEventSeqs)
  const missing = shadowed.filter((seq) => !cited.has(seq))
  if (missing.length > 0) {
    refuse(event, 'sources/uncovered', `sourceEventSeqs lacks ${missing.join(', ')}, which the replacement shadows`)
  }
}

function checkHead(event: SurfaceEvent, start: number, entries: readonly SurfaceEvent[]): void {
  const head = start === 0 ? entries[0] : undefined
  if (head?.type !== 'system/message') return
  if (event.type !== 'system/message' || entries.length > 1) {
    refuse(event, 'replace/system-head', `the range covers the system prompt, event ${head.seq}: start after it`)
  }
}

function checkResult(event: EventOf<'tool/result'>, entries: readonly SurfaceEvent[]): void {
  const [entry] = entries
  if (entries.length !== 1 || entry?.type !== 'tool/result') {
    refuse(event, 'replace/tool-result', 'a tool/result replaces exactly one tool/result')
  }
  if (!jsonEqual(withoutContent(entry.data), withoutContent(event.data))) {
    refuse(event, 'replace/tool-result', `it differs from event ${entry.seq} in more than the content of its block`)
  }
}

/** The data of a result as it would be with an empty block. */
function withoutContent(data: EventOf<'tool/result'>['data']): Json {
  const [block] = data.message.content
  return { ...data, message: { ...data.message, content: [{ ...block, content: [] }] } } as unknown as JsonObject
}

/**
 * Refuses with `pairing/split` a replacement that takes a call without its answer or the other way round. A result in
 * place of a result answers the same call; anything else makes and answers none, so neither may its range.
 */
export function checkBalance(event: SurfaceEvent, shadowed: Iterable<SurfaceEvent>): void {
  if (event.type === 'tool/result') return
  const { answers, opens } = rangeEffect(shadowed)
  if (answers.length > 0) {
    refuse(event, 'pairing/split', `the range holds the answer to ${answers.join(', ')}, but not the call`)
  }
  if (opens.length > 0) {
    refuse(event, 'pairing/split', `the range holds the call ${opens.join(', ')}, but not its answer`)
  }
}
