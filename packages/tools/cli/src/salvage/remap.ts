import type { SessionEvent, SessionSeq } from '@palimpsest/session'

/** Where each seq of the damaged log is now. A seq that it never held stays what it was. */
export type SeqMap = ReadonlyMap<number, SessionSeq>

/**
 * The event with every seq reference of the core's types moved to where its target is now. Text that a model reads is
 * never touched. SPEC 6.
 */
export function remapEvent(event: SessionEvent, map: SeqMap): SessionEvent {
  const moved = (seq: SessionSeq): SessionSeq => map.get(seq) ?? seq
  const { surfaceOp, sourceEventSeqs } = event as { surfaceOp?: unknown; sourceEventSeqs?: unknown }
  let changed: Record<string, unknown> = { ...event }
  if (isReplace(surfaceOp)) {
    changed = {
      ...changed,
      surfaceOp: { ...surfaceOp, startSeq: moved(surfaceOp.startSeq), endSeq: moved(surfaceOp.endSeq) },
    }
  }
  if (Array.isArray(sourceEventSeqs)) {
    changed = { ...changed, sourceEventSeqs: [...new Set((sourceEventSeqs as SessionSeq[]).map(moved))] }
  }
  const { data } = event as { data: { readonly requestSeq?: SessionSeq; readonly throughSeq?: SessionSeq } }
  for (const member of ['requestSeq', 'throughSeq'] as const) {
    const seq = data[member]
    if (typeof seq === 'number' && /^(assistant\/|request\/start$)/.test(event.type)) {
      changed = { ...changed, data: { ...(changed['data'] as object), [member]: moved(seq) } }
    }
  }
  return changed as unknown as SessionEvent
}

function isReplace(op: unknown): op is { op: 'replace'; startSeq: SessionSeq; endSeq: SessionSeq } {
  return typeof op === 'object' && op !== null && typeof (op as { startSeq?: unknown }).startSeq === 'number'
}
