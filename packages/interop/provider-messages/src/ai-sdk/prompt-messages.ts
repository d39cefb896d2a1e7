import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultOutput,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import type { Message } from '@palimpsest/session'
import type { AssistantPart, Conversation, Part, Turn } from '../shared/conversation.ts'
import type { TextPart } from '../shared/images.ts'
import { anthropicSeal, openAiItem, replayMetadata } from '../shared/replay.ts'
import type { ReplayEntry } from '../shared/replay.ts'
import { runs } from '../shared/runs.ts'
import { isBlank, toWellFormed } from '../shared/unicode.ts'
import type { TargetKind } from './target.ts'

type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content']
type UserContent = Extract<LanguageModelV4Message, { role: 'user' }>['content']

/** What the messages of one prompt are written with. */
export interface PromptForm {
  readonly kind: TargetKind
  /** The key of `providerOptions` under which the Responses package looks for what belongs to an item. */
  readonly openAiKey: 'openai' | 'azure'
  /** Whether the very provider and model of the request made the message, so that what it said in private goes back. */
  isOwn(message: Message): boolean
}

/** Writes a conversation as the messages of a prompt: a batch of results is one tool message. */
export function promptMessages({ head, turns }: Conversation, form: PromptForm): LanguageModelV4Prompt {
  const toolNames = new Map<string, string>()
  for (const turn of turns) {
    if (turn.role !== 'assistant') continue
    for (const part of turn.parts) if (part.type === 'call') toolNames.set(part.id, part.name)
  }
  const system: LanguageModelV4Prompt = head.length > 0 ? [{ role: 'system', content: joined(head) }] : []
  const batches = runs(turns, (first, next) => first.role === 'result' && next.role === 'result')
  return [...system, ...batches.map((batch) => message(batch, form, toolNames))]
}

function message(
  batch: readonly [Turn, ...Turn[]],
  form: PromptForm,
  toolNames: ReadonlyMap<string, string>,
): LanguageModelV4Message {
  const [turn] = batch
  if (turn.role === 'user') return { role: 'user', content: userContent(turn.parts, form.kind) }
  if (turn.role === 'assistant') {
    const isOwn = form.isOwn(turn.message)
    return { role: 'assistant', content: turn.parts.flatMap((part) => assistantParts(part, form, isOwn)) }
  }
  const content = batch.flatMap((result) => {
    if (result.role !== 'result') return []
    const toolName = toolNames.get(result.callId) ?? ''
    return [{ type: 'tool-result' as const, toolCallId: result.callId, toolName, output: output(result, form.kind) }]
  })
  return { role: 'tool', content }
}

/** The DeepSeek package joins texts with nothing between them, so they are joined before. */
function userContent(parts: readonly Part[], kind: TargetKind): UserContent {
  const texts = parts.filter(isText)
  if (kind === 'deepseek' && texts.length === parts.length) return [{ type: 'text', text: joined(texts) }]
  return parts.map(contentPart)
}

function assistantParts(part: AssistantPart, form: PromptForm, isOwn: boolean): AssistantContent {
  if (part.type === 'text') {
    const providerOptions = isOwn ? textOptions(part.replay, form) : undefined
    return [{ type: 'text', text: part.text, ...(providerOptions === undefined ? {} : { providerOptions }) }]
  }
  if (part.type === 'reasoning') return reasoningParts(part, form)
  const call = { type: 'tool-call' as const, toolCallId: part.id, toolName: part.name, input: part.arguments.value }
  // Signatures of thoughts that servers behind the compatible package put on calls, such as Gemini's.
  const metadata = isOwn && form.kind === 'compatible' ? replayMetadata(part.replay) : undefined
  return [metadata === undefined ? call : { ...call, providerOptions: metadata as SharedV4ProviderOptions }]
}

function reasoningParts(part: Extract<AssistantPart, { type: 'reasoning' }>, form: PromptForm): AssistantContent {
  const { text } = part.block
  if (form.kind === 'anthropic') {
    const seal = anthropicSeal(part.replay)
    if (seal === undefined) return []
    if (seal.type === 'thinking') {
      return [{ type: 'reasoning', text, providerOptions: { anthropic: { signature: seal.signature } } }]
    }
    // Only the data is sent; the text may be anything.
    const providerOptions = { anthropic: { redactedData: seal.data } }
    return [{ type: 'reasoning', text: toWellFormed(text), providerOptions }]
  }
  if (form.kind === 'openai-responses') {
    const item = openAiItem(part.replay)
    if (item === undefined) return []
    const own = { itemId: item.itemId, reasoningEncryptedContent: item.encryptedContent ?? null }
    return [{ type: 'reasoning', text, providerOptions: { [form.openAiKey]: own } }]
  }
  return isBlank(text) ? [] : [{ type: 'reasoning', text }]
}

/** Whether a text was commentary or the answer: newer models of OpenAI want it back. */
function textOptions(replay: ReplayEntry, form: PromptForm): SharedV4ProviderOptions | undefined {
  const phase = form.kind === 'openai-responses' ? openAiItem(replay)?.phase : undefined
  return phase === undefined ? undefined : { [form.openAiKey]: { phase } }
}

function output(result: Extract<Turn, { role: 'result' }>, kind: TargetKind): LanguageModelV4ToolResultOutput {
  const texts = result.parts.filter(isText)
  const text = joined(texts)
  if (result.isError) return { type: 'error-text', value: text }
  const takesParts = kind === 'anthropic' || kind === 'openai-responses'
  if (result.parts.length === 1 && texts.length === 1) return { type: 'text', value: text }
  return takesParts ? { type: 'content', value: result.parts.map(contentPart) } : { type: 'text', value: text }
}

function contentPart(part: Part): { type: 'text'; text: string } | LanguageModelV4FilePart {
  if (part.type === 'text') return { type: 'text', text: part.text }
  return { type: 'file', mediaType: part.mediaType, data: { type: 'data', data: part.data } }
}

function isText(part: Part): part is TextPart {
  return part.type === 'text'
}

function joined(texts: readonly TextPart[]): string {
  return texts.map((part) => part.text).join('\n\n')
}
