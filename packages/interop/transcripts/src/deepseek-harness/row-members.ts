import type { TokenUsage } from '@palimpsest/session'
import { countMember, objectMember } from '../json.ts'
import type { LooseObject } from '../json.ts'

const counts = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'reasoningTokens'] as const
/** Members that a draft carries, or that are numbers of turns and steps, which are counted anew. */
const messageMembers = ['id', 'role', 'content', 'source']
const dataMembers = ['turn', 'step', 'message', 'usage', 'interrupted', 'error', 'meta']

/** What a response cost, as far as it is counts. */
export function usageOf(data: LooseObject): TokenUsage | undefined {
  const usage = objectMember(data, 'usage')
  if (usage === undefined) return undefined
  const found = counts.flatMap((name) => {
    const count = countMember(usage, name)
    return count === undefined ? [] : [[name, count] as const]
  })
  return found.length === 0 ? undefined : Object.fromEntries(found)
}

/** Paths of the members of a row that no event of ours has a place for. */
export function leftOutOf(type: string, data: LooseObject): readonly string[] {
  if (type === 'user/message') return others(data, messageMembers, 'data')
  const isEmptyStream = Array.isArray(data['stream']) && data['stream'].length === 0
  return [
    ...others(data, isEmptyStream ? [...dataMembers, 'stream'] : dataMembers, 'data'),
    ...others(objectMember(data, 'message') ?? {}, messageMembers, 'data.message'),
  ]
}

function others(value: LooseObject, carried: readonly string[], path: string): readonly string[] {
  return Object.keys(value).flatMap((name) => (carried.includes(name) ? [] : [`${path}.${name}`]))
}
