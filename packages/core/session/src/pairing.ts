import type { SurfaceEvent } from './events.ts'
import type { ToolCallId } from './ids.ts'

/** What one surface entry, or a range of them, does to the calls around it. SPEC 3.1 `pairing/split`. */
export interface PairingEffect {
  /** Calls made before the range and answered in it. */
  readonly answers: readonly ToolCallId[]
  /** Calls made in the range and not answered in it. */
  readonly opens: readonly ToolCallId[]
}

/** Ids of the calls that an entry makes, in order; empty for all but assistant messages. */
export function callsOf(event: SurfaceEvent): readonly ToolCallId[] {
  if (event.type !== 'assistant/message') return []
  const ids: ToolCallId[] = []
  for (const block of event.data.message.content) if (block.type === 'tool-call') ids.push(block.id)
  return ids
}

/** Id of the call that an entry answers. */
export function answerOf(event: SurfaceEvent): ToolCallId | undefined {
  return event.type === 'tool/result' ? event.data.message.source.callId : undefined
}

/** The first id that stands twice in a list. */
export function repeatedId(ids: readonly ToolCallId[]): ToolCallId | undefined {
  return ids.length < 2 ? undefined : ids.find((id, index) => ids.indexOf(id) < index)
}

/** The effect of entries in surface order. */
export function rangeEffect(entries: Iterable<SurfaceEvent>): PairingEffect {
  const answers: ToolCallId[] = []
  const opens = new Set<ToolCallId>()
  for (const entry of entries) {
    for (const id of callsOf(entry)) opens.add(id)
    const answered = answerOf(entry)
    if (answered !== undefined && !opens.delete(answered)) answers.push(answered)
  }
  return { answers, opens: [...opens] }
}
