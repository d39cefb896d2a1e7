import type { JsonObject, TextBlock, ToolCallId, UserBlock } from '@palimpsest/session'
import type { DraftBlock } from '../conversation/draft.ts'
import { isObject, plainJson, stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'
import { documentBlock, DraftList, originOf, textOfValue, typeOf } from './draft-list.ts'
import type { MessageElement, ReaderContext, ShapeReader } from './draft-list.ts'
import { membersOf, namesBeyond, withForm } from './kept.ts'
import { fileOf, plainOutput, taggedOutput } from './tool-output.ts'

const shape = 'model-messages'

/** Reads `ModelMessage`s of the AI SDK, and the older `CoreMessage`s with `args` and `result`. FORMATS 8. */
export const readModelMessages: ShapeReader = async (elements, context) => {
  const list = new DraftList()
  for (const element of elements) await readMessage(element, context, list)
  return list
}

async function readMessage(element: MessageElement, context: ReaderContext, list: DraftList): Promise<void> {
  const { line, value } = element
  const role = stringMember(value, 'role')
  const content = value['content']
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  if (!Array.isArray(parts) || !['system', 'user', 'assistant', 'tool'].includes(role ?? '')) {
    return list.raw(line, 'message/malformed', role)
  }
  list.leave(line, namesBeyond(value, ['role', 'content', 'id', 'providerOptions', 'createdAt']))
  // Results of a batch are one message when they go back, whose own options could be anybody's.
  const isTool = role === 'tool'
  if (isTool) list.leave(line, namesBeyond(value, ['role', 'content', 'id', 'createdAt']))
  const { members } = membersOf(value, isTool ? [] : ['providerOptions'])
  const kept = members === undefined ? {} : withForm({}, shape, { members })
  const origin = { ...originOf(line, kept, stringMember(value, 'id')), ...timeOf(value) }
  if (role === 'system') {
    const texts = parts.flatMap((part) => textBlock(part, line, list) ?? [])
    list.drafts.push({ kind: 'system', origin, content: texts, place: list.isEmpty ? 'head' : 'here' })
  } else if (role === 'user') {
    const blocks: UserBlock[] = []
    for (const part of parts as readonly unknown[]) {
      const block = isObject(part) ? await userBlock(part, context.keep) : undefined
      if (block === undefined) list.raw(line, 'block/unsupported', typeOf(part))
      else blocks.push(block)
    }
    list.user(origin, blocks)
  } else if (role === 'assistant') await readAssistant(element, parts, origin, context, list)
  else
    for (const part of parts as readonly unknown[]) await readResult(part, { ...origin, lines: [line] }, context, list)
}

function timeOf(value: LooseObject): { time?: number } {
  const time = Date.parse(stringMember(value, 'createdAt') ?? '')
  return Number.isSafeInteger(time) ? { time } : {}
}

function textOf(part: unknown): string | undefined {
  return isObject(part) && part['type'] === 'text' ? stringMember(part, 'text') : undefined
}

function textBlock(part: unknown, line: number, list: DraftList): TextBlock | undefined {
  const text = textOf(part)
  if (text === undefined) list.raw(line, 'block/unsupported', typeOf(part))
  return text === undefined ? undefined : { type: 'text', text }
}

const options = (part: LooseObject): { members?: JsonObject } => membersOf(part, ['providerOptions'])

async function userBlock(part: LooseObject, keep: ReaderContext['keep']): Promise<UserBlock | undefined> {
  const text = textOf(part)
  if (text !== undefined) return withForm({ type: 'text', text }, shape, options(part))
  if (part['type'] !== 'file' && part['type'] !== 'image') return undefined
  const inline = fileOf(part)
  if (inline === undefined) return standIn(part)
  const attachment = await keep(inline)
  if (inline.mediaType.startsWith('image/'))
    return withForm({ type: 'image', attachment }, shape, membersOf(part, ['providerOptions', 'filename']))
  const { data: _, ...rest } = part
  const bytes = { attachment, at: ['data'], as: 'base64' as const }
  return withForm(documentBlock(attachment), shape, { part: plainJson(rest) as JsonObject, bytes })
}

/** A file that is somewhere else. */
function standIn(part: LooseObject): TextBlock | undefined {
  const given = part['data'] ?? part['image']
  if (given === undefined || typeof part['mediaType'] !== 'string') return undefined
  const place = typeof given === 'string' ? given : isObject(given) ? stringMember(given, 'url') : undefined
  const text = `[${part['mediaType']}${place === undefined ? '' : ` at ${place}`}]`
  return withForm({ type: 'text', text }, shape, { part: plainJson(part) as JsonObject })
}

async function readAssistant(
  { line }: MessageElement,
  parts: readonly unknown[],
  origin: ReturnType<typeof originOf>,
  context: ReaderContext,
  list: DraftList,
): Promise<void> {
  const blocks: DraftBlock[] = []
  for (const part of parts) {
    const block = isObject(part) ? await assistantBlock(part, context.keep) : undefined
    if (block === undefined) list.raw(line, 'block/unsupported', typeOf(part))
    else blocks.push(block)
  }
  if (blocks.length === 0) list.raw(line, 'message/empty', 'assistant')
  else list.model(origin, context, blocks)
}

/** What a provider ran, files that it made and questions for approval: only this shape has a place for them. */
const ownParts: ReadonlySet<string> = new Set([
  'file',
  'custom',
  'reasoning-file',
  'tool-result',
  'tool-approval-request',
])

async function assistantBlock(part: LooseObject, keep: ReaderContext['keep']): Promise<DraftBlock | undefined> {
  const text = textOf(part)
  const metadata = isObject(part['providerOptions']) ? (plainJson(part['providerOptions']) as JsonObject) : undefined
  const replay = metadata === undefined ? null : { providerMetadata: metadata }
  if (text !== undefined) return { block: withForm({ type: 'text', text }, shape, options(part)), replay }
  const type = stringMember(part, 'type') ?? ''
  if (type === 'reasoning' || type === 'redacted-reasoning') return reasoningBlock(part, replay)
  if (type === 'file') {
    const inline = fileOf(part)
    if (inline?.mediaType.startsWith('image/') === true) {
      return { block: withForm({ type: 'image', attachment: await keep(inline) }, shape, options(part)), replay }
    }
  }
  const isOwn = ownParts.has(type) || part['providerExecuted'] === true
  if (isOwn)
    return { block: withForm({ type: 'text', text: '' }, shape, { part: plainJson(part) as JsonObject }), replay: null }
  const name = stringMember(part, 'toolName')
  if (type !== 'tool-call' || name === undefined || name === '') return undefined
  const id = (stringMember(part, 'toolCallId') ?? '') as ToolCallId
  const call = { type: 'tool-call', id, name, arguments: textOfValue(part['input'] ?? part['args'] ?? {}) } as const
  return { block: withForm(call, shape, options(part)), replay }
}

function reasoningBlock(part: LooseObject, replay: DraftBlock['replay']): DraftBlock | undefined {
  const data = part['type'] === 'redacted-reasoning' ? stringMember(part, 'data') : undefined
  if (data !== undefined) return { block: { type: 'reasoning', text: '' }, replay: { type: 'redacted_thinking', data } }
  const text = stringMember(part, 'text')
  if (text === undefined) return undefined
  const signature = stringMember(part, 'signature')
  return {
    block: withForm({ type: 'reasoning', text }, shape, options(part)),
    replay: replay ?? (signature === undefined ? null : { type: 'thinking', signature }),
  }
}

async function readResult(
  part: unknown,
  origin: ReturnType<typeof originOf>,
  { keep }: ReaderContext,
  list: DraftList,
): Promise<void> {
  const [line = 0] = origin.lines
  if (!isObject(part) || part['type'] !== 'tool-result') return list.raw(line, 'block/unsupported', typeOf(part))
  const { content, isError, form, asText } = Object.hasOwn(part, 'output')
    ? await taggedOutput(part['output'], keep)
    : { ...plainOutput(part['result']), isError: part['isError'] === true }
  const members = { ...options(part).members, ...(form === undefined ? {} : { output: form }) }
  const kept = Object.keys(members).length === 0 ? {} : withForm({}, shape, { members })
  const callId = stringMember(part, 'toolCallId') ?? ''
  list.drafts.push({
    kind: 'result',
    origin: { ...origin, members: kept },
    callId,
    content,
    isError,
    asText,
  })
}
