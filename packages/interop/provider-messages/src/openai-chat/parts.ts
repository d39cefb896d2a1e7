import type { Json } from '@palimpsest/session'
import type { AssistantPart, Part } from '../shared/conversation.ts'
import type { TextPart } from '../shared/images.ts'
import { isRecord, member } from '../shared/json-reader.ts'
import type {
  OpenAiImagePart,
  OpenAiOwnPart,
  OpenAiRefusalPart,
  OpenAiText,
  OpenAiTextPart,
  OpenAiToolCall,
} from './wire.ts'

/** The texts among the parts of an entry, in order. */
export function texts(parts: readonly (AssistantPart | Part)[]): TextPart[] {
  return parts.flatMap((part) => (part.type === 'text' ? [{ type: part.type, text: part.text }] : []))
}

/** The calls among the parts of an assistant, in order. */
export function toolCalls(parts: readonly AssistantPart[]): OpenAiToolCall[] {
  return parts.flatMap((part) => {
    if (part.type !== 'call') return []
    if (part.own !== undefined) return [{ ...part.own, id: part.id } as OpenAiToolCall]
    return [{ id: part.id, type: 'function' as const, function: { name: part.name, arguments: part.arguments.text } }]
  })
}

/** What an assistant said: texts, and refusals where they stand among them. `null` where it said nothing. */
export function assistantContent(
  parts: readonly AssistantPart[],
): string | readonly (OpenAiTextPart | OpenAiRefusalPart)[] | null {
  const said = parts.flatMap((part): (OpenAiTextPart | OpenAiRefusalPart)[] => {
    if (part.type === 'text') return [{ type: part.type, text: part.text }]
    const refusal = part.type === 'own' ? member(part.value, 'refusal') : undefined
    return typeof refusal === 'string' ? [{ type: 'refusal', refusal }] : []
  })
  const [first] = said
  if (first === undefined) return null
  return said.length === 1 && first.type === 'text' ? first.text : said
}

/** Members of an assistant message that hold what it said: a refusal, or a sound. */
export function ownMembers(parts: readonly AssistantPart[]): { readonly refusal?: Json; readonly audio?: Json } {
  return Object.assign(
    {},
    ...parts.map((part) => (part.type === 'own' ? member(part.value, 'member') : undefined)).filter(isRecord),
  ) as { readonly refusal?: Json; readonly audio?: Json }
}

/** One text as a string, several as parts. */
export function textContent(parts: readonly TextPart[]): OpenAiText {
  const [first] = parts
  return parts.length === 1 && first !== undefined ? first.text : parts.map(({ type, text }) => ({ type, text }))
}

/** As `textContent`, with images as data URLs among them. */
export function userContent(
  parts: readonly Part[],
): string | readonly (OpenAiTextPart | OpenAiImagePart | OpenAiOwnPart)[] {
  const [first] = parts
  if (parts.length === 1 && first?.type === 'text') return first.text
  return parts.map((part) => {
    if (part.type === 'own') return part.value as OpenAiOwnPart
    if (part.type === 'text') return { type: part.type, text: part.text }
    return { type: 'image_url', image_url: { url: dataUrl(part), ...part.kept } }
  })
}

/** An image inside its own URL. */
export function dataUrl({ mediaType, data }: { readonly mediaType: string; readonly data: string }): string {
  return `data:${mediaType};base64,${data}`
}
