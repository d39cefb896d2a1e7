import type { Json, JsonObject } from './json.ts'

/** Which block types may stand in the content of an event type, at every depth. SPEC 2.4. */
interface AllowedBlocks {
  /** Names the place in an error. */
  readonly place: string
  readonly allows: (type: unknown) => boolean
}

const callBlocks = ['tool-call', 'tool-result']
const only = (place: string, ...types: string[]): AllowedBlocks => ({
  place,
  allows: (type) => types.includes(type as string),
})

const system = only('system/message', 'text')
// Reasoning is the model's own; a block type that this package does not know is the application's.
const user: AllowedBlocks = {
  place: 'user/message',
  allows: (type) => type !== 'reasoning' && !callBlocks.includes(type as string),
}
const assistant = only('assistant/message', 'text', 'reasoning', 'image', 'tool-call')
const assistantNested = only('a block of assistant/message', 'text', 'reasoning', 'image')
const result = only('tool/result', 'tool-result')
const resultContent = only('a tool result', 'text', 'image')

/** The member of a payload that holds content, and what may stand in it and below it. */
interface ContentRule {
  readonly content: (data: JsonObject) => Json | undefined
  readonly top: AllowedBlocks
  readonly nested: AllowedBlocks
}

const messageContent = (data: JsonObject): Json | undefined => member(data['message'], 'content')
const ownContent = (data: JsonObject): Json | undefined => data['content']

const rules: ReadonlyMap<string, ContentRule> = new Map<string, ContentRule>([
  ['system/message', { content: messageContent, top: system, nested: system }],
  ['user/message', { content: ownContent, top: user, nested: user }],
  ['assistant/message', { content: messageContent, top: assistant, nested: assistantNested }],
  ['tool/result', { content: messageContent, top: result, nested: resultContent }],
  ['tool/progress', { content: ownContent, top: resultContent, nested: resultContent }],
  ['tool/late-result', { content: ownContent, top: resultContent, nested: resultContent }],
])

function member(value: Json | undefined, name: string): Json | undefined {
  return typeof value === 'object' && value !== null ? (value as JsonObject)[name] : undefined
}

/**
 * The block type that stands where 2.4 does not let it, or undefined. Reads snapshots of any shape: what is no array
 * of blocks is left to the payload's schema.
 */
export function misplacedBlock(
  eventType: string,
  data: JsonObject,
): { readonly type: string; readonly place: string } | undefined {
  const rule = rules.get(eventType)
  if (rule === undefined) return undefined
  let content = rule.content(data)
  let allowed = rule.top
  let deeper: Json[] | undefined
  for (;;) {
    for (const block of Array.isArray(content) ? (content as readonly Json[]) : []) {
      const type = member(block, 'type')
      if (typeof type === 'string' && !allowed.allows(type)) return { type, place: allowed.place }
      const nested = member(block, 'content')
      if (nested !== undefined) (deeper ??= []).push(nested)
    }
    content = deeper?.pop()
    if (content === undefined) return undefined
    allowed = rule.nested
  }
}
