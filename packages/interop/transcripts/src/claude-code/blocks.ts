import { isBase64 } from '../attachments.ts'
import type { InlineData } from '../attachments.ts'
import { isObject, objectMember, stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'

/** One piece of something a user or a tool says. `text` is what it says, or begins with, where that is text. */
export type Piece =
  | { readonly kind: 'content'; readonly type: 'text'; readonly text: string }
  | {
      readonly kind: 'content'
      readonly type: 'image' | 'document'
      readonly inline: InlineData
      readonly text?: never
    }

export type UserPart =
  | Piece
  | { readonly kind: 'result'; readonly callId: string; readonly content: unknown; readonly isError: boolean }
  | { readonly kind: 'odd'; readonly type: string }

export type AssistantPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string; readonly signature?: string }
  | { readonly kind: 'redacted'; readonly data: string }
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly input: unknown }
  | { readonly kind: 'odd'; readonly type: string }

function list(content: unknown): readonly unknown[] | undefined {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? content : undefined
}

const odd = (block: unknown): { kind: 'odd'; type: string } => ({
  kind: 'odd',
  type: isObject(block) ? (stringMember(block, 'type') ?? 'no type') : Array.isArray(block) ? 'array' : typeof block,
})

/** Reads the content of a user line; `undefined` where it is neither text nor a list. */
export function userBlocks(content: unknown): UserPart[] | undefined {
  return list(content)?.map((block): UserPart => {
    if (isObject(block) && block['type'] === 'tool_result') {
      const callId = stringMember(block, 'tool_use_id') ?? ''
      return { kind: 'result', callId, content: block['content'], isError: block['is_error'] === true }
    }
    return piece(block) ?? odd(block)
  })
}

/** Reads text, an image or a document; `undefined` for anything else. */
export function piece(block: unknown): Piece | undefined {
  if (!isObject(block)) return undefined
  const type = block['type']
  if (type === 'text') {
    const text = stringMember(block, 'text')
    return text === undefined ? undefined : { kind: 'content', type, text }
  }
  if (type !== 'image' && type !== 'document') return undefined
  const source = objectMember(block, 'source') ?? {}
  const text = source['type'] === 'text' ? stringMember(source, 'data') : undefined
  if (text !== undefined) return { kind: 'content', type: 'text', text }
  const inline = inlineData(source)
  return inline && { kind: 'content', type, inline }
}

function inlineData(source: LooseObject): InlineData | undefined {
  const data = stringMember(source, 'data')
  const mediaType = stringMember(source, 'media_type')
  if (source['type'] !== 'base64' || data === undefined || mediaType === undefined || mediaType === '') return undefined
  return isBase64(data) ? { data, mediaType } : undefined
}

/** Reads the content of an assistant line; `undefined` where it is neither text nor a list. */
export function assistantBlocks(content: unknown): AssistantPart[] | undefined {
  return list(content)?.map((block): AssistantPart => {
    if (!isObject(block)) return odd(block)
    switch (block['type']) {
      case 'text': {
        const text = stringMember(block, 'text')
        return text === undefined ? odd(block) : { kind: 'text', text }
      }
      case 'thinking': {
        const signature = stringMember(block, 'signature')
        const text = stringMember(block, 'thinking') ?? ''
        return { kind: 'thinking', text, ...(signature === undefined ? {} : { signature }) }
      }
      case 'redacted_thinking': {
        const data = stringMember(block, 'data')
        return data === undefined ? odd(block) : { kind: 'redacted', data }
      }
      case 'tool_use': {
        const name = stringMember(block, 'name')
        if (name === undefined || name === '') return odd(block)
        return { kind: 'call', id: stringMember(block, 'id') ?? '', name, input: block['input'] }
      }
      default:
        return odd(block)
    }
  })
}
