import type { Json, JsonObject } from '@palimpsest/session'
import { claudeModel, isAtLeast } from '../anthropic/models.ts'
import type { AnthropicThinking } from '../anthropic/wire.ts'
import { member } from '../shared/json-reader.ts'

/** Provider options of a request header, by provider. */
export type RequestProviderOptions = Readonly<Record<string, JsonObject>>

/** What a request asks of a model's thinking, wherever its header says it. */
export interface AskedThinking {
  readonly model: string
  readonly providerOptions?: RequestProviderOptions | undefined
  /** The `reasoning` option of the call: `none`, `low`, `high` and others. */
  readonly reasoningEffort?: string | undefined
}

/**
 * The `thinking` that the Anthropic package will send: its own option goes first, an effort becomes adaptive thinking on
 * models that have it (4.6 and later) and a budget on others. `undefined` where nothing is said.
 */
export function askedThinking({
  model,
  providerOptions,
  reasoningEffort,
}: AskedThinking): AnthropicThinking | undefined {
  const type = member(member(providerOptions?.['anthropic'], 'thinking'), 'type')
  if (type === 'disabled') return { type }
  const claude = claudeModel(model)
  const isAdaptive = claude !== undefined && isAtLeast(claude, 4, 6)
  // Newest models take no budget: the package asks for adaptive thinking instead.
  if (type === 'enabled') return isAdaptive && isAtLeast(claude, 4, 7) ? { type: 'adaptive' } : budget()
  if (typeof type === 'string') return { type: 'adaptive' }
  const effort = member(providerOptions?.['anthropic'], 'effort') === undefined ? reasoningEffort : undefined
  if (effort === undefined || effort === 'provider-default') return undefined
  if (effort === 'none') return { type: 'disabled' }
  return isAdaptive ? { type: 'adaptive' } : budget()
}

/** The size does not matter here, only that there is one. */
function budget(): AnthropicThinking {
  return { type: 'enabled', budget_tokens: 1024 }
}

/**
 * The key of `providerOptions` that the Responses package reads: for Azure its own, or `openai` where the header has only
 * that, for of the two it reads the first as a whole.
 */
export function responsesKey(provider: string, options: RequestProviderOptions | undefined): 'openai' | 'azure' {
  if (!provider.includes('azure')) return 'openai'
  return options?.['azure'] === undefined && options?.['openai'] !== undefined ? 'openai' : 'azure'
}

/** Whether the header asks OpenAI to store responses, or to go on from stored ones: then no items are sent again. */
export function isStored(options: RequestProviderOptions | undefined, key: 'openai' | 'azure'): boolean {
  const own: Json | undefined = options?.[key]
  if (member(own, 'store') === true) return true
  return ['previousResponseId', 'conversation'].some((name) => (member(own, name) ?? null) !== null)
}
