import { fieldsOf, isFields, listOf, stringOf, type Fields } from './json.ts'
import type { ProtocolSettings, WireRequest } from './protocol.ts'
import type { ResponsesMemory } from './responses-memory.ts'

export interface InputItem {
  readonly index: number
  /** As it was sent. */
  readonly fields: Fields
  readonly type: string
  readonly id: string | undefined
  /** What a reference stands for, else the item itself. */
  readonly resolved: Fields
}

export interface ResponsesView {
  readonly request: WireRequest
  readonly settings: ProtocolSettings
  readonly memory: ResponsesMemory
  readonly body: Fields
  readonly model: string
  readonly items: readonly InputItem[]
  /** Items of the response that this one continues. */
  readonly chained: readonly Fields[]
  readonly tools: readonly Fields[]
  readonly isStored: boolean
}

export function responsesView(
  request: WireRequest,
  settings: ProtocolSettings,
  memory: ResponsesMemory,
): ResponsesView {
  const { body } = request
  const { input } = body
  const raw = typeof input === 'string' && input !== '' ? [{ role: 'user', content: input }] : listOf(input)
  return {
    request,
    settings,
    memory,
    body,
    model: stringOf(body['model']),
    items: raw.map((one, index) => {
      const fields = fieldsOf(one)
      const id = typeof fields['id'] === 'string' ? fields['id'] : undefined
      const type = stringOf(fields['type'] ?? (fields['role'] === undefined ? '' : 'message'))
      const stored = id === undefined ? undefined : memory.item(id)
      return { index, fields, type, id, resolved: type === 'item_reference' && isFields(stored) ? stored : fields }
    }),
    chained: memory.response(stringOf(body['previous_response_id']))?.items ?? [],
    tools: listOf(body['tools']).map(fieldsOf),
    isStored: body['store'] !== false,
  }
}

/** Items of the whole conversation that the provider sees. */
export function conversation({ items, chained }: ResponsesView): readonly Fields[] {
  return [...chained, ...items.map(({ resolved }) => resolved)]
}

/** `call_id` of the items of one type. */
export function callIds(items: readonly Fields[], type: string): readonly string[] {
  return items.filter((item) => item['type'] === type).map((item) => stringOf(item['call_id']))
}
