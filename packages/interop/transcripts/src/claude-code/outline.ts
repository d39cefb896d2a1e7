import type { TurnEndReason } from '@palimpsest/session'
import type { Item } from './items.ts'

/** Where turns begin (before an item) and end (after an item), by index of the item. */
export interface Outline {
  readonly starts: ReadonlySet<number>
  readonly ends: ReadonlyMap<number, TurnEndReason>
}

/** Draws turns around what user and model did: one begins at each real prompt that the model got to. SPEC 2.3, 8. */
export function outlineTurns(items: readonly Item[]): Outline {
  const starts = new Set<number>()
  const ends = new Map<number, TurnEndReason>()
  let open = false
  let answered = false
  const start = (index: number): void => {
    starts.add(index)
    open = true
    answered = false
  }
  const end = (index: number, reason: TurnEndReason): void => {
    ends.set(index, reason)
    open = false
  }
  for (const [index, item] of items.entries()) {
    if (item.kind === 'model') {
      if (!open) start(index)
      answered = true
      if (item.calls.length === 0 && !leadsToModel(items, index) && !isCutShort(items, index)) {
        end(index, { kind: item.stopReason === 'max_tokens' ? 'max-tokens' : 'completed' })
      }
      continue
    }
    if (
      index === 0 ||
      item.userClass === 'prompt' ||
      (item.userClass === 'command' && !open && leadsToModel(items, index))
    ) {
      if (open && answered) end(index - 1, { kind: 'interrupted' })
      if (!open) start(index)
    }
    if (item.userClass === 'interrupt' && open && answered) end(index, { kind: 'aborted', cause: 'user' })
  }
  return { starts, ends }
}

/** Whether the next response follows with no prompt or command in between: a hook nudged the model, say. */
function leadsToModel(items: readonly Item[], index: number): boolean {
  for (let next = index + 1; next < items.length; next += 1) {
    const item = items[next]
    if (item === undefined || item.kind === 'model') return item !== undefined
    if (item.userClass === 'prompt' || item.userClass === 'command') return false
  }
  return false
}

/** Whether the user interrupted this response: the turn ends at that line then. */
function isCutShort(items: readonly Item[], index: number): boolean {
  for (let next = index + 1; next < items.length; next += 1) {
    const item = items[next]
    if (item === undefined || item.kind === 'model' || item.userClass === 'prompt') return false
    if (item.userClass === 'interrupt') return true
  }
  return false
}
