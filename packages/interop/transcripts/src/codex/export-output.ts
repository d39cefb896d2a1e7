import type { AssistantBlock, AssistantMessage, ToolCallBlock } from '@palimpsest/session'
import { isObject, objectMember, stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'
import { parseLine } from '../lines.ts'
import { imageType } from './content.ts'
import { base64Of, placeholder } from './export-parts.ts'
import type { CodexRecord, ExportPlace } from './export-parts.ts'
import { strings } from './item.ts'

interface Placed {
  readonly block: AssistantBlock
  /** Its entry of `replayState.blocks`, or nothing. */
  readonly replay: LooseObject
  readonly openai: LooseObject
}

/**
 * The items of a response: a reasoning item for each that there was, a message for texts that follow each other, an item
 * for each call. Seals go only where the provider that made them takes them.
 */
export function exportOutputItems(message: AssistantMessage, isOwn: boolean, place: ExportPlace): CodexRecord[] {
  const items: CodexRecord[] = []
  let run: Placed[] = []
  const end = (): void => {
    const [first] = run
    if (first?.block.type === 'text') items.push(textItem(run))
    else if (first !== undefined) items.push(reasoningItem(run, isOwn, place))
    run = []
  }
  for (const placed of placedBlocks(message, place)) {
    const before = run[0]
    const goesOn = before !== undefined && isOneItem(before, placed)
    if (!goesOn) end()
    if (placed.block.type === 'text' || placed.block.type === 'reasoning') run.push(placed)
    else if (placed.block.type === 'tool-call') items.push(callItem(placed.block, placed))
    else if (placed.block.type === 'image') items.push(generatedImage(placed, place))
  }
  end()
  return items
}

function placedBlocks({ content, source }: AssistantMessage, place: ExportPlace): Placed[] {
  const state = isObject(source.replayState) ? source.replayState : {}
  const entries: readonly unknown[] = Array.isArray(state['blocks']) ? state['blocks'] : []
  return content.map((block, index): Placed => {
    const entry = entries[index]
    const replay = isObject(entry) ? entry : {}
    const openai = objectMember(objectMember(replay, 'providerMetadata') ?? {}, 'openai') ?? {}
    const isWritable = block.type !== 'image' || generatedData(block.attachment, place) !== undefined
    const text = block.type === 'image' && !isWritable ? placeholder(block.attachment, place) : undefined
    return text === undefined ? { block, replay, openai } : { block: { type: 'text', text }, replay: {}, openai: {} }
  })
}

/** Whether a block belongs to the item that begins with another. */
function isOneItem(first: Placed, next: Placed): boolean {
  if (first.block.type !== next.block.type) return false
  if (next.block.type === 'text') return JSON.stringify(first.replay) === JSON.stringify(next.replay)
  if (next.replay['type'] === 'reasoning_text') return true
  const [id, nextId] = [stringMember(first.openai, 'itemId'), stringMember(next.openai, 'itemId')]
  if (id !== undefined || nextId !== undefined) return id === nextId
  return next.replay['type'] === 'reasoning' && typeof next.replay['part'] === 'number' && next.replay['part'] > 0
}

function idOf({ openai }: Placed): CodexRecord {
  const id = stringMember(openai, 'itemId')
  return id === undefined ? {} : { id }
}

function textItem(run: readonly Placed[]): CodexRecord {
  const [first] = run
  const phase = first && (stringMember(first.openai, 'phase') ?? stringMember(first.replay, 'phase'))
  return {
    type: 'message',
    ...(first === undefined ? {} : idOf(first)),
    role: 'assistant',
    content: run.flatMap(({ block }) => (block.type === 'text' ? [{ type: 'output_text', text: block.text }] : [])),
    ...(phase === undefined ? {} : { phase }),
  }
}

function reasoningItem(run: readonly Placed[], isOwn: boolean, { losses, seq }: ExportPlace): CodexRecord {
  const [first] = run
  const textsOf = (isOpen: boolean): string[] =>
    run.flatMap(({ block, replay }) =>
      block.type === 'reasoning' && (replay['type'] === 'reasoning_text') === isOpen ? [block.text] : [],
    )
  const seals = run.flatMap(({ openai, replay }) => {
    return stringMember(openai, 'reasoningEncryptedContent') ?? stringMember(replay, 'encryptedContent') ?? []
  })
  const sealed = isOwn ? seals.at(-1) : undefined
  const isForeign = run.some(({ replay }) => 'signature' in replay || 'data' in replay || sealOfOthers(replay))
  if (isForeign || (seals.length > 0 && !isOwn)) {
    losses.add('reasoning/seal', 'reasoning loses the signature of its provider', seq)
  }
  const [summary, content] = [textsOf(false), textsOf(true)]
  const isSilent = sealed !== undefined && summary.length === 1 && summary[0] === ''
  return {
    type: 'reasoning',
    ...(first === undefined || !isOwn ? {} : idOf(first)),
    summary: isSilent ? [] : summary.map((text) => ({ type: 'summary_text', text })),
    ...(content.length === 0 ? {} : { content: content.map((text) => ({ type: 'reasoning_text', text })) }),
    encrypted_content: sealed ?? null,
  }
}

function sealOfOthers(replay: LooseObject): boolean {
  return Object.keys(objectMember(replay, 'providerMetadata') ?? {}).some((provider) => provider !== 'openai')
}

function callItem({ id, name, arguments: text }: ToolCallBlock, placed: Placed): CodexRecord {
  const own = strings(placed.replay, ['namespace', 'status', 'execution'])
  const type = stringMember(placed.replay, 'type')
  const given = parseLine(text)
  if (type === 'custom_tool_call' && isObject(given) && JSON.stringify({ input: given['input'] ?? '' }) === text) {
    return { type, ...idOf(placed), ...own, call_id: id, name, input: given['input'] }
  }
  const isBuiltIn =
    type === 'local_shell_call' ? name === 'local_shell' : type === 'tool_search_call' && name === 'tool_search'
  if (isBuiltIn && isObject(given) && JSON.stringify(given) === text) {
    const member = type === 'local_shell_call' ? 'action' : 'arguments'
    return { type, ...idOf(placed), ...own, call_id: id, [member]: given }
  }
  const { namespace } = own
  return {
    type: 'function_call',
    ...idOf(placed),
    name,
    ...(namespace === undefined ? {} : { namespace }),
    arguments: text,
    call_id: id,
  }
}

function generatedData(ref: Parameters<typeof base64Of>[0], place: ExportPlace): string | undefined {
  const data = base64Of(ref, place)
  return data !== undefined && imageType(data) === ref.mediaType ? data : undefined
}

function generatedImage(placed: Placed, place: ExportPlace): CodexRecord {
  const { block, replay } = placed
  const result = block.type === 'image' ? generatedData(block.attachment, place) : undefined
  return {
    type: 'image_generation_call',
    ...idOf(placed),
    status: 'completed',
    ...strings(replay, ['status', 'revised_prompt']),
    result,
  }
}
