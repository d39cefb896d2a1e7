import { anthropicModel, type AnthropicModel } from './anthropic-models.ts'
import { fieldsOf, isFields, listOf, stringOf, type Fields } from './json.ts'
import type { ProtocolSettings, WireRequest } from './protocol.ts'

/** What a request may weigh. */
export interface AnthropicLimits {
  /** Of the whole body. */
  readonly bodyBytes: number
  readonly messages: number
  /** Characters of one image's base64. */
  readonly imageCharacters: number
}

export const anthropicLimits: AnthropicLimits = {
  bodyBytes: 32 * 1024 * 1024,
  messages: 100_000,
  imageCharacters: 10 * 1024 * 1024,
}

export interface AnthropicSettings extends ProtocolSettings {
  readonly prefixMismatch: 'refuse' | 'drop'
  readonly prefixBindsAllModels: boolean
  readonly limits: AnthropicLimits
}

/** A content block and where it stands: `messages.N.content.M`. */
export interface PlacedBlock {
  readonly role: string
  readonly fields: Fields
  readonly type: string
  readonly message: number
  readonly index: number
}

export interface PlacedMessage {
  readonly index: number
  readonly role: string
  readonly fields: Fields
  readonly blocks: readonly PlacedBlock[]
}

/** Consecutive user or assistant messages, which the provider reads as one. System messages stand alone. */
export interface Turn {
  readonly role: string
  readonly messages: readonly PlacedMessage[]
  readonly blocks: readonly PlacedBlock[]
}

export interface AnthropicView {
  readonly request: WireRequest
  readonly settings: AnthropicSettings
  readonly body: Fields
  readonly model: AnthropicModel | undefined
  readonly messages: readonly PlacedMessage[]
  readonly turns: readonly Turn[]
  readonly blocks: readonly PlacedBlock[]
  readonly system: readonly Fields[]
  readonly tools: readonly Fields[]
  readonly thinking: string | undefined
}

/** A string is shorthand for one text block; an empty string for none. */
export function blocksOf(content: unknown): readonly Fields[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return listOf(content).map(fieldsOf)
}

function placed(item: unknown, index: number): PlacedMessage {
  const fields = fieldsOf(item)
  const role = stringOf(fields['role'])
  return {
    index,
    role,
    fields,
    blocks: blocksOf(fields['content']).map((block, at) => ({
      role,
      fields: block,
      type: stringOf(block['type']),
      message: index,
      index: at,
    })),
  }
}

function turnsOf(messages: readonly PlacedMessage[]): readonly Turn[] {
  const runs: PlacedMessage[][] = []
  for (const message of messages) {
    const last = runs.at(-1)
    if (last?.[0]?.role === message.role && message.role !== 'system') last.push(message)
    else runs.push([message])
  }
  return runs.map((run) => ({ role: run[0]?.role ?? '', messages: run, blocks: run.flatMap(({ blocks }) => blocks) }))
}

export function anthropicView(request: WireRequest, settings: AnthropicSettings): AnthropicView {
  const { body } = request
  const messages = listOf(body['messages']).map(placed)
  const thinking = body['thinking']
  return {
    request,
    settings,
    body,
    model: anthropicModel(stringOf(body['model'])),
    messages,
    turns: turnsOf(messages),
    blocks: messages.flatMap(({ blocks }) => blocks),
    system: blocksOf(body['system']),
    tools: listOf(body['tools']).map(fieldsOf),
    thinking: isFields(thinking) ? stringOf(thinking['type']) : undefined,
  }
}

/** Text, image and reference blocks with those inside tool results. */
export function nested(blocks: readonly PlacedBlock[]): readonly Fields[] {
  return blocks.flatMap(({ fields, type }) =>
    type === 'tool_result' && Array.isArray(fields['content']) ? [fields, ...blocksOf(fields['content'])] : [fields],
  )
}

export function isThinking({ type }: { readonly type: string }): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

/** `messages.N.content.M`. */
export function placeOf({ message, index }: PlacedBlock): string {
  return `messages.${message}.content.${index}`
}
