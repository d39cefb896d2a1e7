import type { AssistantPart, Part } from '../shared/conversation.ts'
import type { TextPart } from '../shared/images.ts'
import type { OpenAiImagePart, OpenAiText, OpenAiTextPart, OpenAiToolCall } from './wire.ts'

/** The texts among the parts of an entry, in order. */
export function texts(parts: readonly (AssistantPart | Part)[]): TextPart[] {
  return parts.flatMap((part) => (part.type === 'text' ? [{ type: part.type, text: part.text }] : []))
}

/** The calls among the parts of an assistant, in order. */
export function toolCalls(parts: readonly AssistantPart[]): OpenAiToolCall[] {
  return parts.flatMap((part) => {
    if (part.type !== 'call') return []
    return [{ id: part.id, type: 'function' as const, function: { name: part.name, arguments: part.arguments.text } }]
  })
}

/** One text as a string, several as parts. */
export function textContent(parts: readonly TextPart[]): OpenAiText {
  const [first] = parts
  return parts.length === 1 && first !== undefined ? first.text : parts
}

/** As `textContent`, with images as data URLs among them. */
export function userContent(parts: readonly Part[]): string | readonly (OpenAiTextPart | OpenAiImagePart)[] {
  const [first] = parts
  if (parts.length === 1 && first?.type === 'text') return first.text
  return parts.map((part) => {
    return part.type === 'text' ? part : { type: 'image_url', image_url: { url: dataUrl(part) } }
  })
}

/** An image inside its own URL. */
export function dataUrl({ mediaType, data }: { readonly mediaType: string; readonly data: string }): string {
  return `data:${mediaType};base64,${data}`
}
