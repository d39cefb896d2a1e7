import type { Session, SessionSeq } from '@palimpsest/session'

export interface CoveredRange {
  /** The surface entries that a summary stands for, in surface order; empty where there is nothing to cover. */
  readonly range: readonly SessionSeq[]
  /** Kept entries that had to be left out of, or others that had to be left in, for a range that replays. */
  readonly notes: readonly { readonly code: string; readonly text: string }[]
}

/**
 * What the source's summary covers: everything behind the head, up to the first message that stays visible. The range
 * ends where no call is open, since a summary cannot split a call from its answer. SPEC 3.1 `pairing/split`.
 */
export function compactionRange(session: Session, isKept: (seq: SessionSeq) => boolean): CoveredRange {
  const nodes = [...session.surface.nodes]
  const first = session.eventAt(nodes[0] ?? -1)?.type === 'system/message' ? 1 : 0
  const kept = nodes.findIndex((seq, place) => place >= first && isKept(seq))
  const wanted = kept === -1 ? nodes.length : kept
  const end = balancedEnd(session, nodes, first, wanted)
  const notes: { code: string; text: string }[] = []
  if (end < wanted) {
    notes.push({
      code: 'compaction/cut-moved',
      text: `the source cuts between a call and its answer: ${wanted - end} more message(s) stay visible`,
    })
  }
  const extra = nodes.slice(wanted).filter((seq) => !isKept(seq)).length
  if (extra > 0) {
    notes.push({
      code: 'compaction/extra-visible',
      text: `${extra} message(s) between those that the compaction kept stay visible, though the source hid them`,
    })
  }
  return { range: nodes.slice(first, end), notes }
}

/** The last place up to `wanted` before which every call is answered. */
function balancedEnd(session: Session, nodes: readonly SessionSeq[], first: number, wanted: number): number {
  let open = 0
  let balanced = first
  for (let place = first; place < wanted; place += 1) {
    const event = session.eventAt(nodes[place] ?? -1)
    if (event?.type === 'assistant/message') {
      open += event.data.message.content.filter((block) => block.type === 'tool-call').length
    } else if (event?.type === 'tool/result') open -= 1
    if (open === 0) balanced = place + 1
  }
  return balanced
}
