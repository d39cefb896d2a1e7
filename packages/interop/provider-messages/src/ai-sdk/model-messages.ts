import type {
  LanguageModelV4Message,
  LanguageModelV4ReasoningPart,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider'
import type { Message } from '@palimpsest/session'
import { toLanguageModelPrompt } from './export.ts'
import type { LanguageModelExport, LanguageModelExportOptions } from './export.ts'

/** An image of a user message: bytes in base64. */
export interface ModelFilePart {
  readonly type: 'file'
  readonly mediaType: string
  readonly data: string
}

/** What `toModelMessages` writes: a part of what `ModelMessage` of the package `ai` takes. */
export type ModelMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: (LanguageModelV4TextPart | ModelFilePart)[] }
  | {
      role: 'assistant'
      content: (LanguageModelV4TextPart | LanguageModelV4ReasoningPart | LanguageModelV4ToolCallPart)[]
    }
  | { role: 'tool'; content: LanguageModelV4ToolResultPart[] }

/** Messages for `generateText` and its like, and what goes with them. */
export interface ModelMessagesExport extends Omit<LanguageModelExport, 'prompt'> {
  readonly messages: ModelMessage[]
}

/**
 * Writes a derived list as messages for the functions of `ai`, by the rules of the model that they will be given to.
 * Everything that holds for `toLanguageModelPrompt` holds here. SPEC 8.
 */
export function toModelMessages(
  messages: readonly Message[],
  options: LanguageModelExportOptions,
): ModelMessagesExport {
  const { prompt, ...rest } = toLanguageModelPrompt(messages, options)
  return { messages: prompt.map(modelMessage), ...rest }
}

function modelMessage(message: LanguageModelV4Message): ModelMessage {
  const { role } = message
  if (role === 'system') return { role, content: message.content }
  if (role === 'user') return { role, content: message.content.flatMap(userParts) }
  if (role === 'assistant') return { role, content: message.content.filter(isAssistantPart) }
  return { role, content: message.content.filter((part) => part.type === 'tool-result') }
}

type UserPart = Extract<LanguageModelV4Message, { role: 'user' }>['content'][number]
function userParts(part: UserPart): (LanguageModelV4TextPart | ModelFilePart)[] {
  if (part.type === 'text') return [part]
  const { mediaType, data } = part
  return data.type === 'data' && typeof data.data === 'string' ? [{ type: 'file', mediaType, data: data.data }] : []
}

type AssistantPart = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number]
type SentPart = Extract<AssistantPart, { type: 'text' | 'reasoning' | 'tool-call' }>
function isAssistantPart(part: AssistantPart): part is SentPart {
  return part.type === 'text' || part.type === 'reasoning' || part.type === 'tool-call'
}
