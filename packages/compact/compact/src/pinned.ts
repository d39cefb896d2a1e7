import { type Session, type SessionSeq, type SurfaceEvent, type ToolCallId, isSurfaceType } from '@palimpsest/session'
import type { PinnedEntry } from './contract.ts'
import type { TokenMeter } from './meter.ts'

/** Calls that no result answered, and where the surface is pinned by them. */
export interface OpenTail {
  /** In call order. */
  readonly calls: readonly ToolCallId[]
  /** Position of the message that made the oldest; the surface's length where none is open. */
  readonly position: number
}

/**
 * The open calls of a surface. Only results may follow an open call, so its message is the last that is none: O(entries
 * behind it). SPEC 3.1.
 */
export function openTail(session: Session): OpenTail {
  const { nodes } = session.surface
  const answered = new Set<ToolCallId>()
  let position = nodes.length - 1
  for (; position >= 0; position -= 1) {
    const entry = session.eventAt(nodes[position] as SessionSeq) as SurfaceEvent
    if (entry.type !== 'tool/result') break
    answered.add(entry.data.message.source.callId)
  }
  const last = position < 0 ? undefined : session.eventAt(nodes[position] as SessionSeq)
  const calls =
    last?.type !== 'assistant/message'
      ? []
      : last.data.message.content.flatMap((block) =>
          block.type === 'tool-call' && !answered.has(block.id) ? [block.id] : [],
        )
  return { calls, position: calls.length > 0 ? position : nodes.length }
}

/** Whether an event is the text that stands for a compacted range. */
export function isSummary(event: { readonly type: string; readonly data: unknown } | undefined): boolean {
  if (event?.type !== 'user/message') return false
  const { source } = event.data as { readonly source: { readonly kind: string; readonly plugin?: unknown } }
  return source.kind === 'plugin' && source.plugin === 'compact'
}

/**
 * The `count` largest entries of the surface, largest first, with the reason why a compaction leaves each where it is:
 * what to name when one did not help. Entries are estimated. SPEC 7.1.
 */
export function largestPinned(session: Session, meter: TokenMeter, count: number): PinnedEntry[] {
  const { position: pinnedFrom } = openTail(session)
  const reasonOf = (seq: SessionSeq, position: number): PinnedEntry['reason'] => {
    const event = session.eventAt(seq)
    if (position === 0 && event?.type === 'system/message') return 'system-head'
    if (position >= pinnedFrom) return 'open-call'
    return isSummary(event) ? 'summary' : 'recent'
  }
  return session.surface.nodes
    .map((seq, position) => ({ seq, tokens: meter.entry(seq).tokens, reason: reasonOf(seq, position) }))
    .filter(({ seq }) => isSurfaceType(session.eventAt(seq)?.type ?? ''))
    .toSorted((a, b) => b.tokens - a.tokens)
    .slice(0, count)
}
