import type {
  JSONValue,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultOutput,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import type { Message } from '@palimpsest/session'
import type { AssistantPart, Conversation, Part, Turn } from '../shared/conversation.ts'
import type { TextPart } from '../shared/images.ts'
import { parsed } from '../shared/json-reader.ts'
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
export function promptMessages({ head, headKept, turns }: Conversation, form: PromptForm): LanguageModelV4Prompt {
  const toolNames = new Map<string, string>()
  for (const turn of turns) {
    if (turn.role !== 'assistant') continue
    for (const part of turn.parts) if (part.type === 'call') toolNames.set(part.id, part.name)
  }
  const system: LanguageModelV4Prompt = head.length > 0 ? [{ role: 'system', content: joined(head), ...headKept }] : []
  const batches = runs(turns, (first, next) => first.role === 'result' && next.role === 'result')
  return [...system, ...batches.map((batch) => message(batch, form, toolNames))]
}

function message(
  batch: readonly [Turn, ...Turn[]],
  form: PromptForm,
  toolNames: ReadonlyMap<string, string>,
): LanguageModelV4Message {
  const [turn] = batch
  const { output: _, ...kept } = turn.kept ?? {}
  if (turn.role === 'user') return { role: 'user', content: userContent(turn.parts, form.kind), ...kept }
  if (turn.role === 'assistant') {
    const isOwn = form.isOwn(turn.message)
    return { role: 'assistant', content: turn.parts.flatMap((part) => assistantParts(part, form, isOwn)), ...kept }
  }
  const content = batch.flatMap((result) => {
    if (result.role !== 'result') return []
    const toolName = toolNames.get(result.callId) ?? ''
    const { output: __, ...own } = result.kept ?? {}
    return [
      { type: 'tool-result' as const, toolCallId: result.callId, toolName, output: output(result, form.kind), ...own },
    ]
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
  if (part.type === 'own') return [part.value as unknown as AssistantContent[number]]
  if (part.type === 'text') {
    const providerOptions = isOwn ? textOptions(part.replay, form) : undefined
    return [
      { type: 'text', text: part.text, ...(providerOptions === undefined ? {} : { providerOptions }), ...part.kept },
    ]
  }
  if (part.type === 'reasoning') return reasoningParts(part, form)
  const { id: toolCallId, name: toolName, arguments: args } = part
  const call = { type: 'tool-call' as const, toolCallId, toolName, input: args.value, ...part.kept }
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
  const kept = keptOutput(result, text)
  if (kept !== undefined) return kept
  if (result.isError) return { type: 'error-text', value: text }
  const takesParts = kind === 'anthropic' || kind === 'openai-responses'
  const isOneText = result.parts.length === 1 && texts.length === 1 && result.kept?.['output'] !== 'content'
  if (isOneText) return { type: 'text', value: text }
  return takesParts ? { type: 'content', value: result.parts.map(contentPart) } : { type: 'text', value: text }
}

/** The output in the form that an imported message had for it. */
function keptOutput(
  { isError, kept }: Extract<Turn, { role: 'result' }>,
  text: string,
): LanguageModelV4ToolResultOutput | undefined {
  if (kept?.['output'] === 'execution-denied') return { type: 'execution-denied', reason: text }
  const value = kept?.['output'] === 'json' ? parsed(text) : undefined
  return value === undefined ? undefined : { type: isError ? 'error-json' : 'json', value: value as JSONValue }
}

function contentPart(part: Part): { type: 'text'; text: string } | LanguageModelV4FilePart {
  if (part.type === 'own') return part.value as unknown as LanguageModelV4FilePart
  if (part.type === 'text') return { type: 'text', text: part.text, ...part.kept }
  return { type: 'file', mediaType: part.mediaType, data: { type: 'data', data: part.data }, ...part.kept }
}

function isText(part: Part): part is TextPart {
  return part.type === 'text'
}

function joined(texts: readonly TextPart[]): string {
  return texts.map((part) => part.text).join('\n\n')
}
