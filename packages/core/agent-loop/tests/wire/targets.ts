import { createAnthropic } from '@ai-sdk/anthropic'
import { createDeepSeek } from '@ai-sdk/deepseek'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { ProviderKind } from '@palimpsest/testkit'
import type { RequestSettings } from '../../src/index.ts'

export type Wire = Readonly<Record<string, unknown>>
type Fetch = typeof globalThis.fetch

/** A published package with one model, and how to read what it puts on the wire. */
export interface WireTarget {
  readonly name: string
  readonly kind: ProviderKind
  readonly settings: RequestSettings
  readonly model: (baseURL: string, fetch: Fetch) => LanguageModelV4
  /** The content blocks in their order: what a prompt cache holds. */
  readonly sequence: (body: Wire) => readonly unknown[]
  /** Reasoning on the wire, one text per block; signatures and encrypted items with their seals. */
  readonly reasoning: (body: Wire) => readonly string[]
  /** Whether the model thinks about this request. */
  readonly thinks: (body: Wire) => boolean
  /** Names that tools take on the wire of this provider, where those are not their own. */
  readonly toolNames: Readonly<Record<string, string>>
  /** Rules by which the server says that a prompt is too large. */
  readonly overflow: readonly string[]
}

/** Members of a JSON value of which nothing is known. */
export function fields(value: unknown): Wire {
  return typeof value === 'object' && value !== null ? (value as Wire) : {}
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}

/** Digests are part of what the exporter promises: the same name in every request. */
const toolNames = { 'fs.read': 'fs_read_d154e2a4', constructor: 'constructor_f25d9f4f' }

const items = (name: 'messages' | 'input') => (body: Wire) => list(body[name])

function anthropicBlocks(body: Wire): readonly Wire[] {
  return list(body['messages']).flatMap((message) => {
    const { role, content } = fields(message)
    return list(content).map((block) => ({ role, ...fields(block) }))
  })
}

function isThinking({ type }: Wire): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

function anthropic(modelId: string, thinking: 'adaptive' | 'enabled'): WireTarget {
  const asked = thinking === 'adaptive' ? { type: thinking } : { type: thinking, budgetTokens: 1024 }
  return {
    name: modelId,
    kind: 'anthropic',
    settings: { maxTokens: 4000, providerOptions: { anthropic: { thinking: asked } } },
    model: (baseURL, fetch) => createAnthropic({ baseURL, fetch, apiKey: 'none' })(modelId),
    sequence: anthropicBlocks,
    reasoning: (body) =>
      anthropicBlocks(body)
        .filter(isThinking)
        .map(({ thinking: text, signature, data }) => JSON.stringify([text ?? null, signature ?? data])),
    thinks: (body) => !['disabled', undefined].includes(fields(body['thinking'])['type'] as string | undefined),
    toolNames,
    overflow: ['A32'],
  }
}

function chatReasoning(body: Wire): readonly string[] {
  return list(body['messages'])
    .map((message) => fields(message)['reasoning_content'])
    .filter((text): text is string => typeof text === 'string' && text !== '')
}

export const opus: WireTarget = anthropic('claude-opus-5-5', 'adaptive')
export const haiku: WireTarget = anthropic('claude-haiku-5-5', 'adaptive')
export const sonnet: WireTarget = anthropic('claude-sonnet-4-5', 'enabled')

const chat: WireTarget = {
  name: 'openai chat',
  kind: 'openai-chat',
  settings: {},
  model: (baseURL, fetch) => createOpenAI({ baseURL, fetch, apiKey: 'none' }).chat('gpt-4.1'),
  sequence: items('messages'),
  reasoning: () => [],
  thinks: () => false,
  toolNames,
  overflow: ['OC13'],
}

export const responses: WireTarget = {
  name: 'openai responses',
  kind: 'openai-responses',
  settings: { reasoningEffort: 'medium' },
  model: (baseURL, fetch) => createOpenAI({ baseURL, fetch, apiKey: 'none' }).responses('gpt-5.6'),
  sequence: items('input'),
  reasoning: (body) =>
    list(body['input'])
      .map(fields)
      .filter(({ type }) => type === 'reasoning')
      .map(({ id, encrypted_content: encrypted }) => JSON.stringify([id, encrypted])),
  thinks: () => true,
  toolNames,
  overflow: ['OR15'],
}

export const deepseek: WireTarget = {
  name: 'deepseek',
  kind: 'deepseek',
  settings: {},
  model: (baseURL, fetch) => createDeepSeek({ baseURL, fetch, apiKey: 'none' })('deepseek-v4-pro'),
  sequence: items('messages'),
  reasoning: chatReasoning,
  thinks: () => true,
  toolNames,
  overflow: ['DS8'],
}

const compatible: WireTarget = {
  name: 'compatible',
  kind: 'compatible',
  settings: {},
  model: (baseURL, fetch) =>
    createOpenAICompatible({ baseURL, fetch, apiKey: 'none', name: 'acme', includeUsage: true })('acme-1'),
  sequence: items('messages'),
  reasoning: chatReasoning,
  thinks: () => true,
  toolNames,
  overflow: ['OC13'],
}

/** One target per published package and interface. */
export const targets: readonly WireTarget[] = [opus, chat, responses, deepseek, compatible]
/** More models of Anthropic: prefix-bound with thinking that can be turned off, and manual thinking. */
export const allTargets: readonly WireTarget[] = [...targets, haiku, sonnet]

/** Seals as they must stand on the wire, of everything that a model of a family said in a log. */
export function sealOf(kind: ProviderKind, text: string, entry: unknown): string | undefined {
  const metadata = fields(fields(entry)['providerMetadata'])
  if (kind === 'anthropic') {
    const { signature, redactedData } = fields(metadata['anthropic'])
    if (redactedData !== undefined) return JSON.stringify([null, redactedData])
    return signature === undefined ? undefined : JSON.stringify([text, signature])
  }
  if (kind === 'openai-responses') {
    const { itemId, reasoningEncryptedContent: encrypted } = fields(metadata['openai'])
    return JSON.stringify([itemId, encrypted])
  }
  return text
}
