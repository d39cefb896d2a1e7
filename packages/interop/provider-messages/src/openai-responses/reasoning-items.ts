import type { Message, ReasoningBlock } from '@palimpsest/session'
import { openAiFamily } from '../openai-chat/models.ts'
import { hasOwnPart } from '../shared/kept-form.ts'
import { openAiItem, replayBlocks } from '../shared/replay.ts'
import type { ReplayEntry } from '../shared/replay.ts'
import { isBlank, isWellFormed } from '../shared/unicode.ts'
import type { ResponsesReasoning } from './wire.ts'

/** Who takes its reasoning back: its bytes are bound to the organisation, so this very provider. PROVIDERS OR13. */
export interface Reasoner {
  readonly provider: string
  readonly model: string | undefined
}

/** One reasoning block and its entry in `replayState.blocks`. */
export interface ReasoningPart {
  readonly block: ReasoningBlock
  readonly replay: ReplayEntry
}

/** Decides, entry by entry in the order of the list, whose reasoning goes back; no item goes back twice. */
export class ReasoningItems {
  readonly #reasoner: Reasoner
  readonly #sent = new Set<string>()

  constructor(reasoner: Reasoner) {
    this.#reasoner = reasoner
  }

  /**
   * Whether all reasoning of an entry can go back exactly as it came: made by the reasoner, every item with its bytes,
   * visible content after the last one (OR11), and none of the items sent before (OR9). All or nothing. SPEC 8.
   */
  take(message: Message): boolean {
    const { content } = message
    if (!isOwn(message, this.#reasoner)) return false
    const replay = replayBlocks(message)
    const parts = content.flatMap((block, index) => {
      return block.type === 'reasoning' ? [{ block, replay: replay[index] }] : []
    })
    const items = reasoningItems(parts)
    if (items === undefined || items.some((item) => this.#sent.has(item.id))) return false
    const isVisible = content.map(
      (block) =>
        block.type === 'tool-call' ||
        (block.type === 'text' && (!isBlank(block.text) || hasOwnPart(block, 'openai-responses'))),
    )
    if (isVisible.lastIndexOf(true) < content.findLastIndex((block) => block.type === 'reasoning')) return false
    for (const { id } of items) this.#sent.add(id)
    return true
  }
}

/** Whether the very provider and a model of the family made the message. */
export function isOwn({ source }: Message, { provider, model }: Reasoner): boolean {
  if (source.kind !== 'model' || model === undefined || source.provider !== provider) return false
  return openAiFamily(source.model) === openAiFamily(model)
}

/**
 * The items that reasoning blocks were part of, in order of appearance: the summaries of one item joined, its last bytes
 * taken. `undefined` when a block belongs to no item, an item has no bytes, or a text could not go back as it came.
 */
export function reasoningItems(parts: readonly ReasoningPart[]): ResponsesReasoning[] | undefined {
  const items = new Map<string, { texts: string[]; encrypted: string | undefined }>()
  for (const { block, replay } of parts) {
    const found = openAiItem(replay)
    if (found === undefined || !/^rs[a-zA-Z0-9_-]*$/.test(found.itemId) || !isWellFormed(block.text)) return undefined
    const item = items.get(found.itemId) ?? { texts: [], encrypted: undefined }
    items.set(found.itemId, item)
    if (block.text !== '') item.texts.push(block.text)
    item.encrypted = found.encryptedContent ?? item.encrypted
  }
  const wire = Array.from(items, ([id, { texts, encrypted }]): ResponsesReasoning | undefined => {
    if (encrypted === undefined) return undefined
    const summary = texts.map((text) => ({ type: 'summary_text' as const, text }))
    return { type: 'reasoning', id, summary, encrypted_content: encrypted }
  })
  return wire.every((item) => item !== undefined) ? wire : undefined
}
