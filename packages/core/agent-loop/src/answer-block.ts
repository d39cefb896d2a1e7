import { type AssistantBlock, type Json, type JsonObject, type ToolCallId, toJson } from '@palimpsest/session'

export type BlockKind = 'text' | 'reasoning' | 'tool-call' | 'image'

/** One block of an answer while its parts come in. */
export class AnswerBlock {
  readonly kind: BlockKind
  readonly index: number
  text = ''
  name = ''
  callId: ToolCallId | undefined
  /** The call's id as the provider wrote it. */
  originalId: string | undefined
  image: AssistantBlock | undefined
  isClosed = false
  /** A call that the provider runs itself. */
  isForeign = false
  metadata: Record<string, JsonObject> | undefined

  constructor(kind: BlockKind, index: number) {
    this.kind = kind
    this.index = index
  }

  /** Lays the metadata of one part over that of the parts before, provider by provider. */
  absorb(metadata: unknown): void {
    if (metadata === undefined) return
    const merged = { ...this.metadata }
    for (const [provider, values] of Object.entries(toJson(metadata) as Record<string, JsonObject>)) {
      merged[provider] = { ...merged[provider], ...values }
    }
    this.metadata = merged
  }
}

/** What the message holds of a block; `undefined` where nothing of it is kept. */
export function blockContent(block: AnswerBlock, isInterrupted: boolean): AssistantBlock | undefined {
  const { kind, text, isClosed, isForeign } = block
  if (isForeign) return undefined
  switch (kind) {
    case 'text':
      return text === '' ? undefined : { type: 'text', text }
    case 'reasoning':
      // Redacted and encrypted reasoning has no text: its metadata is all there is.
      if (text === '' && (block.metadata === undefined || (isInterrupted && !isClosed))) return undefined
      return { type: 'reasoning', text }
    case 'tool-call':
      if (!isClosed || block.callId === undefined) return undefined
      return { type: 'tool-call', id: block.callId, name: block.name, arguments: text }
    default:
      return block.image
  }
}

/**
 * The entry of `replayState.blocks`. Reasoning is sealed together with all of its answer: where the message `leavesOut`
 * something the seals stay behind, since the answer cannot go back as it came.
 */
export function replayOf(block: AnswerBlock, leavesOut: boolean): Json {
  const { kind, callId, originalId } = block
  const metadata = kind === 'reasoning' && leavesOut ? undefined : block.metadata
  const isMinted = callId !== undefined && callId !== originalId
  if (metadata === undefined && !isMinted) return null
  return {
    ...(metadata === undefined ? {} : { providerMetadata: metadata }),
    ...(isMinted ? { callId: originalId ?? '' } : {}),
  }
}
