import { messageId, toolCallId } from '@palimpsest/session'
import type {
  AssistantBlock,
  AssistantMessage,
  Json,
  JsonObject,
  SystemMessage,
  ToolCallBlock,
  ToolResultMessage,
  UserMessage,
} from '@palimpsest/session'
import type { Item, ModelItem, PlannedCall } from './items.ts'
import type { AssistantPart, ResultPart, UserPart } from './parts.ts'

/** Name of the agent in headers and message sources. */
export const agent = 'claude-code'

/** The head of an imported session: the source does not record its system prompt. SPEC 3.4. */
export function systemHead(id: string): SystemMessage {
  return { id: messageId(id), role: 'system', content: [], source: { kind: 'plugin', plugin: agent } }
}

/** What an imported message remembers of its source: `lines` are line numbers of the file, from 1. */
interface Origin {
  readonly id: string
  readonly lines: readonly number[]
}

export function userMessage(
  item: Exclude<Item, ModelItem>,
  part: UserPart,
  { id, lines }: Origin,
  compaction?: JsonObject,
): UserMessage {
  const isPlugin = item.userClass === 'meta' || item.userClass === 'summary'
  const origin = { lines, ...(compaction === undefined ? {} : { compaction }) }
  return {
    id: messageId(id),
    role: 'user',
    content: part.content,
    source: isPlugin ? { kind: 'plugin', plugin: agent, ...origin } : { kind: 'user', ...origin },
  }
}

/** One message from all lines of a response. Calls get the ids that the plan gave them. */
export function assistantMessage(
  item: ModelItem,
  parts: readonly AssistantPart[],
  { id, lines }: Origin,
): AssistantMessage {
  const calls = item.calls[Symbol.iterator]()
  const placed = parts
    .flatMap((part) => part.blocks)
    .map(({ block, replay }): { block: AssistantBlock; replay: Json } => {
      const call = block.type === 'tool-call' ? calls.next().value : undefined
      return call === undefined ? { block, replay } : placedCall(block as ToolCallBlock, call)
    })
  const last = parts.at(-1)
  const origin = { lines }
  const replay = replayState(
    placed.map((entry) => entry.replay),
    last === undefined ? {} : responseOf(last),
  )
  return {
    id: messageId(id),
    role: 'assistant',
    content: placed.map((entry) => entry.block),
    source: { kind: 'model', provider: 'anthropic', model: last?.model ?? 'unknown', ...replay, ...origin },
  }
}

function placedCall(block: ToolCallBlock, { callId, sourceId }: PlannedCall): { block: AssistantBlock; replay: Json } {
  const replay = callId === sourceId ? null : { type: 'tool_use', id: sourceId }
  return { block: { ...block, id: toolCallId(callId) }, replay }
}

function responseOf({ messageId: id, requestId, stopReason }: AssistantPart): JsonObject {
  return {
    ...(id === undefined ? {} : { id }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(stopReason === undefined ? {} : { stopReason }),
  }
}

/** Private data of a message in the shape of SPEC 2.4; no member where there is none. */
function replayState(blocks: readonly Json[], response: JsonObject): { replayState?: JsonObject } {
  const members = {
    ...(Object.keys(response).length > 0 ? { response } : {}),
    ...(blocks.some((entry) => entry !== null) ? { blocks } : {}),
  }
  return Object.keys(members).length > 0 ? { replayState: members } : {}
}

export function toolResultMessage(callId: string, result: ResultPart, { id, lines }: Origin): ToolResultMessage {
  const call = toolCallId(callId)
  const origin = { lines }
  return {
    id: messageId(id),
    role: 'user',
    content: [
      { type: 'tool-result', toolCallId: call, content: result.content, ...(result.isError ? { isError: true } : {}) },
    ],
    source: { kind: 'tool', callId: call, ...origin },
  }
}
