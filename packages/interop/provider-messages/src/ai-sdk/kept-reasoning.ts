import type { Message } from '@palimpsest/session'
import { isReplayable } from '../anthropic/signed-reasoning.ts'
import { ReasoningItems } from '../openai-responses/reasoning-items.ts'
import { member } from '../shared/json-reader.ts'
import { providerFamily } from '../shared/replay.ts'
import { isBlank, isWellFormed } from '../shared/unicode.ts'
import type { RequestProviderOptions } from './request-options.ts'
import type { TargetKind } from './target.ts'

/** Whom the request goes to, and how much of the list stands on an intact prefix. */
export interface ReasoningTarget {
  readonly kind: TargetKind
  readonly provider: string
  readonly model: string
  readonly providerOptions?: RequestProviderOptions | undefined
  readonly intactThrough: number
}

/** Says of each entry of one list, in order, whether its reasoning goes back. SPEC 8, PROVIDERS 1, 3, 4, 6. */
export function reasoningKeeper(target: ReasoningTarget): (message: Message, index: number) => boolean {
  const { kind, intactThrough, providerOptions } = target
  if (kind === 'openai-chat') return () => false
  if (kind === 'anthropic') {
    return (message, index) => index < intactThrough && isReplayable(message, target) && keepsItsOrder(message)
  }
  if (kind === 'openai-responses') {
    const items = new ReasoningItems(target)
    return (message, index) => index < intactThrough && items.take(message)
  }
  if (kind === 'compatible') return (message) => isOwn(message, target) && hasSoundReasoning(message)
  const isOff = member(member(providerOptions?.['deepseek'], 'thinking'), 'type') === 'disabled'
  return (message) => !isOff && isOfFamily(message, target.provider) && hasSoundReasoning(message)
}

/** Whether the very provider and model of the request made the message. */
export function isOwn({ source }: Message, target: { readonly provider: string; readonly model: string }): boolean {
  return source.kind === 'model' && source.provider === target.provider && source.model === target.model
}

function isOfFamily({ source }: Message, provider: string): boolean {
  return source.kind === 'model' && providerFamily(source.provider) === providerFamily(provider)
}

/** Reasoning goes back as it came or not at all. */
function hasSoundReasoning({ content }: Message): boolean {
  return content.every((block) => block.type !== 'reasoning' || isWellFormed(block.text))
}

/**
 * Between reasoning blocks the Anthropic package moves calls behind text. Reasoning of a message that it would change so
 * does not go back exactly as it came.
 */
function keepsItsOrder({ content }: Message): boolean {
  let isAfterCall = false
  for (const block of content) {
    if (block.type === 'tool-call') isAfterCall = true
    else if (block.type === 'reasoning') isAfterCall = false
    else if (isAfterCall && block.type === 'text' && !isBlank(block.text)) return false
  }
  return true
}
