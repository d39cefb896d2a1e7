import type { AttachmentRef, SessionSeq, UserBlock } from '@palimpsest/session'
import type { Losses, TranscriptExportOptions } from '../export.ts'

type Written =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly data: string; readonly mimeType: string }

/** Writes text and images of users and tools as pi has them, the images inline. */
export class ContentWriter {
  readonly #losses: Losses
  readonly #options: TranscriptExportOptions

  constructor(losses: Losses, options: TranscriptExportOptions) {
    this.#losses = losses
    this.#options = options
  }

  write(blocks: readonly UserBlock[], seq: SessionSeq): Written[] {
    return blocks.map((block) => {
      if (block.type === 'text') return { type: 'text', text: block.text }
      if (block.type === 'image') return this.#image(block.attachment, seq)
      this.#losses.add('block/unsupported', 'a block that is neither text nor an image is a placeholder', seq)
      return { type: 'text', text: `[${String((block as { readonly type: unknown }).type)}]` }
    })
  }

  #image(ref: AttachmentRef, seq: SessionSeq): Written {
    const bytes = this.#options.attachment?.(ref)
    // No bytes at all are no image to a reader either.
    if (bytes === undefined || bytes.length === 0 || ref.mediaType === '') {
      this.#losses.add('attachment/missing', 'the bytes of an image are not there: a placeholder stands for it', seq)
      return { type: 'text', text: `[${ref.mediaType}, ${ref.bytes} bytes, ${ref.attachmentId}]` }
    }
    if (ref.width !== undefined || ref.height !== undefined || ref.name !== undefined) {
      this.#losses.add('attachment/details', 'name and size of an image are not in the file', seq)
    }
    return { type: 'image', data: Buffer.from(bytes).toString('base64'), mimeType: ref.mediaType }
  }
}
