import type {
  AssistantBlock,
  AttachmentRef,
  Json,
  JsonObject,
  ResultContentBlock,
  SessionSeq,
  ToolCallBlock,
  UserBlock,
} from '@palimpsest/session'
import type { Losses, TranscriptExportOptions } from '../export.ts'
import { isObject, isTooDeep, objectMember, stringMember } from '../json.ts'

/** Turns blocks of messages into those that Claude Code writes. What they cannot hold is counted. FORMATS 1.2. */
export class BlockWriter {
  readonly #losses: Losses
  readonly #attachment: NonNullable<TranscriptExportOptions['attachment']>

  constructor(losses: Losses, { attachment = () => undefined }: TranscriptExportOptions) {
    this.#losses = losses
    this.#attachment = attachment
  }

  user(content: readonly UserBlock[], seq: SessionSeq): JsonObject[] {
    return content.map((block) => {
      if (block.type === 'text') return { type: 'text', text: block.text }
      if (block.type === 'image' || block.type === 'document') return this.#inline(block.type, block.attachment, seq)
      this.#losses.add('block/as-text', 'blocks of types that the file cannot hold stand as text', seq)
      return { type: 'text', text: JSON.stringify(block) }
    })
  }

  /** The content of a result. A lone text that says something is a string there. */
  result(content: readonly ResultContentBlock[], seq: SessionSeq): Json {
    const [first] = content
    if (content.length === 1 && first?.type === 'text' && first.text !== '') return first.text
    return this.user(content, seq)
  }

  /** One block of a response, with the private data that it came with. */
  assistant(block: AssistantBlock, replay: unknown, seq: SessionSeq): JsonObject {
    if (block.type === 'text') return { type: 'text', text: block.text }
    if (block.type === 'tool-call') {
      if (block.name === '') this.#losses.add('call/name', 'calls without a name get one', seq)
      return { type: 'tool_use', id: block.id, name: block.name || 'unknown', input: this.#input(block, seq) }
    }
    if (block.type === 'image') {
      this.#losses.add('block/as-text', 'blocks of types that the file cannot hold stand as text', seq)
      return { type: 'text', text: placeholder(block.attachment) }
    }
    const { signature, data } = sealOf(replay)
    if (data !== undefined && block.text === '') return { type: 'redacted_thinking', data }
    if (signature !== undefined) return { type: 'thinking', thinking: block.text, signature }
    this.#losses.add('reasoning/seal', 'reasoning without a seal of Anthropic’s: no model takes it back', seq)
    return { type: 'thinking', thinking: block.text }
  }

  #inline(type: 'image' | 'document', ref: AttachmentRef, seq: SessionSeq): JsonObject {
    const bytes = this.#attachment(ref)
    if (bytes === undefined || bytes.length === 0) {
      this.#losses.add('attachment/missing', 'attachments whose bytes are not there', seq)
      return { type: 'text', text: placeholder(ref) }
    }
    if (ref.name !== undefined || ref.width !== undefined || ref.height !== undefined) {
      this.#losses.add('attachment/details', 'names and pixel sizes of attachments', seq)
    }
    const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
    return { type, source: { type: 'base64', media_type: ref.mediaType, data } }
  }

  /** The arguments of a call as a value. Text that is no JSON object stands in one. */
  #input({ arguments: text }: ToolCallBlock, seq: SessionSeq): JsonObject {
    if (text.trim() === '') return {}
    const input = parsedObject(text)
    if (input !== undefined) return input
    this.#losses.add('call/arguments', 'arguments of calls that are no JSON object stand in one', seq)
    return { palimpsest_invalid_arguments: text }
  }
}

const placeholder = ({ mediaType, bytes, attachmentId }: AttachmentRef): string =>
  `[${mediaType}, ${bytes} bytes: ${attachmentId} is not in this file]`

function parsedObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    // The line goes around it, and a log that holds the line's content around that.
    return isObject(value) && !isTooDeep([[[[[value]]]]]) ? (value as JsonObject) : undefined
  } catch {
    return undefined
  }
}

/** What Anthropic gave beside the text of a reasoning block, in either form of an entry of `replayState.blocks`. */
function sealOf(replay: unknown): { readonly signature?: string; readonly data?: string } {
  if (!isObject(replay)) return {}
  const metadata = objectMember(objectMember(replay, 'providerMetadata') ?? {}, 'anthropic')
  const signature = stringMember(metadata ?? replay, 'signature')
  const data = stringMember(metadata ?? replay, metadata === undefined ? 'data' : 'redactedData')
  const isPlain = metadata === undefined
  return {
    ...(signature === undefined || signature === '' || (isPlain && replay['type'] !== 'thinking') ? {} : { signature }),
    ...(data === undefined || data === '' || (isPlain && replay['type'] !== 'redacted_thinking') ? {} : { data }),
  }
}
