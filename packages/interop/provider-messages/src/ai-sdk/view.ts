import { elements, isRecord, member } from '../shared/json-reader.ts'
import type { UnknownRecord } from '../shared/json-reader.ts'

/** What people write for `ai` functions, or what a `LanguageModelV4` is given. */
export type AiSdkForm = 'messages' | 'prompt'

export interface PartView {
  readonly path: string
  readonly type: string
  readonly value: UnknownRecord
}

export interface MessageView {
  readonly path: string
  readonly role: string
  readonly value: UnknownRecord
  readonly content: unknown
  /** Parts that are objects with a type; a text stands for the part that it is short for. */
  readonly parts: readonly PartView[]
}

/** A list of messages as the rules read it: what is malformed is left out here and is named by `AI1` and `AI2`. */
export interface AiSdkView {
  readonly form: AiSdkForm
  readonly list: unknown
  readonly messages: readonly MessageView[]
}

/** Reads a list of messages of any shape. Never throws. */
export function viewAiSdk(list: unknown, form: AiSdkForm): AiSdkView {
  const messages = elements(list).flatMap((value, index): MessageView[] => {
    const role = member(value, 'role')
    if (!isRecord(value) || typeof role !== 'string') return []
    const content = member(value, 'content')
    return [{ path: String(index), role, value, content, parts: readParts(content, `${index}.content`) }]
  })
  return { form, list, messages }
}

function readParts(content: unknown, path: string): PartView[] {
  if (typeof content === 'string') return [{ path, type: 'text', value: { type: 'text', text: content } }]
  return elements(content).flatMap((value, index): PartView[] => {
    const type = member(value, 'type')
    return isRecord(value) && typeof type === 'string' ? [{ path: `${path}.${index}`, type, value }] : []
  })
}

export function partsOf(message: MessageView | undefined, type: string): PartView[] {
  return message === undefined ? [] : message.parts.filter((part) => part.type === type)
}

export function textOf(part: PartView, name: string): string {
  const text = member(part.value, name)
  return typeof text === 'string' ? text : ''
}

/** Whether the provider itself ran the tool: its call needs no tool message. */
export function isProviderExecuted(part: PartView): boolean {
  return member(part.value, 'providerExecuted') === true
}
