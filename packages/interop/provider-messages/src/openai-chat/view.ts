import { jsonBytes } from '../shared/body.ts'
import { elements, isRecord, member } from '../shared/json-reader.ts'
import type { UnknownRecord } from '../shared/json-reader.ts'
import type { CheckConfig } from '../shared/rule.ts'
import { OPENAI_CHAT_LIMITS } from './limits.ts'
import type { OpenAiChatLimits } from './limits.ts'

/** Configuration of `validateOpenAiChat`. */
export interface OpenAiChatCheckConfig extends CheckConfig {
  /** Sizes other than `OPENAI_CHAT_LIMITS`. */
  readonly limits?: Partial<OpenAiChatLimits>
}

export interface CallView {
  readonly path: string
  readonly id: string
  readonly name: unknown
  readonly arguments: unknown
}

/** One element of `messages` that is an object with a role. */
export interface MessageView {
  readonly path: string
  readonly role: string
  readonly value: UnknownRecord
  readonly parts: readonly { readonly path: string; readonly type: string; readonly value: UnknownRecord }[]
  readonly calls: readonly CallView[]
}

/** An assistant with calls and the tool messages that follow at once. */
export interface BatchView {
  readonly message: MessageView
  readonly results: readonly MessageView[]
}

/** A request as the rules read it: what is malformed is left out here and is named by rule `OC0`. */
export interface OpenAiChatView {
  readonly request: unknown
  readonly messages: readonly MessageView[]
  readonly batches: readonly BatchView[]
  /** Tool messages that follow neither an assistant with calls nor such a tool message. */
  readonly strayResults: readonly MessageView[]
  readonly model: string | undefined
  readonly limits: OpenAiChatLimits
  /** UTF-8 bytes of the body; `undefined` when the value is no JSON. */
  readonly bytes: () => number | undefined
}

/** Reads a parsed request body of any shape. Never throws. */
export function viewOpenAiChat(request: unknown, config: OpenAiChatCheckConfig): OpenAiChatView {
  const messages = elements(member(request, 'messages')).flatMap((value, index) =>
    readMessage(value, `messages.${index}`),
  )
  const model = config.model ?? member(request, 'model')
  return {
    request,
    messages,
    ...groupBatches(messages),
    model: typeof model === 'string' ? model.toLowerCase() : undefined,
    limits: { ...OPENAI_CHAT_LIMITS, ...config.limits },
    bytes: () => jsonBytes(request),
  }
}

/** The id that a tool message answers. */
export function answeredId(message: MessageView): string | undefined {
  const id = member(message.value, 'tool_call_id')
  return typeof id === 'string' ? id : undefined
}

function readMessage(value: unknown, path: string): MessageView[] {
  const role = member(value, 'role')
  if (!isRecord(value) || typeof role !== 'string') return []
  const parts = elements(member(value, 'content')).flatMap((part, index) => {
    const type = member(part, 'type')
    return isRecord(part) && typeof type === 'string' ? [{ path: `${path}.content.${index}`, type, value: part }] : []
  })
  const calls = role === 'assistant' ? elements(member(value, 'tool_calls')) : []
  return [
    { path, role, value, parts, calls: calls.flatMap((call, index) => readCall(call, `${path}.tool_calls.${index}`)) },
  ]
}

function readCall(call: unknown, path: string): CallView[] {
  const id = member(call, 'id')
  const called = member(call, 'function')
  if (typeof id !== 'string') return []
  return [{ path, id, name: member(called, 'name'), arguments: member(called, 'arguments') }]
}

function groupBatches(messages: readonly MessageView[]): { batches: BatchView[]; strayResults: MessageView[] } {
  const batches: { message: MessageView; results: MessageView[] }[] = []
  const strayResults: MessageView[] = []
  let open: MessageView[] | undefined
  for (const message of messages) {
    if (message.role === 'tool') (open ?? strayResults).push(message)
    else open = undefined
    if (message.calls.length === 0) continue
    open = []
    batches.push({ message, results: open })
  }
  return { batches, strayResults }
}
