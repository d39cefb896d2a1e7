import { jsonBytes } from '../shared/body.ts'
import { elements, isRecord, member } from '../shared/json-reader.ts'
import type { UnknownRecord } from '../shared/json-reader.ts'
import type { CheckConfig } from '../shared/rule.ts'
import { OPENAI_RESPONSES_LIMITS } from './limits.ts'
import type { OpenAiResponsesLimits } from './limits.ts'

/** Configuration of `validateOpenAiResponses`. */
export interface OpenAiResponsesCheckConfig extends CheckConfig {
  /** Sizes other than `OPENAI_RESPONSES_LIMITS`. */
  readonly limits?: Partial<OpenAiResponsesLimits>
}

/** What an item is to the conversation. */
export type ItemKind = 'message' | 'call' | 'output' | 'reasoning' | 'other'

/** One element of `input` that is an object with a type, or a message without one. */
export interface ItemView {
  readonly path: string
  readonly kind: ItemKind
  readonly type: string
  readonly value: UnknownRecord
  /** Role of a message, if it has one. */
  readonly role: string | undefined
  readonly id: string | undefined
  /** Of a call and of an output. */
  readonly callId: string | undefined
  /** Parts of a message's content or of an output. */
  readonly parts: readonly { readonly path: string; readonly type: string; readonly value: UnknownRecord }[]
}

/** A request as the rules read it: what is malformed is left out here and is named by rule `OR0`. */
export interface OpenAiResponsesView {
  readonly request: unknown
  readonly items: readonly ItemView[]
  /** Whether earlier items are at the provider: `previous_response_id` or `conversation` is given. */
  readonly isChained: boolean
  readonly model: string | undefined
  readonly limits: OpenAiResponsesLimits
  /** UTF-8 bytes of the body; `undefined` when the value is no JSON. */
  readonly bytes: () => number | undefined
}

const KINDS: ReadonlyMap<string, ItemKind> = new Map([
  ['message', 'message'],
  ['function_call', 'call'],
  ['custom_tool_call', 'call'],
  ['function_call_output', 'output'],
  ['custom_tool_call_output', 'output'],
  ['reasoning', 'reasoning'],
])

/** Reads a parsed request body of any shape. Never throws. */
export function viewOpenAiResponses(request: unknown, config: OpenAiResponsesCheckConfig): OpenAiResponsesView {
  const model = config.model ?? member(request, 'model')
  return {
    request,
    items: elements(member(request, 'input')).flatMap((value, index) => readItem(value, `input.${index}`)),
    isChained: ['previous_response_id', 'conversation'].some((name) => (member(request, name) ?? null) !== null),
    model: typeof model === 'string' ? model.toLowerCase() : undefined,
    limits: { ...OPENAI_RESPONSES_LIMITS, ...config.limits },
    bytes: () => jsonBytes(request),
  }
}

/** Whether an item is something that the model put out: what a reasoning item may be followed by. */
export function isModelOutput({ kind, role, type }: ItemView): boolean {
  if (kind === 'message') return role === 'assistant'
  return kind !== 'output' && !type.endsWith('_output') && type !== 'mcp_approval_response'
}

function readItem(value: unknown, path: string): ItemView[] {
  const type = member(value, 'type') ?? (member(value, 'role') === undefined ? undefined : 'message')
  if (!isRecord(value) || typeof type !== 'string') return []
  const kind = KINDS.get(type) ?? 'other'
  const holder = kind === 'output' ? 'output' : 'content'
  const parts = elements(kind === 'message' || kind === 'output' ? member(value, holder) : []).flatMap(
    (part, index) => {
      const partType = member(part, 'type')
      return isRecord(part) && typeof partType === 'string'
        ? [{ path: `${path}.${holder}.${index}`, type: partType, value: part }]
        : []
    },
  )
  const text = (name: string): string | undefined => {
    const found = member(value, name)
    return typeof found === 'string' ? found : undefined
  }
  return [{ path, kind, type, value, role: text('role'), id: text('id'), callId: text('call_id'), parts }]
}
