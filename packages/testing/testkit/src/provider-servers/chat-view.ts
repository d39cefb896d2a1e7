import { fieldsOf, listOf, stringOf, type Fields } from './json.ts'
import type { ProtocolSettings, WireRequest } from './protocol.ts'

export interface ChatMessage {
  readonly index: number
  readonly fields: Fields
  readonly role: string
  /** Of an assistant: its calls. */
  readonly calls: readonly Fields[]
  readonly callIds: readonly string[]
  /** Of a tool message: the call it answers. */
  readonly answers: string
}

/** Calls of one assistant message and the tool messages right behind it. */
export interface ChatExchange {
  readonly caller: ChatMessage
  readonly answers: readonly ChatMessage[]
}

export interface ChatView {
  readonly request: WireRequest
  readonly settings: ProtocolSettings
  readonly body: Fields
  readonly model: string
  readonly messages: readonly ChatMessage[]
  readonly tools: readonly Fields[]
  readonly exchanges: readonly ChatExchange[]
}

function messageOf(item: unknown, index: number): ChatMessage {
  const fields = fieldsOf(item)
  const calls = listOf(fields['tool_calls']).map(fieldsOf)
  return {
    index,
    fields,
    role: stringOf(fields['role']),
    calls,
    callIds: calls.map(({ id }) => stringOf(id)),
    answers: stringOf(fields['tool_call_id']),
  }
}

function exchangesOf(messages: readonly ChatMessage[]): readonly ChatExchange[] {
  return messages
    .filter(({ role, calls }) => role === 'assistant' && calls.length > 0)
    .map((caller) => {
      const rest = messages.slice(caller.index + 1)
      const end = rest.findIndex(({ role }) => role !== 'tool')
      return { caller, answers: end === -1 ? rest : rest.slice(0, end) }
    })
}

export function chatView(request: WireRequest, settings: ProtocolSettings): ChatView {
  const { body } = request
  const messages = listOf(body['messages']).map(messageOf)
  return {
    request,
    settings,
    body,
    model: stringOf(body['model']),
    messages,
    tools: listOf(body['tools']).map(fieldsOf),
    exchanges: exchangesOf(messages),
  }
}

/** Tool messages that answer no call of the assistant message before their run. */
export function strayAnswers({ messages, exchanges }: ChatView): readonly ChatMessage[] {
  const fitting = new Set(
    exchanges.flatMap(({ caller, answers }) => answers.filter(({ answers: id }) => caller.callIds.includes(id))),
  )
  return messages.filter((message) => message.role === 'tool' && !fitting.has(message))
}

/** Calls of an exchange that no tool message right behind it answers. */
export function missingAnswers({ caller, answers }: ChatExchange): readonly string[] {
  const answered = new Set(answers.map(({ answers: id }) => id))
  return caller.callIds.filter((id) => !answered.has(id))
}

/** Content parts with the places where they stand. */
export function contentParts(message: ChatMessage): readonly Fields[] {
  return listOf(message.fields['content']).map(fieldsOf)
}
