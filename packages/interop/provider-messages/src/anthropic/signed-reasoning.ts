import type { ContentBlock, Message } from '@palimpsest/session'
import { callArguments } from '../shared/call-arguments.ts'
import { hasOwnPart } from '../shared/kept-form.ts'
import { anthropicSeal, providerFamily, replayBlocks } from '../shared/replay.ts'
import type { ReplayEntry } from '../shared/replay.ts'
import { isBlank, isWellFormed } from '../shared/unicode.ts'
import { claudeFamily } from './models.ts'
import type { AnthropicThinkingBlock } from './wire.ts'

/** Whose signatures go back: those of this family of providers and this family of models. */
export interface Signer {
  readonly provider: string
  readonly model: string | undefined
}

/**
 * Whether all reasoning of an entry can go back exactly as it came: made by the signer, every block with its seal, what
 * stands between the blocks unchanged, and visible content after the last one. All or nothing: a provider refuses a
 * message that lost one of its blocks, and newest models bind each block to those before it. SPEC 8, PROVIDERS A25.
 */
export function isReplayable(message: Message, signer: Signer): boolean {
  const { source, content } = message
  if (source.kind !== 'model' || signer.model === undefined) return false
  if (providerFamily(source.provider) !== providerFamily(signer.provider)) return false
  if (claudeFamily(source.model) !== claudeFamily(signer.model)) return false
  const replay = replayBlocks(message)
  const isSealed = content.every((block, index) => {
    return block.type !== 'reasoning' || thinkingBlock(block.text, replay[index]) !== undefined
  })
  const isVisible = content.map(
    (block) =>
      block.type === 'tool-call' || (block.type === 'text' && (!isBlank(block.text) || hasOwnPart(block, 'anthropic'))),
  )
  const last = content.findLastIndex((block) => block.type === 'reasoning')
  return isSealed && content.slice(0, Math.max(last, 0)).every(goesBackAsItCame) && isVisible.lastIndexOf(true) > last
}

/** Whether no rule of the export changes or leaves out the block. */
function goesBackAsItCame(block: ContentBlock): boolean {
  if (block.type === 'text') return block.text === '' || (!isBlank(block.text) && isWellFormed(block.text))
  if (block.type !== 'tool-call') return block.type === 'reasoning'
  const { isMarked, isMended } = callArguments(block.arguments)
  return !isMarked && !isMended && /^[a-zA-Z0-9_-]+$/.test(block.id)
}

/** The wire block of one reasoning block, from its entry in `replayState.blocks`. `undefined` without a usable seal. */
export function thinkingBlock(text: string, replay: ReplayEntry): AnthropicThinkingBlock | undefined {
  const seal = anthropicSeal(replay)
  if (seal?.type !== 'thinking') return seal
  return isWellFormed(text) ? { type: seal.type, thinking: text, signature: seal.signature } : undefined
}
