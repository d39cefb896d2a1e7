import type { AttachmentRef, JsonObject } from '@palimpsest/session'
import { ProviderMessagesError } from '../errors.ts'
import { MISSING_IMAGE_TEXT, UNSUPPORTED_IMAGE_TEXT } from './fixed-texts.ts'
import type { ExportNoteCode } from './report.ts'

/** Looks up the bytes of an attachment, raw or in base64; `undefined` when they are not there. */
export type ImageLookup = (ref: AttachmentRef) => Uint8Array | string | undefined

/** Budget of images. Pixels and base64 characters; a member that is not given is not limited. */
export interface ImageLimits {
  readonly images: number
  readonly imageBytes?: number
  readonly imageSide?: number
  readonly manyImages?: number
  readonly manyImagesSide?: number
}

export interface TextPart {
  readonly type: 'text'
  readonly text: string
  /** Members that only the target's own shape has for it. */
  readonly kept?: JsonObject
}
export interface ImagePart {
  readonly type: 'image'
  readonly mediaType: string
  readonly data: string
  readonly attachment: AttachmentRef
  /** As of a text. */
  readonly kept?: JsonObject
}

/** Turns attachment references into what can be sent, within the budget. */
export class Images {
  readonly #types: ReadonlySet<string>
  readonly #limits: ImageLimits
  readonly #lookup: ImageLookup
  readonly #sent: AttachmentRef[] = []

  constructor(types: ReadonlySet<string>, limits: ImageLimits, lookup: ImageLookup = () => undefined) {
    this.#types = types
    this.#limits = limits
    this.#lookup = lookup
  }

  /**
   * The image, or the fixed text that stands for it. Throws `budget/image-bytes`, `budget/image-side`, and
   * `options/invalid` when the lookup answers a string that is no base64.
   */
  part(ref: AttachmentRef, note: (code: ExportNoteCode, detail: string) => void): TextPart | ImagePart {
    const mediaType = plainType(ref.mediaType)
    if (!this.#types.has(mediaType)) {
      note('image/unsupported', ref.attachmentId)
      return { type: 'text', text: UNSUPPORTED_IMAGE_TEXT }
    }
    const data = base64(this.#lookup(ref), ref)
    if (data === '') {
      note('image/missing', ref.attachmentId)
      return { type: 'text', text: MISSING_IMAGE_TEXT }
    }
    const { imageBytes = Infinity, imageSide = Infinity } = this.#limits
    if (data.length > imageBytes) {
      throw new ProviderMessagesError(
        'budget/image-bytes',
        `image ${ref.attachmentId} has ${data.length} bytes in base64, over ${imageBytes}: replace it by a smaller one`,
      )
    }
    this.#refuseSide(ref, imageSide)
    this.#sent.push(ref)
    return { type: 'image', mediaType, data, attachment: ref }
  }

  /** The bytes of any attachment in base64; empty where they are not there. Throws as `part` does. */
  bytes(ref: AttachmentRef): string {
    return base64(this.#lookup(ref), ref)
  }

  /** Throws `budget/images` and `budget/image-side` for the request as a whole. */
  refuseOverBudget(): void {
    const { images, manyImages = Infinity, manyImagesSide = Infinity } = this.#limits
    const count = this.#sent.length
    if (count > images) {
      throw new ProviderMessagesError(
        'budget/images',
        `${count} images, over ${images}: prune older ones from the session`,
      )
    }
    if (count > manyImages) for (const ref of this.#sent) this.#refuseSide(ref, manyImagesSide)
  }

  #refuseSide({ attachmentId, width = 0, height = 0 }: AttachmentRef, side: number): void {
    if (Math.max(width, height) <= side) return
    throw new ProviderMessagesError(
      'budget/image-side',
      `image ${attachmentId} is ${width} x ${height} pixels, over ${side}: replace it by a smaller one`,
    )
  }
}

function plainType(mediaType: string): string {
  const type = (mediaType.split(';')[0] ?? '').trim().toLowerCase()
  return type === 'image/jpg' ? 'image/jpeg' : type
}

function base64(bytes: Uint8Array | string | undefined, ref: AttachmentRef): string {
  if (bytes === undefined) return ''
  if (typeof bytes !== 'string') return encode(bytes)
  if (/^[A-Za-z0-9+/]*={0,2}$/.test(bytes)) return bytes
  throw new ProviderMessagesError('options/invalid', `image(${ref.attachmentId}) answered a string that is no base64`)
}

function encode(bytes: Uint8Array): string {
  const CHUNK = 3 * 8192
  let text = ''
  for (let at = 0; at < bytes.length; at += CHUNK) text += btoa(String.fromCharCode(...bytes.subarray(at, at + CHUNK)))
  return text
}
