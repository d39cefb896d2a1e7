import type { ContentBlock, EventOf, ImageBlock, ResultContentBlock, SessionEvent } from '@palimpsest/session'

export interface PlacedImage {
  readonly block: ImageBlock
  /** Position among the blocks of its entry. */
  readonly index: number
}

/** The images that an event puts before the model, in order. */
export function imagesOf(event: SessionEvent): readonly PlacedImage[] {
  return contentOf(event).flatMap((block, index) => (block.type === 'image' ? [{ block, index }] : []))
}

/** The texts of a tool result, in order. */
export function textsOf(event: EventOf<'tool/result'>): readonly string[] {
  return event.data.message.content[0].content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
}

function contentOf(event: SessionEvent): readonly ContentBlock[] {
  switch (event.type) {
    case 'user/message':
      return event.data.content
    case 'assistant/message':
      return event.data.message.content
    case 'tool/result':
      return event.data.message.content[0].content
    default:
      return []
  }
}

/** The same result with other content: all that the kernel lets a replacement change. SPEC 3.1, replace/tool-result. */
export function withContent(
  { data }: EventOf<'tool/result'>,
  content: readonly ResultContentBlock[],
): EventOf<'tool/result'>['data'] {
  const [block] = data.message.content
  return { ...data, message: { ...data.message, content: [{ ...block, content }] } }
}
