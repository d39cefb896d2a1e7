import type { Message } from '@palimpsest/session'
import { isReplayable } from '../anthropic/signed-reasoning.ts'
import { openAiItem, providerFamily, replayBlocks } from '../shared/replay.ts'
import { isBlank, isWellFormed } from '../shared/unicode.ts'
import type { TargetKind } from './target.ts'

/** Whom the request goes to, and how much of the list stands on an intact prefix. */
export interface ReasoningTarget {
  readonly kind: TargetKind
  readonly provider: string
  readonly model: string
  readonly intactThrough: number
}

/** Says of each entry of one list, in order, whether its reasoning goes back. SPEC 8, PROVIDERS 1, 3, 4, 6. */
export function reasoningKeeper(target: ReasoningTarget): (message: Message, index: number) => boolean {
  const { kind, provider, model, intactThrough } = target
  if (kind === 'openai-chat') return () => false
  if (kind === 'deepseek') return ({ source }) => source.kind === 'model' && isSameFamily(source.provider, provider)
  if (kind === 'compatible') return (message) => isOwn(message, target)
  if (kind === 'anthropic') {
    const signer = { provider, model }
    return (message, index) => index < intactThrough && isReplayable(message, signer) && keepsItsOrder(message)
  }
  const sent = new Set<string>()
  return (message, index) =>
    index < intactThrough && isOwn(message, target, withoutDate) && hasFreshItems(message, sent)
}

/** Whether a message came from the very provider and model that the request goes to. */
export function isOwn(
  { source }: Message,
  target: { readonly provider: string; readonly model: string },
  nameOf: (model: string) => string = (model) => model,
): boolean {
  return source.kind === 'model' && source.provider === target.provider && nameOf(source.model) === nameOf(target.model)
}

function isSameFamily(one: string, other: string): boolean {
  return providerFamily(one) === providerFamily(other)
}

/** One model has many names: `gpt-5-2025-08-07` is a `gpt-5`. */
function withoutDate(model: string): string {
  return model.replace(/-\d{4}-?\d{2}-?\d{2}$/, '')
}

/**
 * Between reasoning blocks the Anthropic package moves calls behind text. What it would move did not come from the
 * model in that order, and a signature holds for the order that it saw.
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

/**
 * Whether every reasoning block belongs to an item with its encrypted content that no earlier entry sent, and visible
 * content follows the last one. OR9, OR11, OR13.
 */
function hasFreshItems(message: Message, sent: Set<string>): boolean {
  const replay = replayBlocks(message)
  const isSealed = new Map<string, boolean>()
  let lastReasoning = -1
  let lastVisible = -1
  for (const [index, block] of message.content.entries()) {
    if (block.type === 'tool-call' || (block.type === 'text' && !isBlank(block.text))) lastVisible = index
    if (block.type !== 'reasoning') continue
    const item = openAiItem(replay[index])
    if (item === undefined || !isWellFormed(block.text)) return false
    lastReasoning = index
    isSealed.set(item.itemId, isSealed.get(item.itemId) === true || item.encryptedContent !== undefined)
  }
  const isFresh = [...isSealed].every(([itemId, sealed]) => sealed && !sent.has(itemId))
  if (!isFresh || lastVisible < lastReasoning) return false
  for (const itemId of isSealed.keys()) sent.add(itemId)
  return true
}
