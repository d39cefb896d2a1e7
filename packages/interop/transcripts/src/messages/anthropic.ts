import type { JsonObject, TextBlock, ToolCallId, UserBlock } from '@palimpsest/session'
import type { DraftBlock } from '../conversation/draft.ts'
import { isObject, objectMember, plainJson, stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'
import { documentBlock, DraftList, originOf, textOfValue, typeOf } from './draft-list.ts'
import type { MessageElement, ReaderContext, ShapeReader } from './draft-list.ts'
import { soundInline } from './inline.ts'
import { membersOf, withForm } from './kept.ts'
import { resultContent } from './result-content.ts'

const shape = 'anthropic'

/**
 * Reads messages of the Messages API. Neighbours of the assistant are one response, as the API reads them; what answers
 * calls comes before what else a user said. FORMATS 8.
 */
export const readAnthropic: ShapeReader = async (elements, context) => {
  const list = new DraftList()
  let lines: number[] = []
  let blocks: DraftBlock[] = []
  const flush = (): void => {
    if (blocks.length > 0) list.model({ lines }, context, blocks)
    lines = []
    blocks = []
  }
  for (const { line, value } of elements) {
    const parts = partsOf(value['content'])
    const role = stringMember(value, 'role')
    if (parts === undefined || (role !== 'user' && role !== 'assistant' && role !== 'system')) {
      list.raw(line, 'message/malformed', role)
      continue
    }
    list.leave(
      line,
      Object.keys(value).filter((name) => name !== 'role' && name !== 'content'),
    )
    if (role === 'assistant') {
      const found = parts.flatMap((part) => assistantBlock(part, line, list))
      blocks.push(...found)
      if (found.length > 0) lines.push(line)
      else list.raw(line, 'message/empty', role)
      continue
    }
    flush()
    if (role === 'user') await readUser({ line, value }, parts, context, list)
    else list.drafts.push({ kind: 'system', origin: originOf(line), content: texts(parts, line, list), place: 'here' })
  }
  flush()
  return list
}

/** The texts of a system prompt of a request, a string or blocks. */
export function anthropicSystem(system: unknown): TextBlock[] {
  return (partsOf(system) ?? []).flatMap((part) => textBlock(part) ?? [])
}

function partsOf(content: unknown): readonly unknown[] | undefined {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? content : undefined
}

function textBlock(part: unknown): TextBlock | undefined {
  const text = isObject(part) && part['type'] === 'text' ? stringMember(part, 'text') : undefined
  return text === undefined ? undefined : { type: 'text', text }
}

function texts(parts: readonly unknown[], line: number, list: DraftList): TextBlock[] {
  return parts.flatMap((part): TextBlock[] => {
    const text = textBlock(part)
    if (text === undefined) list.raw(line, 'block/unsupported', typeOf(part))
    leaveMarks(part, line, list)
    return text === undefined ? [] : [text]
  })
}

/** Where to cache is a matter of one request, not of the history. */
function leaveMarks(part: unknown, line: number, list: DraftList): void {
  if (isObject(part) && Object.hasOwn(part, 'cache_control')) list.leave(line, ['cache_control'])
}

async function readUser(
  { line }: MessageElement,
  parts: readonly unknown[],
  { keep }: ReaderContext,
  list: DraftList,
): Promise<void> {
  const content: UserBlock[] = []
  let hasResults = false
  for (const part of parts) {
    leaveMarks(part, line, list)
    if (isObject(part) && part['type'] === 'tool_result') {
      hasResults = true
      await readResult(part, line, keep, list)
      continue
    }
    const block = isObject(part) ? (textBlock(part) ?? (await mediaBlock(part, keep))) : undefined
    if (block === undefined) list.raw(line, 'block/unsupported', typeOf(part))
    else content.push(block)
  }
  if (content.length > 0 || !hasResults) list.user(originOf(line), content, !hasResults)
}

async function readResult(
  part: LooseObject,
  line: number,
  keep: ReaderContext['keep'],
  list: DraftList,
): Promise<void> {
  const { content, asText } = await resultContent(
    partsOf(part['content'] ?? []) ?? [part['content']],
    async (inner) => textBlock(inner) ?? mediaBlock(inner, keep),
  )
  const callId = stringMember(part, 'tool_use_id') ?? ''
  const isError = part['is_error'] === true
  list.drafts.push({ kind: 'result', origin: originOf(line), callId, content, isError, asText })
}

/** An image, a document or a search result; `undefined` for anything else. */
async function mediaBlock(part: LooseObject, keep: ReaderContext['keep']): Promise<UserBlock | undefined> {
  const type = stringMember(part, 'type')
  const { cache_control: _, ...own } = part
  const form = { part: plainJson(own) as JsonObject }
  if (type === 'search_result') {
    const [title, source] = [stringMember(part, 'title'), stringMember(part, 'source')]
    if (title === undefined || source === undefined || !Array.isArray(part['content'])) return undefined
    return withForm({ type: 'text', text: `[search result: ${title}, ${source}]` }, shape, form)
  }
  if (type === 'tool_reference') {
    const name = stringMember(part, 'tool_name')
    if (name === undefined || !/^[a-zA-Z0-9_-]{1,64}$/.test(name)) return undefined
    return withForm({ type: 'text', text: `[tool ${name}]` }, shape, form)
  }
  if (type !== 'image' && type !== 'document') return undefined
  const source = objectMember(part, 'source') ?? {}
  if (source['type'] === 'base64') {
    const inline = soundInline(source['media_type'], source['data'])
    if (inline === undefined) return undefined
    const attachment = await keep(inline)
    if (type === 'image') return { type, attachment }
    const { data: __, ...rest } = source
    const bytes = { attachment, at: ['source', 'data'], as: 'base64' as const }
    return withForm(documentBlock(attachment), shape, {
      part: plainJson({ ...own, source: rest }) as JsonObject,
      bytes,
    })
  }
  const place = stringMember(source, 'url') ?? stringMember(source, 'file_id')
  const text = source['type'] === 'text' ? stringMember(source, 'data') : place && `[${type} at ${place}]`
  if (text !== undefined) return withForm({ type: 'text', text }, shape, form)
  if (source['type'] !== 'content' || type !== 'document') return undefined
  return withForm({ type: 'text', text: textOfValue(source['content']) }, shape, form)
}

/** What a provider runs itself: one response holds question and answer, and no client answers it. */
const ownBlocks = /^(?:server_tool_use|mcp_tool_use|mcp_tool_result|container_upload|[a-z_]+_tool_result)$/

function assistantBlock(part: unknown, line: number, list: DraftList): DraftBlock[] {
  leaveMarks(part, line, list)
  const block = isObject(part) ? draftBlock(part) : undefined
  if (block === undefined) list.raw(line, 'block/unsupported', typeOf(part))
  return block === undefined ? [] : [block]
}

function draftBlock(part: LooseObject): DraftBlock | undefined {
  const type = stringMember(part, 'type') ?? ''
  const text = textBlock(part)
  if (text !== undefined) return { block: withForm(text, shape, membersOf(part, ['citations'])), replay: null }
  if (type === 'thinking') {
    const [thoughts, signature] = [stringMember(part, 'thinking'), stringMember(part, 'signature')]
    if (thoughts === undefined) return undefined
    return {
      block: { type: 'reasoning', text: thoughts },
      replay: signature === undefined ? null : { type, signature },
    }
  }
  if (type === 'redacted_thinking') {
    const data = stringMember(part, 'data')
    return data === undefined ? undefined : { block: { type: 'reasoning', text: '' }, replay: { type, data } }
  }
  if (type === 'tool_use') {
    const name = stringMember(part, 'name')
    if (name === undefined || name === '') return undefined
    const id = (stringMember(part, 'id') ?? '') as ToolCallId
    const call = { type: 'tool-call', id, name, arguments: textOfValue(part['input'] ?? {}) } as const
    return { block: withForm(call, shape, membersOf(part, ['caller'])), replay: null }
  }
  if (!ownBlocks.test(type)) return undefined
  const { cache_control: _, ...own } = part
  return { block: withForm({ type: 'text', text: '' }, shape, { part: plainJson(own) as JsonObject }), replay: null }
}
