import type { JsonObject, ResultContentBlock, TextBlock, ToolCallId, UserBlock } from '@palimpsest/session'
import type { DraftBlock } from '../conversation/draft.ts'
import { isObject, objectMember, plainJson, stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'
import { documentBlock, DraftList, originOf, textOfValue, typeOf } from './draft-list.ts'
import type { MessageElement, ReaderContext, ShapeReader } from './draft-list.ts'
import { inlineOfDataUrl, isWebUrl, soundInline } from './inline.ts'
import { membersOf, namesBeyond, withForm } from './kept.ts'

const shape = 'openai-chat'

/** Reads messages of Chat Completions and of the servers that speak it. FORMATS 8. */
export const readOpenAiChat: ShapeReader = async (elements, context) => {
  const list = new DraftList()
  for (const element of elements) await readMessage(element, context, list)
  return list
}

async function readMessage(element: MessageElement, context: ReaderContext, list: DraftList): Promise<void> {
  const { line, value } = element
  switch (value['role']) {
    case 'system':
    case 'developer':
      return readSystem(element, list)
    case 'user':
      return readUser(element, context, list)
    case 'assistant':
      return readAssistant(element, context, list)
    case 'tool':
    case 'function':
      return readResult(element, list)
    default:
      return list.raw(line, 'message/malformed', stringMember(value, 'role'))
  }
}

/** The parts of a content; a string is one text. `undefined` for anything else. */
function partsOf(content: unknown): readonly unknown[] | undefined {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? content : undefined
}

function textPart(part: unknown): TextBlock | undefined {
  const text = isObject(part) && part['type'] === 'text' ? stringMember(part, 'text') : undefined
  return text === undefined ? undefined : { type: 'text', text }
}

/** The texts of a content that holds nothing else; other parts are kept raw. */
function texts(content: unknown, line: number, list: DraftList): TextBlock[] | undefined {
  return partsOf(content)?.flatMap((part): TextBlock[] => {
    const text = textPart(part)
    if (text === undefined) list.raw(line, 'block/unsupported', typeOf(part))
    return text === undefined ? [] : [text]
  })
}

function sourceMembers(value: LooseObject, names: readonly string[]): JsonObject {
  const { members } = membersOf(value, names)
  return members === undefined ? {} : withForm({}, shape, { members })
}

function readSystem({ line, value }: MessageElement, list: DraftList): void {
  const content = texts(value['content'], line, list)
  if (content === undefined) return list.raw(line, 'message/malformed', 'system')
  const kept = sourceMembers(value, value['role'] === 'developer' ? ['role', 'name'] : ['name'])
  const place = list.isEmpty ? 'head' : 'here'
  list.drafts.push({ kind: 'system', origin: originOf(line, kept), content, place })
  list.leave(line, namesBeyond(value, ['role', 'content', 'name']))
}

async function readUser({ line, value }: MessageElement, { keep }: ReaderContext, list: DraftList): Promise<void> {
  const parts = partsOf(value['content'])
  if (parts === undefined) return list.raw(line, 'message/malformed', 'user')
  const blocks: UserBlock[] = []
  for (const part of parts) {
    const block = isObject(part) ? (textPart(part) ?? (await mediaBlock(part, keep))) : undefined
    if (block === undefined) list.raw(line, 'block/unsupported', typeOf(part))
    else blocks.push(block)
  }
  list.user(originOf(line, sourceMembers(value, ['name'])), blocks)
  list.leave(line, namesBeyond(value, ['role', 'content', 'name']))
}

/** An image, a file or a sound. What a log has no block for keeps its form, behind a text for other providers. */
async function mediaBlock(part: LooseObject, keep: ReaderContext['keep']): Promise<UserBlock | undefined> {
  if (part['type'] === 'image_url') {
    const image = objectMember(part, 'image_url') ?? {}
    const url = stringMember(image, 'url')
    const inline = inlineOfDataUrl(url ?? '')
    if (inline !== undefined) {
      return withForm({ type: 'image', attachment: await keep(inline) }, shape, membersOf(image, ['detail']))
    }
    if (!isWebUrl(url)) return undefined
    return withForm({ type: 'text', text: `[image at ${url}]` }, shape, { part: plainJson(part) as JsonObject })
  }
  if (part['type'] === 'file') {
    const file = objectMember(part, 'file') ?? {}
    const inline = inlineOfDataUrl(stringMember(file, 'file_data') ?? '')
    if (inline !== undefined) {
      const { file_data: _, ...rest } = file
      const attachment = await keep(inline)
      const bytes = { attachment, at: ['file', 'file_data'], as: 'url' as const }
      return withForm(documentBlock(attachment), shape, {
        part: plainJson({ ...part, file: rest }) as JsonObject,
        bytes,
      })
    }
    const id = stringMember(file, 'file_id')
    if (id === undefined) return undefined
    return withForm({ type: 'text', text: `[file ${id}]` }, shape, { part: plainJson(part) as JsonObject })
  }
  if (part['type'] !== 'input_audio') return undefined
  const audio = objectMember(part, 'input_audio') ?? {}
  const inline = soundInline(`audio/${stringMember(audio, 'format') ?? ''}`, audio['data'])
  if (inline === undefined) return undefined
  const { data: _, ...rest } = audio
  const attachment = await keep(inline)
  const bytes = { attachment, at: ['input_audio', 'data'], as: 'base64' as const }
  return withForm(documentBlock(attachment), shape, {
    part: plainJson({ ...part, input_audio: rest }) as JsonObject,
    bytes,
  })
}

function readAssistant({ line, value }: MessageElement, context: ReaderContext, list: DraftList): void {
  const blocks: DraftBlock[] = []
  const add = (block: DraftBlock['block']): void => void blocks.push({ block, replay: null })
  const thoughts = stringMember(value, 'reasoning_content')
  if (thoughts !== undefined && thoughts !== '') add({ type: 'reasoning', text: thoughts })
  for (const part of partsOf(value['content']) ?? []) {
    const refusal = isObject(part) && part['type'] === 'refusal' ? stringMember(part, 'refusal') : undefined
    const text = textPart(part)
    if (refusal !== undefined) add(asPart(refusal, { type: 'refusal', refusal }))
    else if (text === undefined) list.raw(line, 'block/unsupported', typeOf(part))
    else add(text)
  }
  const refusal = stringMember(value, 'refusal')
  if (refusal !== undefined) add(asPart(refusal, { type: 'member', member: { refusal } }))
  const audio = objectMember(value, 'audio')
  const audioId = audio && stringMember(audio, 'id')
  if (audio !== undefined && audioId !== undefined) {
    add(asPart(stringMember(audio, 'transcript') ?? '', { type: 'member', member: { audio: { id: audioId } } }))
  }
  readCalls(value, line, list, add)
  if (blocks.length === 0) return list.raw(line, 'message/empty', 'assistant')
  const names = value['refusal'] === null ? ['name', 'refusal'] : ['name']
  list.model(originOf(line, sourceMembers(value, names)), context, blocks)
  const read = ['role', 'content', 'name', 'reasoning_content', 'refusal', 'audio', 'tool_calls', 'function_call']
  list.leave(line, namesBeyond(value, read))
}

/** Something that another provider reads as text. */
function asPart(text: string, part: JsonObject): TextBlock {
  return withForm({ type: 'text', text }, shape, { part })
}

function readCalls(value: LooseObject, line: number, list: DraftList, add: (block: DraftBlock['block']) => void): void {
  const legacy = objectMember(value, 'function_call')
  const given = Array.isArray(value['tool_calls']) ? (value['tool_calls'] as readonly unknown[]) : []
  // The older form has no ids: its one answer is the next one.
  const calls = [...given, ...(legacy === undefined ? [] : [{ function: legacy }])]
  for (const call of calls) {
    const block = isObject(call) ? callBlock(call) : undefined
    if (block === undefined) list.raw(line, 'block/unsupported', 'tool_calls')
    else add(block)
  }
}

function callBlock(call: LooseObject): DraftBlock['block'] | undefined {
  const id = (stringMember(call, 'id') ?? '') as ToolCallId
  const custom = objectMember(call, 'custom')
  if (call['type'] === 'custom' && custom !== undefined) {
    const [name, input] = [stringMember(custom, 'name'), stringMember(custom, 'input')]
    if (name === undefined || name === '' || input === undefined) return undefined
    const block = { type: 'tool-call', id, name, arguments: JSON.stringify({ input }) } as const
    return withForm(block, shape, { part: { type: 'custom', custom: { name, input } } })
  }
  const called = objectMember(call, 'function') ?? {}
  const name = stringMember(called, 'name')
  if (name === undefined || name === '') return undefined
  return { type: 'tool-call', id, name, arguments: textOfValue(called['arguments'] ?? {}) }
}

function readResult({ line, value }: MessageElement, list: DraftList): void {
  const parts = partsOf(value['content'] ?? '')
  if (parts === undefined) return list.raw(line, 'message/malformed', 'tool')
  const asText: string[] = []
  const content = parts.map((part): ResultContentBlock => {
    const text = textPart(part)
    if (text === undefined) asText.push(typeOf(part))
    return text ?? { type: 'text', text: textOfValue(part) }
  })
  const callId = stringMember(value, 'tool_call_id') ?? ''
  const isLegacy = value['role'] === 'function'
  const kept = isLegacy ? {} : sourceMembers(value, ['name'])
  list.drafts.push({ kind: 'result', origin: originOf(line, kept), callId, content, isError: false, asText })
  list.leave(line, namesBeyond(value, ['role', 'content', 'tool_call_id', 'name']))
}
