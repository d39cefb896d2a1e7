import type { Item } from './items.ts'

/** What the user did to turns. The writer draws them from it and from the responses. */
export interface Outline {
  /** Items that begin a turn. */
  readonly opens: ReadonlySet<Item>
  /** Items that interrupted one. */
  readonly aborts: ReadonlySet<Item>
}

type Talk = Exclude<Item, { kind: 'results' }>

/** A turn begins at each real prompt, and at a command that led to a response. SPEC 2.3, 8. */
export function outlineTurns(all: readonly Item[]): Outline {
  const items = all.filter((item): item is Talk => item.kind !== 'results')
  const opens = new Set<Item>()
  const aborts = new Set<Item>()
  let isOpen = false
  let isAnswered = false
  for (const [index, item] of items.entries()) {
    if (item.kind === 'model') {
      isOpen = item.hasCalls || leadsToModel(items, index) || isCutShort(items, index)
      isAnswered = true
      continue
    }
    if (item.userClass === 'prompt' || (item.userClass === 'command' && !isOpen && leadsToModel(items, index))) {
      opens.add(item)
      isOpen = true
      isAnswered = false
    }
    if (item.userClass === 'interrupt' && isOpen && isAnswered) {
      aborts.add(item)
      isOpen = false
    }
  }
  return { opens, aborts }
}

/** Whether the next response follows with no prompt or command in between: a hook nudged the model, say. */
function leadsToModel(items: readonly Talk[], index: number): boolean {
  for (let next = index + 1; next < items.length; next += 1) {
    const item = items[next]
    if (item === undefined || item.kind === 'model') return item !== undefined
    if (item.userClass === 'prompt' || item.userClass === 'command') return false
  }
  return false
}

/** Whether the user interrupted this response: the turn ends at that line then. */
function isCutShort(items: readonly Talk[], index: number): boolean {
  for (let next = index + 1; next < items.length; next += 1) {
    const item = items[next]
    if (item === undefined || item.kind === 'model' || item.userClass === 'prompt') return false
    if (item.userClass === 'interrupt') return true
  }
  return false
}
