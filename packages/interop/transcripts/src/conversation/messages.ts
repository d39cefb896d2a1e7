import { messageId, toolCallId } from '@palimpsest/session'
import type {
  AssistantBlock,
  AssistantMessage,
  Json,
  JsonObject,
  SystemMessage,
  TextBlock,
  ToolResultMessage,
  UserMessage,
} from '@palimpsest/session'
import { isObject } from '../json.ts'
import type { DraftModel, DraftResult, DraftUser } from './draft.ts'
import type { PairedCall } from './pair.ts'

/** What an imported message remembers of its source. */
export interface MessageOrigin {
  readonly id: string
  readonly lines: readonly number[]
  /** Further members of the source. */
  readonly members?: JsonObject
}

/** A system message of an imported session, possibly empty. SPEC 3.4. */
export function systemMessage(
  agent: string,
  content: readonly TextBlock[],
  { id, lines, members }: MessageOrigin,
  plugin: JsonObject = {},
): SystemMessage {
  const origin = lines.length > 0 ? { lines } : {}
  return {
    id: messageId(id),
    role: 'system',
    content,
    source: { ...members, ...plugin, kind: 'plugin', plugin: agent, ...origin },
  }
}

export function userMessage(
  agent: string,
  { content, plugin }: DraftUser,
  { id, lines, members }: MessageOrigin,
): UserMessage {
  const source =
    plugin === undefined
      ? ({ ...members, kind: 'user', lines } as const)
      : ({ ...members, ...plugin, kind: 'plugin', plugin: agent, lines } as const)
  return { id: messageId(id), role: 'user', content, source }
}

/** The message of a response, its calls under the ids that they were given. */
export function assistantMessage(
  { provider, model, blocks, response = {} }: DraftModel,
  calls: readonly PairedCall[],
  { id, lines, members }: MessageOrigin,
): AssistantMessage {
  const given = calls[Symbol.iterator]()
  const placed = blocks.map(({ block, replay }): { block: AssistantBlock; replay: Json } => {
    const call = block.type === 'tool-call' ? given.next().value : undefined
    if (block.type !== 'tool-call' || call === undefined) return { block, replay }
    return {
      block: { ...block, id: call.callId },
      replay: call.callId === call.sourceId ? replay : withId(replay, call.sourceId),
    }
  })
  const replay = placed.map((entry) => entry.replay)
  const state = {
    ...(Object.keys(response).length > 0 ? { response } : {}),
    ...(replay.some((entry) => entry !== null) ? { blocks: replay } : {}),
  }
  const origin = { ...members, lines }
  return {
    id: messageId(id),
    role: 'assistant',
    content: placed.map((entry) => entry.block),
    source: {
      kind: 'model',
      provider,
      model,
      ...(Object.keys(state).length > 0 ? { replayState: state } : {}),
      ...origin,
    },
  }
}

/** The id that the source wrote, kept where the call had to get another. SPEC 2.4. */
function withId(replay: Json, id: string): JsonObject {
  return { ...(isObject(replay) ? replay : { type: 'tool_use' }), id }
}

export function toolResultMessage(
  callId: string,
  { content, isError }: DraftResult,
  { id, lines, members }: MessageOrigin,
): ToolResultMessage {
  const call = toolCallId(callId)
  const origin = { ...members, lines }
  return {
    id: messageId(id),
    role: 'user',
    content: [{ type: 'tool-result', toolCallId: call, content, ...(isError ? { isError: true } : {}) }],
    source: { kind: 'tool', callId: call, ...origin },
  }
}
