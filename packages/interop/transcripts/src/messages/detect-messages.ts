import { isObject } from '../json.ts'
import type { LooseObject } from '../json.ts'
import type { MessageShape } from './kept.ts'

const anthropicParts =
  /^(?:tool_use|tool_result|thinking|redacted_thinking|server_tool_use|mcp_tool_use|search_result|[a-z_]+_tool_result)$/
const responsesParts = /^(?:input_text|input_image|input_file|output_text)$/
const responsesItems = /^(?:message|reasoning|item_reference|[a-z_]+_call(?:_output)?)$/
const modelParts =
  /^(?:tool-call|tool-result|tool-approval-request|tool-approval-response|reasoning|redacted-reasoning|reasoning-file)$/
const chatParts = /^(?:image_url|input_audio|refusal)$/

const has = (value: LooseObject, ...names: string[]): boolean => names.some((name) => Object.hasOwn(value, name))

/** The shape that a part of a content is of and no other shape has. */
function shapeOfPart(part: unknown): MessageShape | undefined {
  if (!isObject(part) || typeof part['type'] !== 'string') return undefined
  const { type } = part
  if (anthropicParts.test(type)) return 'anthropic'
  if ((type === 'image' || type === 'document') && has(part, 'source')) return 'anthropic'
  if (responsesParts.test(type)) return 'openai-responses'
  if (modelParts.test(type)) return 'model-messages'
  if ((type === 'image' && has(part, 'image')) || (type === 'file' && has(part, 'mediaType', 'mimeType'))) {
    return 'model-messages'
  }
  if (chatParts.test(type) || (type === 'file' && has(part, 'file'))) return 'openai-chat'
  return has(part, 'providerOptions') ? 'model-messages' : undefined
}

/** The shape that a message has a mark of which no other shape has. */
function shapeOfMessage(message: unknown): MessageShape | undefined {
  if (!isObject(message)) return undefined
  if (Array.isArray(message['parts']) || Array.isArray(message['toolInvocations'])) return 'ui-messages'
  if (has(message, 'tool_calls', 'tool_call_id', 'function_call', 'reasoning_content', 'refusal')) return 'openai-chat'
  if (
    typeof message['type'] === 'string' &&
    responsesItems.test(message['type']) &&
    !has(message, 'usage', 'stop_reason')
  ) {
    return 'openai-responses'
  }
  if (has(message, 'providerOptions')) return 'model-messages'
  const { content } = message
  if (!Array.isArray(content)) return undefined
  for (const part of content as readonly unknown[]) {
    const shape = shapeOfPart(part)
    if (shape !== undefined) return shape
  }
  return undefined
}

const isMessage = (value: unknown): boolean =>
  isObject(value) && (typeof value['role'] === 'string' || shapeOfMessage(value) === 'openai-responses')

/**
 * Tells the shape of an array of messages, of a request that holds one, or of one message, by the first mark that only
 * one shape has. What has no such mark, such as plain texts, fits several shapes and counts as `openai-chat`; a request
 * with a `system` beside it as `anthropic`. `undefined` where nothing in it is a message. FORMATS 8.
 */
export function detectMessages(value: unknown): MessageShape | undefined {
  if (Array.isArray(value)) return shapeOfList(value)
  if (!isObject(value)) return undefined
  if (has(value, 'input') && (Array.isArray(value['input']) || typeof value['input'] === 'string'))
    return 'openai-responses'
  const { messages } = value
  if (!Array.isArray(messages)) return isMessage(value) ? (shapeOfMessage(value) ?? 'openai-chat') : undefined
  const marked = firstMark(messages)
  return marked ?? (has(value, 'system', 'anthropic_version', 'stop_sequences') ? 'anthropic' : shapeOfList(messages))
}

function firstMark(list: readonly unknown[]): MessageShape | undefined {
  for (const message of list) {
    const shape = shapeOfMessage(message)
    if (shape !== undefined) return shape
  }
  return undefined
}

function shapeOfList(list: readonly unknown[]): MessageShape | undefined {
  return firstMark(list) ?? (list.some(isMessage) ? 'openai-chat' : undefined)
}
