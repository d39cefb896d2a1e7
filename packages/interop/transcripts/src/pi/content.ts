import type { AttachmentRef, ResultContentBlock } from '@palimpsest/session'
import { isBase64 } from '../attachments.ts'
import type { InlineData } from '../attachments.ts'
import { isObject, stringMember } from '../json.ts'

/** Puts the bytes of an image where the session's attachments go. */
export type Keep = (inline: InlineData) => Promise<AttachmentRef>

/** What a content of pi's becomes. */
export interface ReadContent {
  readonly blocks: readonly ResultContentBlock[]
  /** The types of what is neither text nor an image, in the order of the content. */
  readonly odd: readonly string[]
}

/**
 * Text and images of a content, a string or a list. What else stands in it is left out, or, `asText`, stands as JSON.
 * `undefined` for what is no content.
 */
export async function readContent(content: unknown, keep: Keep, asText = false): Promise<ReadContent | undefined> {
  if (typeof content === 'string') return { blocks: [{ type: 'text', text: content }], odd: [] }
  if (!Array.isArray(content)) return undefined
  const blocks: ResultContentBlock[] = []
  const odd: string[] = []
  for (const item of content as readonly unknown[]) {
    const block = await readBlock(item, keep)
    if (block !== undefined) blocks.push(block)
    else {
      odd.push(typeOf(item))
      if (asText) blocks.push({ type: 'text', text: JSON.stringify(item) })
    }
  }
  return { blocks, odd }
}

async function readBlock(item: unknown, keep: Keep): Promise<ResultContentBlock | undefined> {
  if (!isObject(item)) return undefined
  const type = stringMember(item, 'type')
  const text = type === 'text' ? stringMember(item, 'text') : undefined
  if (text !== undefined) return { type: 'text', text }
  const data = type === 'image' ? stringMember(item, 'data') : undefined
  const mediaType = stringMember(item, 'mimeType')
  if (data === undefined || !isBase64(data) || mediaType === undefined || mediaType === '') return undefined
  return { type: 'image', attachment: await keep({ data, mediaType }) }
}

/** What a block calls itself. */
export function typeOf(item: unknown): string {
  return (isObject(item) ? stringMember(item, 'type') : undefined) ?? (Array.isArray(item) ? 'array' : typeof item)
}
