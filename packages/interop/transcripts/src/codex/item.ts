import type {
  AssistantBlock,
  Json,
  JsonObject,
  ResultContentBlock,
  TextBlock,
  ToolCallId,
  UserBlock,
} from '@palimpsest/session'
import type { DraftBlock } from '../conversation/draft.ts'
import { stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'
import { readContent, textOf } from './content.ts'
import type { Images } from './content.ts'
import { isContext } from './context.ts'
import { nonEmpty } from './line.ts'
import { readOutput } from './output.ts'

/** What a user said, or the program in the user's role. */
export interface CodexUser {
  readonly kind: 'user'
  readonly content: readonly UserBlock[]
  readonly plugin?: JsonObject
  /** Whether a user turn begins with it; what begins none is context that the program put in. */
  readonly isTurn: boolean
}

/** What a response item is to a conversation. */
export type CodexItem =
  | CodexUser
  | { readonly kind: 'system'; readonly content: readonly TextBlock[] }
  | { readonly kind: 'model'; readonly blocks: readonly DraftBlock[]; readonly isMessage: boolean }
  | {
      readonly kind: 'result'
      readonly callId: string
      readonly content: readonly ResultContentBlock[]
      readonly isError: boolean
      readonly meta?: Json
      readonly asText: readonly string[]
    }
  | { readonly kind: 'off'; readonly reason: string }

export interface ReadItem {
  readonly item: CodexItem
  /** Whether it has parts that no message can hold. */
  readonly isPartial: boolean
  readonly leftOut: readonly string[]
}

/** What stands for a summary that only its provider can read. */
const encryptedSummary = '[The conversation up to here was compacted. Only its provider can read the summary.]'

/** Reads an item of the Responses API as a rollout holds it. Never throws. FORMATS 2. */
export function readItem(payload: LooseObject, images: Images): ReadItem {
  const type = stringMember(payload, 'type') ?? ''
  if (type === 'message') return readMessage(payload, images)
  if (type === 'reasoning') return readReasoning(payload)
  if (callTypes.has(type)) return readCall(type, payload)
  if (type.endsWith('_output')) {
    const result = readOutput(type, payload, images)
    if (result !== undefined) return read({ kind: 'result', ...result }, payload)
  }
  if (type === 'agent_message') return readAgentMessage(payload, images)
  if (type === 'compaction' || type === 'compaction_summary' || type === 'context_compaction') {
    const sealed = stringMember(payload, 'encrypted_content')
    if (sealed === undefined) return off('message/malformed')
    const compaction = { type, encrypted_content: sealed }
    const content = [{ type: 'text' as const, text: encryptedSummary }]
    return read({ kind: 'user', content, plugin: { compaction }, isTurn: false }, payload)
  }
  if (type === 'image_generation_call') {
    const attachment = images.get(stringMember(payload, 'result') ?? '')
    if (attachment === undefined) return off('item/server-tool')
    const replay = { type, ...strings(payload, ['status', 'revised_prompt']), ...itemReplay(payload) }
    return read(model({ block: { type: 'image', attachment }, replay }), payload)
  }
  if (type === 'web_search_call') return off('item/server-tool')
  if (type === 'ghost_snapshot' || type === 'additional_tools') return off('state')
  return off(type === '' ? 'message/malformed' : 'line/unknown-type')
}

const off = (reason: string): ReadItem => ({ item: { kind: 'off', reason }, isPartial: false, leftOut: [] })
const model = (...blocks: readonly DraftBlock[]): CodexItem => ({ kind: 'model', blocks, isMessage: false })

function read(item: CodexItem, payload: LooseObject, odd: readonly unknown[] = []): ReadItem {
  const leftOut = Object.keys(payload).filter((member) => !carried.has(member) && payload[member] !== null)
  return { item, isPartial: odd.length > 0, leftOut: leftOut.map((member) => `payload.${member}`) }
}

const carried: ReadonlySet<string> = new Set(
  (
    'type id role content phase summary encrypted_content name namespace arguments input call_id status action ' +
    'execution output tools result revised_prompt author recipient timestamp'
  ).split(' '),
)

function readMessage(payload: LooseObject, images: Images): ReadItem {
  const role = stringMember(payload, 'role')
  const { blocks, odd } = readContent(payload['content'], images)
  if (blocks.length === 0 && odd.length > 0) return off('block/unsupported')
  if (role === 'user') {
    const isTurn = !isContext(blocks)
    return read({ kind: 'user', content: blocks, isTurn, ...(isTurn ? {} : { plugin: { role } }) }, payload, odd)
  }
  if (role === 'developer')
    return read({ kind: 'user', content: blocks, plugin: { role }, isTurn: false }, payload, odd)
  if (role === 'assistant') {
    const phase = nonEmpty(payload, 'phase')
    const members = phase === undefined ? {} : { phase }
    const bare = phase === undefined ? null : { type: 'message', phase }
    const replay = itemReplay(payload, members) ?? bare
    const placed = blocks.map((block): DraftBlock => ({ block, replay }))
    return read({ kind: 'model', blocks: placed, isMessage: true }, payload, odd)
  }
  if (role !== 'system') return off('message/malformed')
  const content = blocks.filter((block) => block.type === 'text')
  return read({ kind: 'system', content }, payload, [...odd, ...blocks.filter((block) => block.type !== 'text')])
}

/** The item's own id and what goes back with it, as the adapters of OpenAI write it; nothing for an item without an id. */
function itemReplay(payload: LooseObject, members: JsonObject = {}): JsonObject | undefined {
  const itemId = nonEmpty(payload, 'id')
  return itemId === undefined ? undefined : { providerMetadata: { openai: { itemId, ...members } } }
}

/**
 * One block for each summary, then one for each text of open reasoning. Items of older versions have no id, and without it
 * the API does not take their reasoning back: their bytes are kept all the same, and exporting to Codex writes them.
 */
function readReasoning(payload: LooseObject): ReadItem {
  const [summary, summaryOdd] = reasoningTexts(payload['summary'])
  const [content, contentOdd] = reasoningTexts(payload['content'])
  const sealed = nonEmpty(payload, 'encrypted_content')
  const shown = summary.length === 0 && sealed !== undefined ? [''] : summary
  const blocks = [
    ...shown.map((text, part): DraftBlock => {
      const own = { type: 'reasoning', part, ...(part > 0 || sealed === undefined ? {} : { encryptedContent: sealed }) }
      const replay = itemReplay(payload, { reasoningEncryptedContent: sealed ?? null }) ?? own
      return { block: { type: 'reasoning', text }, replay }
    }),
    ...content.map((text): DraftBlock => ({ block: { type: 'reasoning', text }, replay: { type: 'reasoning_text' } })),
  ]
  const odd = [...summaryOdd, ...contentOdd]
  if (blocks.length === 0) return off(odd.length > 0 ? 'block/unsupported' : 'message/empty')
  return read(model(...blocks), payload, odd)
}

function reasoningTexts(list: unknown): readonly [texts: string[], odd: unknown[]] {
  const parts = Array.isArray(list) ? (list as readonly unknown[]) : list === undefined || list === null ? [] : [list]
  return [parts.flatMap((part) => textOf(part) ?? []), parts.filter((part) => textOf(part) === undefined)]
}

const callTypes: ReadonlySet<string> = new Set([
  'function_call',
  'custom_tool_call',
  'local_shell_call',
  'tool_search_call',
])

/**
 * A call with JSON text for arguments. Those of a custom tool are any text: they stand under `input`, and `replay` says
 * so. The built-in tools, which have no name of their own, get one.
 */
function readCall(type: string, payload: LooseObject): ReadItem {
  const isNamed = type === 'function_call' || type === 'custom_tool_call'
  const name = isNamed ? nonEmpty(payload, 'name') : type.replace(/_call$/, '')
  if (name === undefined) return off('message/malformed')
  const id = stringMember(payload, 'call_id') ?? stringMember(payload, 'id') ?? ''
  const own = strings(payload, ['namespace', 'status', 'execution'])
  const isPlain = type === 'function_call' && Object.keys(own).length === 0
  const replay = isPlain ? (itemReplay(payload) ?? null) : { type, ...own, ...itemReplay(payload) }
  const block: AssistantBlock = { type: 'tool-call', id: id as ToolCallId, name, arguments: argumentsOf(type, payload) }
  return read(model({ block, replay }), payload)
}

function argumentsOf(type: string, payload: LooseObject): string {
  if (type === 'custom_tool_call') return JSON.stringify({ input: payload['input'] ?? '' })
  const given = payload[type === 'local_shell_call' ? 'action' : 'arguments']
  if (typeof given === 'string') return given
  return given === undefined || given === null ? '' : JSON.stringify(given)
}

export function strings(payload: LooseObject, members: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    members.flatMap((member) => {
      const text = stringMember(payload, member)
      return text === undefined ? [] : [[member, text]]
    }),
  )
}

/** What another agent said to this one, as an item or as a line of its own. It begins a user turn. */
export function readAgentMessage(payload: LooseObject, images: Images): ReadItem {
  const { blocks, odd } = readContent(payload['content'] ?? [], images)
  const isSealed = stringMember(payload, 'encrypted_content') !== undefined
  const parts = isSealed ? [...odd, 'encrypted_content'] : odd
  if (blocks.length === 0) return off(parts.length > 0 ? 'block/unsupported' : 'message/empty')
  const plugin = { role: 'agent', ...strings(payload, ['author', 'recipient']) }
  return read({ kind: 'user', content: blocks, plugin, isTurn: true }, payload, parts)
}
