import type { Json, Message } from '@palimpsest/session'
import { replayBlocks } from '../shared/conversation.ts'
import { isBlank, isWellFormed } from '../shared/unicode.ts'
import { claudeFamily } from './models.ts'
import type { AnthropicThinkingBlock } from './wire.ts'

/** Whose signatures go back: those of this provider and this family of models. */
export interface Signer {
  readonly provider: string
  readonly model: string | undefined
}

/**
 * Whether all reasoning of an entry can go back exactly as it came: made by the signer, every block with its seal, and
 * visible content after the last one. All or nothing: a provider refuses a message that lost one of its blocks. SPEC 8.
 */
export function isReplayable(message: Message, signer: Signer): boolean {
  const { source, content } = message
  if (source.kind !== 'model' || source.provider !== signer.provider || signer.model === undefined) return false
  if (claudeFamily(source.model) !== claudeFamily(signer.model)) return false
  const replay = replayBlocks(message)
  const isSealed = content.every((block, index) => {
    return block.type !== 'reasoning' || thinkingBlock(block.text, replay[index]) !== undefined
  })
  const isVisible = content.map(
    (block) => block.type === 'tool-call' || (block.type === 'text' && !isBlank(block.text)),
  )
  return isSealed && isVisible.lastIndexOf(true) > content.findLastIndex((block) => block.type === 'reasoning')
}

/**
 * The wire block of one reasoning block, from its entry in `replayState.blocks`: `{ type: 'thinking', signature }` or
 * `{ type: 'redacted_thinking', data }`. `undefined` without a usable seal.
 */
export function thinkingBlock(text: string, replay: Json | undefined): AnthropicThinkingBlock | undefined {
  if (typeof replay !== 'object' || replay === null || !('type' in replay)) return undefined
  const { type, signature, data } = replay
  if (type === 'thinking' && isSeal(signature) && isWellFormed(text)) return { type, thinking: text, signature }
  return type === 'redacted_thinking' && isSeal(data) ? { type, data } : undefined
}

function isSeal(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== '' && isWellFormed(value)
}
