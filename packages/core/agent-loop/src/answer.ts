import type { LanguageModelV3StreamPart, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import {
  type AssistantBlock,
  type AssistantStreamRecord,
  type Json,
  type JsonObject,
  StreamAccumulator,
  type StreamChunk,
  type TimedChunk,
  type TokenUsage,
  toJson,
} from '@palimpsest/session'
import { AnswerBlock, type BlockKind, blockContent, replayOf } from './answer-block.ts'
import { CallIds } from './call-ids.ts'
import { IncompleteAnswer } from './failure.ts'
import { usageOf } from './usage.ts'

export type StreamPart = LanguageModelV4StreamPart | LanguageModelV3StreamPart
type FilePart = Extract<StreamPart, { type: 'file' }>
type ToolCallPart = Extract<StreamPart, { type: 'tool-call' }>
type FinishPart = Extract<StreamPart, { type: 'finish' }>

/** The answer as far as it came. */
export interface BuiltAnswer {
  readonly content: readonly AssistantBlock[]
  readonly stream: readonly AssistantStreamRecord[]
  readonly replayState: JsonObject | undefined
  readonly usage: TokenUsage | undefined
  /** It is the visible prefix of an answer that was cut. */
  readonly isInterrupted: boolean
}

export interface AnswerOptions {
  readonly now: () => number
  /** The session's name of a tool, by its name on the wire. */
  readonly toolName: (wireName: string) => string
  /** Takes an image; `undefined` for one that cannot be kept. */
  readonly keepImage: (part: FilePart) => Promise<AssistantBlock | undefined>
}

/** The provider sent an error instead of the rest of the answer. */
export class ErrorPart extends Error {
  constructor(cause: unknown) {
    super('error part', { cause })
  }
}

/**
 * Collects stream parts by the id of their block, not by nesting: blocks overlap. What the provider runs itself, its
 * calls and their results, is no part of the message, and then nothing that seals its reasoning is either. SPEC 2.5.
 */
export class AnswerBuilder {
  readonly #options: AnswerOptions
  /** A place that an image did not fill stays empty. */
  readonly #chunks: (TimedChunk | undefined)[] = []
  readonly #blocks: AnswerBlock[] = []
  /** Open blocks by kind and id; calls of one id stand in the order in which they began. */
  readonly #open = new Map<string, AnswerBlock[]>()
  readonly #callIds = new CallIds()
  readonly #images: Promise<void>[] = []
  readonly #response: Record<string, Json> = {}
  #usage: TokenUsage | undefined
  #finish: FinishPart['finishReason'] | undefined
  /** The provider's answer has blocks that the message does not keep. */
  #leavesOut = false

  constructor(options: AnswerOptions) {
    this.#options = options
  }

  /** How the model says it ended; `undefined` before it did. */
  get finish(): FinishPart['finishReason'] | undefined {
    return this.#finish
  }

  /** Whether there are images to be settled. */
  get hasImages(): boolean {
    return this.#images.length > 0
  }

  /** Throws `ErrorPart` at an error part. */
  take(part: StreamPart): void {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        this.#start(part.type === 'text-start' ? 'text' : 'reasoning', part.id, part.providerMetadata)
        return
      case 'text-delta':
      case 'reasoning-delta':
        return this.#delta(part.type === 'text-delta' ? 'text' : 'reasoning', part)
      case 'text-end':
      case 'reasoning-end':
        return this.#end(part.type === 'text-end' ? 'text' : 'reasoning', part)
      case 'tool-input-start': {
        const block = this.#start('tool-call', part.id, part.providerMetadata, part.toolName)
        if (part.providerExecuted === true) this.#leaveOut(block)
        return
      }
      case 'tool-input-delta':
        return this.#delta('tool-call', part)
      case 'tool-input-end':
        this.#openBlock('tool-call', part.id)?.absorb(part.providerMetadata)
        return
      case 'tool-call':
        return this.#call(part)
      case 'file':
        return this.#file(part)
      case 'tool-result':
      case 'reasoning-file':
        this.#leavesOut = true
        return
      case 'response-metadata':
        if (part.id !== undefined) this.#response['id'] = part.id
        if (part.modelId !== undefined) this.#response['modelId'] = part.modelId
        return
      case 'error':
        throw new ErrorPart(part.error)
      case 'finish':
        return this.#finished(part)
      default:
    }
  }

  /** Resolves when every image is kept; rejects when one could not be written. */
  async settled(): Promise<void> {
    await Promise.all(this.#images)
  }

  /**
   * The whole message, and of one that was stopped within a call, by its length or a filter, the visible prefix: the
   * same request would end there again. Throws `IncompleteAnswer` when it was cut in any other way.
   */
  whole(): BuiltAnswer {
    const finish = this.#finish
    if (finish === undefined) throw new IncompleteAnswer('the answer ended without a finish part')
    // Adapters report a body that ended early in this way.
    if (finish.unified === 'interrupted' || (finish.unified === 'other' && finish.raw === undefined)) {
      throw new IncompleteAnswer('the provider ended the answer before it was complete')
    }
    if (finish.unified === 'error') throw new IncompleteAnswer('the provider ended the answer with an error')
    const cut = this.#blocks.find(({ kind, isForeign, isClosed }) => kind === 'tool-call' && !isForeign && !isClosed)
    if (cut !== undefined && finish.unified !== 'length' && finish.unified !== 'content-filter') {
      throw new IncompleteAnswer(`the call of ${cut.name} was not complete`)
    }
    for (const block of this.#blocks) if (!block.isClosed && block.kind !== 'tool-call') this.#close(block)
    return this.#build(cut !== undefined)
  }

  /** The visible prefix: finished calls and what there is of texts. */
  prefix(): BuiltAnswer {
    return this.#build(true)
  }

  #build(isInterrupted: boolean): BuiltAnswer {
    const kept: AnswerBlock[] = []
    const content: AssistantBlock[] = []
    const accumulator = new StreamAccumulator()
    for (const block of this.#blocks) {
      const built = blockContent(block, isInterrupted)
      if (built === undefined) continue
      kept.push(block)
      content.push(built)
    }
    const blocks = kept.map((block) => replayOf(block, this.#leavesOut))
    const replayState = {
      ...(Object.keys(this.#response).length === 0 ? {} : { response: this.#response }),
      ...(blocks.some((block) => block !== null) ? { blocks } : {}),
    }
    for (const timed of this.#chunks) {
      if (timed === undefined) continue
      const { time, chunk } = timed
      if ('index' in chunk && this.#blocks[chunk.index]?.isForeign === true) continue
      accumulator.push(time, chunk)
    }
    return {
      content,
      stream: accumulator.records(),
      replayState: Object.keys(replayState).length === 0 ? undefined : replayState,
      usage: this.#usage,
      isInterrupted,
    }
  }

  #start(kind: BlockKind, id: string, metadata: unknown, wireName?: string): AnswerBlock {
    const block = new AnswerBlock(kind, this.#blocks.length)
    this.#blocks.push(block)
    block.absorb(metadata)
    if (kind === 'tool-call') {
      block.name = this.#options.toolName(wireName ?? '') || 'unnamed'
      block.callId = this.#callIds.mint(id)
      block.originalId = id
    }
    const key = `${kind}:${id}`
    // A text block that starts anew under an id has ended the one before.
    if (kind === 'tool-call') this.#open.set(key, [...(this.#open.get(key) ?? []), block])
    else this.#open.set(key, [block])
    this.#push({ type: 'block-start', index: block.index, blockType: kind })
    return block
  }

  /** The block that a delta belongs to: of calls with one id the last, since their inputs come one after another. */
  #openBlock(kind: BlockKind, id: string): AnswerBlock | undefined {
    return this.#open.get(`${kind}:${id}`)?.at(-1)
  }

  #delta(
    kind: BlockKind,
    part: { readonly id: string; readonly delta: string; readonly providerMetadata?: unknown },
  ): void {
    const block = this.#openBlock(kind, part.id) ?? this.#start(kind, part.id, undefined)
    block.absorb(part.providerMetadata)
    if (part.delta === '') return
    block.text += part.delta
    const { index } = block
    if (kind === 'text') this.#push({ type: 'text-delta', index, text: part.delta })
    else if (kind === 'reasoning') this.#push({ type: 'reasoning-delta', index, text: part.delta })
    else if (block.callId !== undefined) {
      const { callId: id, name } = block
      this.#push({ type: 'tool-call-delta', index, id, name, argumentsDelta: part.delta })
    }
  }

  #end(kind: BlockKind, part: { readonly id: string; readonly providerMetadata?: unknown }): void {
    const block = this.#openBlock(kind, part.id)
    if (block === undefined) return
    block.absorb(part.providerMetadata)
    this.#open.delete(`${kind}:${part.id}`)
    this.#close(block)
  }

  #call(part: ToolCallPart): void {
    const key = `tool-call:${part.toolCallId}`
    const block = this.#open.get(key)?.[0] ?? this.#start('tool-call', part.toolCallId, undefined, part.toolName)
    this.#open.set(key, (this.#open.get(key) ?? []).slice(1))
    block.absorb(part.providerMetadata)
    block.name = this.#options.toolName(part.toolName) || 'unnamed'
    block.text = part.input
    if (part.providerExecuted === true) this.#leaveOut(block)
    this.#close(block)
  }

  #leaveOut(block: AnswerBlock): void {
    block.isForeign = true
    this.#leavesOut = true
  }

  #file(part: FilePart): void {
    const block = new AnswerBlock('image', this.#blocks.length)
    this.#blocks.push(block)
    block.absorb(part.providerMetadata)
    this.#push({ type: 'block-start', index: block.index, blockType: 'image' })
    const time = this.#options.now()
    const at = this.#chunks.push(undefined) - 1
    const keep = async (): Promise<void> => {
      block.image = await this.#options.keepImage(part)
      if (block.image === undefined) return
      this.#chunks[at] = { time, chunk: { type: 'block-end', index: block.index, block: block.image } }
    }
    const kept = keep()
    kept.catch(() => undefined)
    this.#images.push(kept)
  }

  #close(block: AnswerBlock): void {
    block.isClosed = true
    const built = blockContent(block, false)
    if (built !== undefined) this.#push({ type: 'block-end', index: block.index, block: built })
  }

  #finished(part: FinishPart): void {
    this.#finish = part.finishReason
    const usage = usageOf(part.usage)
    if (usage !== undefined) {
      this.#usage = usage
      this.#push({ type: 'usage', usage })
    }
    if (part.providerMetadata !== undefined) this.#response['providerMetadata'] = toJson(part.providerMetadata)
    const { unified, raw } = part.finishReason
    this.#push({ type: 'finish', reason: { unified, ...(raw === undefined ? {} : { raw }) } satisfies Json })
  }

  #push(chunk: StreamChunk): void {
    this.#chunks.push({ time: this.#options.now(), chunk })
  }
}
