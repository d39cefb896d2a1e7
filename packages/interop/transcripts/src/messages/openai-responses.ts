import type { JsonObject, TextBlock, ToolCallId, UserBlock } from '@palimpsest/session'
import type { DraftBlock } from '../conversation/draft.ts'
import { isObject, objectMember, plainJson, stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'
import { documentBlock, DraftList, originOf, textOfValue, typeOf } from './draft-list.ts'
import type { MessageElement, ReaderContext, ShapeReader } from './draft-list.ts'
import { inlineOfDataUrl, isWebUrl, soundInline } from './inline.ts'
import { membersOf, namesBeyond, withForm } from './kept.ts'
import { resultContent } from './result-content.ts'

const shape = 'openai-responses'

/** Reads input and output items of Responses. What the model put out without an answer between is one response. FORMATS 8. */
export const readOpenAiResponses: ShapeReader = async (elements, context) => {
  const reader = new ItemReader(context)
  for (const element of elements) await reader.read(element)
  return reader.finish()
}

class ItemReader {
  readonly #context: ReaderContext
  readonly #list = new DraftList()
  #lines: number[] = []
  #blocks: DraftBlock[] = []
  /** Phase of the message that the response ends on so far. */
  #said: { readonly phase: unknown } | undefined

  constructor(context: ReaderContext) {
    this.#context = context
  }

  finish(): DraftList {
    this.#flush()
    return this.#list
  }

  async read(element: MessageElement): Promise<void> {
    const { value } = element
    const type = stringMember(value, 'type') ?? (Object.hasOwn(value, 'role') ? 'message' : '')
    const role = stringMember(value, 'role')
    if (type === 'message' && role === 'assistant') return this.#assistant(element)
    if (type === 'message') return this.#message(element, role)
    if (type === 'function_call' || type === 'custom_tool_call') return this.#call(element, type)
    if (type === 'function_call_output' || type === 'custom_tool_call_output') return this.#output(element)
    if (type === 'reasoning') return this.#reasoning(element)
    return this.#other(element, type)
  }

  #flush(): void {
    if (this.#blocks.length > 0) this.#list.model({ lines: this.#lines }, this.#context, this.#blocks)
    this.#lines = []
    this.#blocks = []
    this.#said = undefined
  }

  #put(line: number, ...blocks: DraftBlock[]): void {
    this.#lines.push(line)
    this.#blocks.push(...blocks)
  }

  #assistant({ line, value }: MessageElement): void {
    const blocks = (partsOf(value['content'], 'output_text') ?? []).flatMap((part): DraftBlock[] => {
      const block = said(part)
      if (block === undefined) this.#list.raw(line, 'block/unsupported', typeOf(part))
      if (block === undefined || !isObject(part)) return []
      this.#list.leave(line, namesBeyond(part, ['type', 'text', 'refusal']))
      return [{ block: withPhase(block, value), replay: null }]
    })
    if (blocks.length === 0) return this.#list.raw(line, 'message/empty', 'assistant')
    // Messages next to each other stay two: the exporter joins texts of one response.
    if (this.#said !== undefined && this.#said.phase === value['phase']) this.#flush()
    this.#put(line, ...blocks)
    this.#said = { phase: value['phase'] }
    this.#list.leave(line, namesBeyond(value, ['type', 'role', 'content', 'phase']))
  }

  async #message({ line, value }: MessageElement, role: string | undefined): Promise<void> {
    const parts = partsOf(value['content'], 'input_text')
    if (parts === undefined || (role !== 'user' && role !== 'system' && role !== 'developer')) {
      return this.#list.raw(line, 'message/malformed', role)
    }
    this.#flush()
    const blocks: UserBlock[] = []
    for (const part of parts) {
      const block = isObject(part) ? await inputBlock(part, this.#context.keep) : undefined
      if (block === undefined) this.#list.raw(line, 'block/unsupported', typeOf(part))
      else blocks.push(block)
    }
    this.#list.leave(line, namesBeyond(value, ['type', 'role', 'content']))
    if (role === 'user') return this.#list.user(originOf(line), blocks)
    const content = blocks.filter((block): block is TextBlock => block.type === 'text')
    const kept = role === 'system' ? {} : withForm({}, shape, { members: { role } })
    const place = this.#list.isEmpty ? 'head' : 'here'
    this.#list.drafts.push({ kind: 'system', origin: originOf(line, kept), content, place })
  }

  #call({ line, value }: MessageElement, type: 'function_call' | 'custom_tool_call'): void {
    const name = stringMember(value, 'name')
    const input = stringMember(value, 'input')
    const isCustom = type === 'custom_tool_call'
    if (name === undefined || name === '' || (isCustom && input === undefined)) {
      return this.#list.raw(line, 'block/unsupported', type)
    }
    const id = (stringMember(value, 'call_id') ?? '') as ToolCallId
    const text = isCustom ? JSON.stringify({ input }) : textOfValue(value['arguments'] ?? {})
    const block = { type: 'tool-call', id, name, arguments: text } as const
    const part = { type, name, input: input ?? '' }
    this.#put(line, { block: isCustom ? withForm(block, shape, { part }) : block, replay: null })
    this.#said = undefined
    this.#list.leave(line, namesBeyond(value, ['type', 'call_id', 'name', isCustom ? 'input' : 'arguments']))
  }

  async #output({ line, value }: MessageElement): Promise<void> {
    this.#flush()
    const given = value['output'] ?? ''
    const { content, asText } = await resultContent(partsOf(given, 'input_text') ?? [given], (part) =>
      inputBlock(part, this.#context.keep),
    )
    const callId = stringMember(value, 'call_id') ?? ''
    this.#list.drafts.push({ kind: 'result', origin: originOf(line), callId, content, isError: false, asText })
    this.#list.leave(line, namesBeyond(value, ['type', 'call_id', 'output']))
  }

  #reasoning({ line, value }: MessageElement): void {
    const id = stringMember(value, 'id') ?? ''
    const encrypted = stringMember(value, 'encrypted_content')
    const openai = { itemId: id, reasoningEncryptedContent: encrypted ?? null }
    const replay = id === '' ? null : { providerMetadata: { openai } }
    const summary = Array.isArray(value['summary']) ? (value['summary'] as readonly unknown[]) : []
    const content = Array.isArray(value['content']) ? (value['content'] as readonly unknown[]) : []
    // Open models say their thoughts in full, where others give a summary of them.
    const texts = (summary.length > 0 ? summary : content).map((part) =>
      isObject(part) ? (stringMember(part, 'text') ?? '') : '',
    )
    const blocks = (texts.length === 0 ? [''] : texts).map((text) => ({
      block: { type: 'reasoning' as const, text },
      replay,
    }))
    this.#put(line, ...blocks)
    this.#said = undefined
    this.#list.leave(line, namesBeyond(value, ['type', 'id', 'encrypted_content', 'summary', 'content']))
  }

  /** What the provider ran itself, and what answers it. */
  #other({ line, value }: MessageElement, type: string): void {
    if (type === '' || type === 'item_reference' || type === 'compaction' || partTypes.test(type)) {
      return this.#list.raw(line, type === '' ? 'message/malformed' : 'block/unsupported', type)
    }
    const part = plainJson(value) as JsonObject
    if (!type.endsWith('_output') && type !== 'mcp_approval_response') {
      this.#put(line, { block: withForm({ type: 'text', text: '' }, shape, { part }), replay: null })
      this.#said = undefined
      return
    }
    this.#flush()
    this.#list.user(originOf(line), [withForm({ type: 'text', text: `[${type}]` }, shape, { part })], false)
  }
}

/** Parts of a message, which stand nowhere by themselves. */
const partTypes = /^(?:input_|(?:output|summary|reasoning)_text$|refusal$)/

function partsOf(content: unknown, type: string): readonly unknown[] | undefined {
  if (typeof content === 'string') return [{ type, text: content }]
  return Array.isArray(content) ? content : undefined
}

/** A part of what the model said. */
function said(part: unknown): TextBlock | undefined {
  if (!isObject(part)) return undefined
  const refusal = part['type'] === 'refusal' ? stringMember(part, 'refusal') : undefined
  if (refusal !== undefined)
    return withForm({ type: 'text', text: refusal }, shape, { part: { type: 'refusal', refusal } })
  const text = part['type'] === 'output_text' || part['type'] === 'text' ? stringMember(part, 'text') : undefined
  return text === undefined ? undefined : { type: 'text', text }
}

/** Whether a text was commentary or the answer. */
function withPhase(block: TextBlock, message: LooseObject): TextBlock {
  const phase = message['phase']
  if (phase !== 'commentary' && phase !== 'final_answer') return block
  const { wire } = block as { readonly wire?: { readonly [shape]?: JsonObject } }
  return withForm(block, shape, { ...wire?.[shape], members: { phase } })
}

async function inputBlock(part: LooseObject, keep: ReaderContext['keep']): Promise<UserBlock | undefined> {
  const type = stringMember(part, 'type')
  const own = plainJson(part) as JsonObject
  if (type === 'input_text' || type === 'output_text' || type === 'text') {
    const text = stringMember(part, 'text')
    return text === undefined ? undefined : { type: 'text', text }
  }
  if (type === 'input_image') {
    const url = stringMember(part, 'image_url')
    const inline = inlineOfDataUrl(url ?? '')
    if (inline !== undefined) {
      return withForm({ type: 'image', attachment: await keep(inline) }, shape, membersOf(part, ['detail']))
    }
    const id = stringMember(part, 'file_id')
    if (!isWebUrl(url) && (id === undefined || url !== undefined)) return undefined
    return withForm({ type: 'text', text: `[image at ${url ?? id ?? ''}]` }, shape, { part: own })
  }
  if (type === 'input_file') {
    const inline = inlineOfDataUrl(stringMember(part, 'file_data') ?? '')
    if (inline !== undefined) {
      const { file_data: _, ...rest } = own
      const attachment = await keep(inline)
      return withForm(documentBlock(attachment), shape, {
        part: rest,
        bytes: { attachment, at: ['file_data'], as: 'url' },
      })
    }
    const place = stringMember(part, 'file_url') ?? stringMember(part, 'file_id')
    return place === undefined
      ? undefined
      : withForm({ type: 'text', text: `[file at ${place}]` }, shape, { part: own })
  }
  if (type !== 'input_audio') return undefined
  const audio = objectMember(part, 'input_audio') ?? {}
  const inline = soundInline(`audio/${stringMember(audio, 'format') ?? ''}`, audio['data'])
  if (inline === undefined) return undefined
  const attachment = await keep(inline)
  const { data: _, ...rest } = audio
  const bytes = { attachment, at: ['input_audio', 'data'], as: 'base64' as const }
  return withForm(documentBlock(attachment), shape, {
    part: plainJson({ ...part, input_audio: rest }) as JsonObject,
    bytes,
  })
}
