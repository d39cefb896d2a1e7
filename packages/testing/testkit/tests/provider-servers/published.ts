import { createAnthropic } from '@ai-sdk/anthropic'
import { createDeepSeek } from '@ai-sdk/deepseek'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider'
import { startProviderServer, type ProviderKind, type ProviderServer, type ServedAnswer } from '@palimpsest/testkit'

/** The published package's model of a kind, with a server's base URL. */
export function publishedModel(kind: ProviderKind, { baseURL }: Pick<ProviderServer, 'baseURL'>): LanguageModelV4 {
  const settings = { baseURL, apiKey: 'none' }
  const models: Readonly<Record<ProviderKind, () => LanguageModelV4>> = {
    anthropic: () => createAnthropic(settings)('claude-opus-5-5'),
    'openai-chat': () => createOpenAI(settings).chat('gpt-4.1'),
    'openai-responses': () => createOpenAI(settings).responses('gpt-5.6'),
    deepseek: () => createDeepSeek(settings)('deepseek-v4-pro'),
    compatible: () => createOpenAICompatible({ ...settings, name: 'any' })('any-model'),
  }
  return models[kind]()
}

export const hello: LanguageModelV4Prompt = [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }]

export const tools: NonNullable<LanguageModelV4CallOptions['tools']> = [
  { type: 'function', name: 'read', inputSchema: { type: 'object', properties: { path: { type: 'string' } } } },
]

/** All parts up to the end, and what the reader threw, if it did. */
export async function partsOf(
  stream: ReadableStream<LanguageModelV4StreamPart>,
): Promise<{ parts: LanguageModelV4StreamPart[]; thrown: unknown }> {
  const parts: LanguageModelV4StreamPart[] = []
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return { parts, thrown: undefined }
      parts.push(value)
    }
  } catch (thrown) {
    return { parts, thrown }
  }
}

/** One answer, read through the published package. `rejected`: what `doStream` itself threw. */
export async function stream(
  kind: ProviderKind,
  answer: ServedAnswer,
  options: Partial<LanguageModelV4CallOptions> = {},
): Promise<{ parts: LanguageModelV4StreamPart[]; thrown: unknown; rejected?: unknown }> {
  await using server = await startProviderServer({ kind, script: [answer] })
  try {
    const result = await publishedModel(kind, server).doStream({ prompt: hello, tools, ...options })
    return await partsOf(result.stream)
  } catch (rejected) {
    return { parts: [], thrown: undefined, rejected }
  }
}

/** SS RM and so on, as the observed sequences are written; runs of deltas of one block count once. */
export function sequence(parts: readonly LanguageModelV4StreamPart[]): string {
  const names = parts.map((part) => {
    if (part.type === 'stream-start') return 'SS'
    if (part.type === 'response-metadata') return 'RM'
    if (part.type === 'finish') return `F(${part.finishReason.unified}/${part.finishReason.raw ?? '-'})`
    if (part.type === 'custom') return `custom(${part.kind})`
    const isEmpty = (part.type === 'text-delta' || part.type === 'reasoning-delta') && part.delta === ''
    return isEmpty ? `${part.type}("")` : part.type
  })
  return names.filter((name, at) => name !== names[at - 1] || !name.endsWith('-delta')).join(' ')
}

/** The text that the deltas of one kind make. */
export function joined(parts: readonly LanguageModelV4StreamPart[], type: 'text-delta' | 'reasoning-delta'): string {
  return parts.map((part) => (part.type === type ? part.delta : '')).join('')
}

type Assistant = Extract<LanguageModelV4Prompt[number], { role: 'assistant' }>
type Part = Extract<Assistant['content'][number], { type: 'text' | 'reasoning' | 'tool-call' }>

/** The assistant message that a stream makes: blocks by id, metadata merged over their parts and sent back verbatim. */
export function assistantOf(parts: readonly LanguageModelV4StreamPart[]): Assistant {
  const blocks = new Map<string, Part>()
  for (const part of parts) {
    if (part.type === 'tool-call') {
      const { toolCallId, toolName, input, providerMetadata } = part
      const parsed: unknown = JSON.parse(input === '' ? '{}' : input)
      const block: Part = { type: 'tool-call', toolCallId, toolName, input: parsed }
      blocks.set(toolCallId, {
        ...block,
        ...(providerMetadata === undefined ? {} : { providerOptions: providerMetadata }),
      })
      continue
    }
    const [type, event] = part.type.split('-')
    if (!('id' in part) || (type !== 'text' && type !== 'reasoning') || event === undefined) continue
    const key = `${type} ${part.id ?? ''}`
    const before: Part = blocks.get(key) ?? { type, text: '' }
    const text = ('text' in before ? before.text : '') + ('delta' in part ? part.delta : '')
    const metadata = 'providerMetadata' in part ? part.providerMetadata : undefined
    const merged: Record<string, Record<string, never>> = { ...(before.providerOptions as object) }
    for (const [provider, values] of Object.entries(metadata ?? {})) {
      merged[provider] = { ...merged[provider], ...(values as Record<string, never>) }
    }
    blocks.set(key, { type, text, providerOptions: merged })
  }
  return { role: 'assistant', content: [...blocks.values()] }
}

/** Results for all calls of `message`. */
export function resultsFor({ content }: Assistant): LanguageModelV4Prompt[number] {
  return {
    role: 'tool',
    content: content
      .filter((part) => part.type === 'tool-call')
      .map(({ toolCallId, toolName }) => ({
        type: 'tool-result',
        toolCallId,
        toolName,
        output: { type: 'text', value: `read by ${toolCallId}` },
      })),
  }
}
