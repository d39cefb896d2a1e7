import type {
  AssistantBlock,
  ImageBlock,
  Json,
  TextBlock,
  TokenUsage,
  ToolCallId,
  UserBlock,
} from '@palimpsest/session'
import { assistantBlocks, piece, userBlocks } from './blocks.ts'
import type { Piece, UserPart as BlockPart } from './blocks.ts'
import { keepInline } from '../attachments.ts'
import type { DocumentBlock, InlineData } from '../attachments.ts'
import type { AttachmentSink } from '../source.ts'
import { countMember, objectMember, plainJson, stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'

export interface UserPart {
  readonly kind: 'user'
  readonly content: readonly UserBlock[]
  readonly results: readonly ResultPart[]
  /** What the source's user interface shows of the result; no model reads it. */
  readonly toolUseResult?: Json
}
export interface ResultPart {
  /** As the source wrote it. */
  readonly callId: string
  readonly content: readonly (TextBlock | ImageBlock)[]
  readonly isError: boolean
  /** Types of blocks that no result can hold: they stand as JSON text. */
  readonly asText: readonly string[]
}
export interface AssistantPart {
  readonly kind: 'assistant'
  readonly messageId?: string
  readonly requestId?: string
  readonly model: string
  readonly stopReason?: string
  readonly isAborted: boolean
  readonly usage?: TokenUsage
  /** Blocks with the private data that each needs to be sent back. Ids of calls are the source's. */
  readonly blocks: readonly { readonly block: AssistantBlock; readonly replay: Json }[]
}
export type LinePart = UserPart | AssistantPart

/** Reads the content of one mapped line. Bytes go to the sink first. */
export async function readPart(line: LooseObject, sink: AttachmentSink): Promise<LinePart> {
  const message = objectMember(line, 'message') ?? {}
  if (line['type'] === 'assistant') return assistantPart(line, message)
  return userPart(line, message, sink)
}

async function userPart(line: LooseObject, message: LooseObject, sink: AttachmentSink): Promise<UserPart> {
  const stored = new Map<string, string>()
  const keep = async (inline: InlineData): Promise<ImageBlock['attachment']> => {
    const attachment = await keepInline(sink, inline)
    stored.set(inline.data, attachment.attachmentId)
    return attachment
  }
  const content: UserBlock[] = []
  const results: ResultPart[] = []
  for (const part of userBlocks(message['content']) ?? []) {
    if (part.kind === 'content') content.push(await userBlock(part, keep))
    else if (part.kind === 'result') results.push(await resultPart(part, keep))
  }
  const shown = line['toolUseResult']
  const toolUseResult = results.length > 0 && shown !== undefined ? withoutBytes(shown as Json, stored) : undefined
  return { kind: 'user', content, results, ...(toolUseResult === undefined ? {} : { toolUseResult }) }
}

type SourceResult = Extract<BlockPart, { kind: 'result' }>
type Keep = (inline: InlineData) => Promise<ImageBlock['attachment']>

async function userBlock(part: Piece, keep: Keep): Promise<TextBlock | ImageBlock | DocumentBlock> {
  if (part.type === 'text') return { type: 'text', text: part.text }
  return { type: part.type, attachment: await keep(part.inline) }
}

async function resultPart({ callId, content, isError }: SourceResult, keep: Keep): Promise<ResultPart> {
  const blocks: (TextBlock | ImageBlock)[] = []
  const asText: string[] = []
  const listed = Array.isArray(content) ? content : content === undefined || content === '' ? [] : [content]
  for (const item of listed) {
    const part = typeof item === 'string' ? ({ kind: 'content', type: 'text', text: item } as const) : piece(item)
    if (part?.type === 'text') blocks.push({ type: 'text', text: part.text })
    else if (part?.type === 'image') blocks.push({ type: 'image', attachment: await keep(part.inline) })
    else if (part?.type === 'document') {
      const { attachmentId, mediaType, bytes } = await keep(part.inline)
      blocks.push({ type: 'text', text: `[${mediaType}, ${bytes} bytes, kept as ${attachmentId}]` })
      asText.push('document')
    } else {
      blocks.push({ type: 'text', text: JSON.stringify(item) ?? '' })
      asText.push(stringMember(objectOf(item), 'type') ?? typeof item)
    }
  }
  return { callId, content: blocks, isError, asText }
}

const objectOf = (value: unknown): LooseObject => objectMember({ value }, 'value') ?? {}

/**
 * A copy in which bytes that are attachments now are named by the attachment's id, so that they stand nowhere twice,
 * and `-0`, which no log can hold, is 0.
 */
function withoutBytes(value: Json, stored: ReadonlyMap<string, string>): Json {
  if (stored.size === 0) return plainJson(value)
  const named = (_: string, member: unknown): unknown =>
    typeof member === 'string' ? (stored.get(member) ?? member) : member
  return JSON.parse(JSON.stringify(value, named)) as Json
}

function assistantPart(line: LooseObject, message: LooseObject): AssistantPart {
  const blocks: { block: AssistantBlock; replay: Json }[] = []
  for (const part of assistantBlocks(message['content']) ?? []) {
    if (part.kind === 'text') blocks.push({ block: { type: 'text', text: part.text }, replay: null })
    else if (part.kind === 'thinking') {
      const replay = part.signature === undefined ? null : { type: 'thinking', signature: part.signature }
      blocks.push({ block: { type: 'reasoning', text: part.text }, replay })
    } else if (part.kind === 'redacted') {
      blocks.push({ block: { type: 'reasoning', text: '' }, replay: { type: 'redacted_thinking', data: part.data } })
    } else if (part.kind === 'call') {
      const text = JSON.stringify(part.input ?? {})
      const block: AssistantBlock = { type: 'tool-call', id: part.id as ToolCallId, name: part.name, arguments: text }
      blocks.push({ block, replay: null })
    }
  }
  const usage = usageOf(objectMember(message, 'usage'))
  const model = stringMember(message, 'model')
  const [messageId, requestId, stopReason] = [
    stringMember(message, 'id'),
    stringMember(line, 'requestId'),
    stringMember(message, 'stop_reason'),
  ]
  return {
    kind: 'assistant',
    model: model === undefined || model === '' ? 'unknown' : model,
    isAborted: line['isAbortedMidStream'] === true,
    blocks,
    ...(usage === undefined ? {} : { usage }),
    ...(messageId === undefined || messageId === '' ? {} : { messageId }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(stopReason === undefined ? {} : { stopReason }),
  }
}

function usageOf(usage: LooseObject | undefined): TokenUsage | undefined {
  if (usage === undefined) return undefined
  const entries = [
    ['inputTokens', countMember(usage, 'input_tokens')],
    ['outputTokens', countMember(usage, 'output_tokens')],
    ['cacheReadTokens', countMember(usage, 'cache_read_input_tokens')],
    ['cacheWriteTokens', countMember(usage, 'cache_creation_input_tokens')],
  ].filter(([, count]) => count !== undefined)
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as TokenUsage)
}

const carried: ReadonlySet<string> = new Set(
  (
    'type uuid parentUuid isSidechain agentId sessionId timestamp cwd message requestId isMeta isCompactSummary ' +
    'isVisibleInTranscriptOnly toolUseResult sourceToolAssistantUUID isAbortedMidStream'
  ).split(' '),
)

/** Members of a mapped line that the log has no place for. */
export function membersLeftOut(line: LooseObject): string[] {
  return Object.keys(line).filter((member) => !carried.has(member))
}
