import type { ResultContentBlock } from '@palimpsest/session'
import { isObject, stringMember } from '../json.ts'
import { textOfValue } from './draft-list.ts'
import type { ReaderContext } from './draft-list.ts'
import { inlineOfDataUrl, soundInline } from './inline.ts'
import type { InlineData } from '../attachments.ts'

/** What a tool gave back in the AI SDK: content, and whether it is an error. */
export interface ToolOutput {
  readonly content: ResultContentBlock[]
  readonly isError: boolean
  /** How to write it again: a JSON value, or a list of parts. Absent for text. */
  readonly form?: 'json' | 'content' | 'execution-denied'
  readonly asText: string[]
}

/** Reads the tagged `output` of a tool-result part. FORMATS 8. */
export async function taggedOutput(output: unknown, keep: ReaderContext['keep']): Promise<ToolOutput> {
  const type = isObject(output) ? stringMember(output, 'type') : undefined
  if (!isObject(output) || type === undefined) return plainOutput(output)
  const isError = type.startsWith('error')
  if (type === 'json' || type === 'error-json') return { ...jsonOutput(output['value']), isError }
  if (type === 'execution-denied') {
    const text = stringMember(output, 'reason') ?? '[the user denied the call]'
    return { content: [{ type: 'text', text }], isError: true, form: type, asText: [] }
  }
  if (type !== 'content') return { ...textOutput(output['value'] ?? ''), isError }
  const parts = Array.isArray(output['value']) ? (output['value'] as readonly unknown[]) : []
  const content: ResultContentBlock[] = []
  const asText: string[] = []
  for (const part of parts) {
    const inline = imageOf(part)
    const text = isObject(part) && part['type'] === 'text' ? stringMember(part, 'text') : undefined
    if (text !== undefined) content.push({ type: 'text', text })
    else if (inline !== undefined) content.push({ type: 'image', attachment: await keep(inline) })
    else {
      content.push({ type: 'text', text: textOfValue(part) })
      asText.push(isObject(part) ? (stringMember(part, 'type') ?? 'no type') : typeof part)
    }
  }
  return { content, isError, form: 'content', asText }
}

/** A value that a tool gave back as it stands: text is text, all else is JSON. */
export function plainOutput(value: unknown): ToolOutput {
  return typeof value === 'string' ? textOutput(value) : jsonOutput(value)
}

function jsonOutput(value: unknown): ToolOutput {
  return { ...textOutput(JSON.stringify(value ?? null)), form: 'json' }
}

function textOutput(value: unknown): ToolOutput {
  return { content: [{ type: 'text', text: textOfValue(value) }], isError: false, asText: [] }
}

/** The image of a part in any of the forms that the versions of the SDK gave it. */
function imageOf(part: unknown): InlineData | undefined {
  const inline = isObject(part) ? fileOf(part) : undefined
  return inline?.mediaType.startsWith('image/') === true ? inline : undefined
}

/** The bytes of a file or image part: base64, a data URL, or one of them inside `{ type: 'data', data }`. */
export function fileOf(part: { readonly [member: string]: unknown }): InlineData | undefined {
  const given = part['data'] ?? part['image'] ?? part['url']
  const data = isObject(given) ? (given['data'] ?? given['url']) : given
  if (typeof data !== 'string') return undefined
  const inline = inlineOfDataUrl(data)
  if (inline !== undefined) return inline
  const type = part['mediaType'] ?? part['mimeType'] ?? (part['type'] === 'image' ? 'image/png' : undefined)
  return /^[a-z]+:/i.test(data) ? undefined : soundInline(type, data)
}
