import { isObject, objectMember } from '../json.ts'
import type { LooseObject } from '../json.ts'

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

/** Members that an event, or the order of events, says. */
const ofEntry: Readonly<Record<string, ReadonlySet<string>>> = { message: words('type id parentId timestamp message') }
const ofRole: Readonly<Record<string, ReadonlySet<string>>> = {
  user: words('role content timestamp'),
  assistant: words('role content timestamp api provider model usage stopReason errorMessage responseId'),
  toolResult: words('role content timestamp toolCallId toolName details isError'),
}
const ofUsage = words('input output cacheRead cacheWrite totalTokens')
const ofBlock: Readonly<Record<string, ReadonlySet<string>>> = {
  text: words('type text textSignature'),
  thinking: words('type thinking thinkingSignature redacted'),
  toolCall: words('type id name arguments partialJson thoughtSignature'),
  image: words('type data mimeType'),
}

/** Names of the members of a mapped entry that no event has a place for, `message.usage.cost` for nested ones. */
export function membersLeftOut(entry: LooseObject): readonly string[] {
  const known = membersFor(ofEntry, entry['type'])
  // Other entries, and messages of other roles, are kept whole in the message's source.
  if (known === undefined) return []
  const message = objectMember(entry, 'message') ?? {}
  const role = membersFor(ofRole, message['role'])
  const names = others(entry, known, '')
  if (role === undefined) return names
  names.push(...others(message, role, 'message.'))
  const usage = objectMember(message, 'usage')
  if (usage !== undefined && message['role'] === 'assistant') names.push(...others(usage, ofUsage, 'message.usage.'))
  const content = Array.isArray(message['content']) ? (message['content'] as readonly unknown[]) : []
  for (const block of content) {
    const members = isObject(block) ? membersFor(ofBlock, block['type']) : undefined
    if (isObject(block) && members !== undefined) names.push(...others(block, members, 'message.content.'))
  }
  return [...new Set(names)]
}

const membersFor = (
  of: Readonly<Record<string, ReadonlySet<string>>>,
  name: unknown,
): ReadonlySet<string> | undefined => (typeof name === 'string' && Object.hasOwn(of, name) ? of[name] : undefined)

const others = (value: LooseObject, known: ReadonlySet<string>, prefix: string): string[] =>
  Object.keys(value).flatMap((name) => (known.has(name) ? [] : [`${prefix}${name}`]))
