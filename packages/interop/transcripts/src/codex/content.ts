import type { AttachmentRef, ImageBlock, TextBlock } from '@palimpsest/session'
import { inlineOfUrl, isBase64, keepInline } from '../attachments.ts'
import type { InlineData } from '../attachments.ts'
import { isObject, stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'
import type { AttachmentSink } from '../source.ts'

/** Attachments of images, by the text in which a file holds their bytes. */
export type Images = ReadonlyMap<string, AttachmentRef>

/** Content parts as blocks. */
export interface ReadContent {
  readonly blocks: readonly (TextBlock | ImageBlock)[]
  /** Parts that are neither text nor an image whose bytes the file holds. */
  readonly odd: readonly unknown[]
}

const listed = (content: unknown): readonly unknown[] => (Array.isArray(content) ? content : [content])

/** Reads the content of a message or an output: a text, a part, or a list of parts. */
export function readContent(content: unknown, images: Images): ReadContent {
  const blocks: (TextBlock | ImageBlock)[] = []
  const odd: unknown[] = []
  for (const part of listed(content)) {
    const block = readPart(part, images)
    if (block === undefined) odd.push(part)
    else blocks.push(block)
  }
  return { blocks, odd }
}

const texts: ReadonlySet<unknown> = new Set(['input_text', 'output_text', 'text', 'summary_text', 'reasoning_text'])

function readPart(part: unknown, images: Images): TextBlock | ImageBlock | undefined {
  const text = typeof part === 'string' ? part : textOf(part)
  if (text !== undefined) return { type: 'text', text }
  const attachment = isObject(part) ? images.get(imageUrl(part) ?? '') : undefined
  return attachment && { type: 'image', attachment }
}

/** What a part of any text type says; a refusal is text too. */
export function textOf(part: unknown): string | undefined {
  if (!isObject(part)) return undefined
  if (part['type'] === 'refusal') return stringMember(part, 'refusal')
  return texts.has(part['type']) ? stringMember(part, 'text') : undefined
}

const imageUrl = (part: LooseObject): string | undefined =>
  part['type'] === 'input_image' ? stringMember(part, 'image_url') : undefined

const beginnings: readonly (readonly [string, string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
]

/** The media type of an image in base64, by its first bytes. */
export function imageType(data: string): string | undefined {
  return beginnings.find(([beginning]) => data.startsWith(beginning))?.[1]
}

/** Puts the images of response items into the sink, each text once. */
export async function keepImages(items: Iterable<LooseObject>, sink: AttachmentSink): Promise<Images> {
  const images = new Map<string, AttachmentRef>()
  for (const item of items) {
    for (const [text, inline] of inlineOf(item)) {
      if (!images.has(text) && isBase64(inline.data)) images.set(text, await keepInline(sink, inline))
    }
  }
  return images
}

function* inlineOf(item: LooseObject): Generator<readonly [string, InlineData]> {
  const generated = item['type'] === 'image_generation_call' ? stringMember(item, 'result') : undefined
  const mediaType = generated && imageType(generated)
  if (generated !== undefined && mediaType !== undefined) yield [generated, { data: generated, mediaType }]
  for (const part of [...listed(item['content']), ...listed(item['output'])]) {
    const url = isObject(part) ? imageUrl(part) : undefined
    const inline = url === undefined ? undefined : inlineOfUrl(url)
    if (url !== undefined && inline !== undefined) yield [url, inline]
  }
}
