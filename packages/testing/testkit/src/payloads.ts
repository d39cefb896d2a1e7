import type {
  AssistantBlock,
  EventOf,
  MessageId,
  ResultContentBlock,
  SystemMessage,
  ToolCallBlock,
  ToolCallId,
  UserBlock,
  UserMessage,
} from '@palimpsest/session'

/** Builders of valid payloads: what tests vary is an argument, everything else is fixed. */

type Data<Type extends 'system/message' | 'assistant/message' | 'tool/result'> = EventOf<Type>['data']

/** Where in the conversation a payload stands; turn 1, step 1 unless told. */
export interface Place {
  readonly turn: number
  readonly step: number
}
const first: Place = { turn: 1, step: 1 }

export const text = (value: string): { readonly type: 'text'; readonly text: string } => ({ type: 'text', text: value })

export const toolCall = (id: string, name = 'read', args = '{"path":"a.ts"}'): ToolCallBlock => ({
  type: 'tool-call',
  id: id as ToolCallId,
  name,
  arguments: args,
})

export function systemData(
  id: string,
  content: SystemMessage['content'],
  place: Place = first,
): Data<'system/message'> {
  return {
    ...place,
    message: { id: id as MessageId, role: 'system', content, source: { kind: 'plugin', plugin: 'prompt' } },
  }
}

export function userData(id: string, content: readonly UserBlock[]): UserMessage {
  return { id: id as MessageId, role: 'user', content, source: { kind: 'user' } }
}

export function assistantData(
  id: string,
  content: readonly AssistantBlock[],
  place: Place = first,
): Data<'assistant/message'> {
  return {
    ...place,
    message: {
      id: id as MessageId,
      role: 'assistant',
      content,
      source: { kind: 'model', provider: 'acme', model: 'acme-1' },
    },
    stream: [],
  }
}

export function resultData(
  id: string,
  callId: string,
  content: readonly ResultContentBlock[],
  place: Place = first,
  isError = false,
): Data<'tool/result'> {
  return {
    ...place,
    message: {
      id: id as MessageId,
      role: 'user',
      content: [
        { type: 'tool-result', toolCallId: callId as ToolCallId, content, ...(isError ? { isError: true } : {}) },
      ],
      source: { kind: 'tool', callId: callId as ToolCallId },
    },
  }
}
