import type { JsonObject } from '@palimpsest/session'
import { countMember, isObject, objectMember, stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'
import { strings } from './item.ts'
import type { CodexUser } from './item.ts'
import type { CodexLine } from './line.ts'

export interface ReplacementItems {
  readonly items: readonly LooseObject[]
  /** Entries that refer to items of other files, or that nobody can read. */
  readonly missing: number
}

/**
 * The history that a `compacted` line puts in the place of what is before it: whole items, or in newest forks entries of
 * which some refer to an item by its id. `undefined` where the line lists none.
 */
export function replacementItems(
  payload: LooseObject,
  known: ReadonlyMap<string, LooseObject>,
): ReplacementItems | undefined {
  const whole: unknown = payload['replacement_history']
  if (Array.isArray(whole)) {
    const items = whole.flatMap((item: unknown): LooseObject[] => (isObject(item) ? [item] : []))
    return { items, missing: whole.length - items.length }
  }
  const entries: unknown = payload['replacement_history_entries']
  if (!Array.isArray(entries)) return undefined
  const items = (entries as readonly unknown[]).flatMap((entry): LooseObject[] => {
    const item = isObject(entry) ? itemOf(entry, known) : undefined
    return item === undefined ? [] : [item]
  })
  return { items, missing: entries.length - items.length }
}

function itemOf(entry: LooseObject, known: ReadonlyMap<string, LooseObject>): LooseObject | undefined {
  if (entry['type'] === 'inline') return objectMember(entry, 'item')
  return known.get(stringMember(entry, 'item_id') ?? '')
}

/** What a `compacted` line says of itself, for the source of the message that stands for the history. */
export function compactionOf({ kept, payload }: CodexLine): JsonObject {
  const numbers = ['window_number', 'window_id'].flatMap((member) => {
    const count = countMember(payload, member)
    return count === undefined ? [] : [[member, count] as const]
  })
  return { mark: kept.line, ...Object.fromEntries(numbers), ...strings(payload, texts) }
}

const texts = ['window_id', 'first_window_id', 'previous_window_id', 'message']
const carried: ReadonlySet<string> = new Set([
  ...texts,
  'window_number',
  'replacement_history',
  'replacement_history_entries',
])

export function compactionLeftOut(payload: LooseObject): string[] {
  const members = Object.keys(payload).filter((member) => !carried.has(member) && payload[member] !== null)
  return members.map((member) => `payload.${member}`)
}

/** A message as a compaction restates it: nobody says it now. Its role tells what it was. */
export function restated({ content, plugin, isTurn }: CodexUser, compaction: JsonObject): CodexUser {
  const own = plugin?.['compaction']
  const members = { ...compaction, ...(isObject(own) ? own : {}) }
  return { kind: 'user', content, isTurn, plugin: { role: 'user', ...plugin, compaction: members } }
}
