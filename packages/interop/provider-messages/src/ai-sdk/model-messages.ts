import type {
  LanguageModelV4Message,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import type { Message } from '@palimpsest/session'
import { writePrompt } from './export.ts'
import type { KeptNames } from '../shared/conversation.ts'
import type { LanguageModelExport, LanguageModelExportOptions } from './export.ts'

/** An image of a user message: bytes in base64. */
export interface ModelFilePart {
  readonly type: 'file'
  readonly mediaType: string
  readonly data: string
  readonly filename?: string
  readonly providerOptions?: SharedV4ProviderOptions
}

/** What `toModelMessages` writes: a part of what `ModelMessage` of the package `ai` takes. */
export type ModelMessage =
  | Extract<LanguageModelV4Message, { role: 'system' | 'assistant' }>
  | { role: 'user'; content: (LanguageModelV4TextPart | ModelFilePart)[]; providerOptions?: SharedV4ProviderOptions }
  | { role: 'tool'; content: LanguageModelV4ToolResultPart[]; providerOptions?: SharedV4ProviderOptions }

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
  const { prompt, ...rest } = writePrompt(messages, options, KEPT)
  return { messages: prompt.map(modelMessage), ...rest }
}

const KEPT: KeptNames = {
  shape: 'model-messages',
  ofMessages: ['providerOptions', 'output'],
  ofParts: ['providerOptions', 'filename'],
}

function modelMessage(message: LanguageModelV4Message): ModelMessage {
  if (message.role === 'user') return { ...message, content: message.content.map(userPart) }
  if (message.role === 'tool')
    return { ...message, content: message.content.filter((part) => part.type === 'tool-result') }
  return message
}

type UserPart = Extract<LanguageModelV4Message, { role: 'user' }>['content'][number]
function userPart(part: UserPart): LanguageModelV4TextPart | ModelFilePart {
  if (part.type === 'text') return part
  const { data } = part
  // What is kept in its own form is no part of the prompt's version and stays as it is.
  return data.type === 'data' && typeof data.data === 'string'
    ? { ...part, data: data.data }
    : (part as unknown as ModelFilePart)
}
