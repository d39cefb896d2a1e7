import type { Json, JsonObject, Message } from '@palimpsest/session'
import { isRecord, member } from './json-reader.ts'
import type { UnknownRecord } from './json-reader.ts'
import { isWellFormed, walkStrings } from './unicode.ts'

/** An entry of `replayState.blocks`, in either form; `null` or absent for a block that has none. */
export type ReplayEntry = Json | undefined

/** What Anthropic wants back beside the text of a reasoning block. */
export type AnthropicSeal =
  | { readonly type: 'thinking'; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }

/** Which item of OpenAI Responses a block was part of. */
export interface OpenAiItem {
  readonly itemId: string
  /** The item's own bytes, without which nobody can take its reasoning back. */
  readonly encryptedContent: string | undefined
  /** What a text of the item is to its turn. */
  readonly phase: 'commentary' | 'final_answer' | undefined
}

/** The `replayState.blocks` of a model's message: one entry per content block, none where there are no such. SPEC 2.4. */
export function replayBlocks(message: Message): readonly ReplayEntry[] {
  const state = message.source.kind === 'model' ? message.source.replayState : undefined
  const blocks = member(state, 'blocks')
  return Array.isArray(blocks) ? (blocks as readonly Json[]) : []
}

/** The name of a provider up to its first dot: `anthropic.messages` is of the family `anthropic`. */
export function providerFamily(provider: string): string {
  return provider.split('.', 1)[0] ?? provider
}

/**
 * The provider metadata of a block as the AI SDK gives it back: `{ providerMetadata }` verbatim, and the older form of
 * Anthropic's seals put into it. `undefined` where the entry has neither, and where it could not go back as it came:
 * members that are no objects, lone surrogates.
 */
export function replayMetadata(entry: ReplayEntry): JsonObject | undefined {
  const metadata = member(entry, 'providerMetadata')
  if (isRecord(metadata)) return isSendable(metadata) ? (metadata as JsonObject) : undefined
  const seal = plainSeal(entry)
  if (seal === undefined) return undefined
  return { anthropic: seal.type === 'thinking' ? { signature: seal.signature } : { redactedData: seal.data } }
}

/**
 * The seal of a reasoning block: `{ type: 'thinking', signature }` and `{ type: 'redacted_thinking', data }` as importers
 * write them, or `providerMetadata.anthropic.signature` and `.redactedData`. `undefined` without a usable one.
 */
export function anthropicSeal(entry: ReplayEntry): AnthropicSeal | undefined {
  const metadata = member(member(entry, 'providerMetadata'), 'anthropic')
  if (metadata === undefined) return plainSeal(entry)
  const signature = member(metadata, 'signature')
  if (isSeal(signature)) return { type: 'thinking', signature }
  const data = member(metadata, 'redactedData')
  return isSeal(data) ? { type: 'redacted_thinking', data } : undefined
}

function plainSeal(entry: ReplayEntry): AnthropicSeal | undefined {
  const [type, signature, data] = ['type', 'signature', 'data'].map((name) => member(entry, name))
  if (type === 'thinking' && isSeal(signature)) return { type, signature }
  return type === 'redacted_thinking' && isSeal(data) ? { type, data } : undefined
}

/** `providerMetadata.openai` or `.azure` of a block: its `itemId`, `reasoningEncryptedContent` and `phase`. */
export function openAiItem(entry: ReplayEntry): OpenAiItem | undefined {
  const metadata = member(entry, 'providerMetadata')
  const own = member(metadata, 'openai') ?? member(metadata, 'azure')
  const itemId = member(own, 'itemId')
  if (!isSeal(itemId)) return undefined
  const encrypted = member(own, 'reasoningEncryptedContent')
  const phase = member(own, 'phase')
  return {
    itemId,
    encryptedContent: isSeal(encrypted) ? encrypted : undefined,
    phase: phase === 'commentary' || phase === 'final_answer' ? phase : undefined,
  }
}

function isSendable(metadata: UnknownRecord): boolean {
  let isSound = Object.values(metadata).every(isRecord)
  walkStrings(metadata, '', (text) => (isSound &&= isWellFormed(text)))
  return isSound
}

/** A seal goes back byte for byte, so one that is no valid JSON text is none. */
function isSeal(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && isWellFormed(value)
}
