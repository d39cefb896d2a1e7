import type { ResultContentBlock, UserBlock } from '@palimpsest/session'
import { isObject } from '../json.ts'
import type { LooseObject } from '../json.ts'
import { textOfValue, typeOf } from './draft-list.ts'

/** What a tool gave back, and the types of what stands as text since no result can hold it. */
export interface ReadResult {
  readonly content: readonly ResultContentBlock[]
  readonly asText: readonly string[]
}

/** The parts of an answer as a result holds them: text and images as they are, documents named, all else as JSON. */
export async function resultContent(
  parts: readonly unknown[],
  read: (part: LooseObject) => Promise<UserBlock | undefined>,
): Promise<ReadResult> {
  const content: ResultContentBlock[] = []
  const asText: string[] = []
  for (const part of parts) {
    const block = isObject(part) ? await read(part) : undefined
    if (block?.type === 'text' || block?.type === 'image') content.push(block)
    else if (block?.type === 'document') {
      const { attachmentId, mediaType, bytes } = block.attachment
      const { type: _, attachment: __, ...kept } = block
      content.push({ ...kept, type: 'text', text: `[${mediaType}, ${bytes} bytes, kept as ${attachmentId}]` })
      asText.push('document')
    } else {
      content.push({ type: 'text', text: textOfValue(part) })
      asText.push(typeOf(part))
    }
  }
  return { content, asText }
}
