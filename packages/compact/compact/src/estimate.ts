import type { AttachmentRef, ContentBlock, Json, Message } from '@palimpsest/session'

/** How large something is in a request. */
export interface Size {
  readonly tokens: number
  /** UTF-8 bytes of the JSON text; an image counts with its bytes in base64. */
  readonly bytes: number
  readonly images: number
}

export const NOTHING: Size = { tokens: 0, bytes: 0, images: 0 }

export interface EstimateOptions {
  /** Tokens of a text; `estimateTokens` unless given. */
  readonly countTokens?: (text: string) => number
  /** Tokens of an image; `estimateImageTokens` unless given. */
  readonly imageTokens?: (image: AttachmentRef) => number
  /** Tokens that a message, a call and a result cost beside their content. Default 4. */
  readonly frameTokens?: number
}

/** Quarters of a token per UTF-16 unit below U+0080: letters and white space 1, digits and signs 2. */
const asciiQuarters = Uint8Array.from({ length: 0x80 }, (_, unit) =>
  /[a-z\s]/i.test(String.fromCharCode(unit)) ? 1 : 2,
)
/** Latin, Greek, Cyrillic, Hebrew, Arabic and their kin end here; then come scripts of about one token per character. */
const LAST_ALPHABETIC = 0x07ff

/**
 * Tokens of a text by the class of its characters, rounded up: four ASCII letters or spaces, two digits, signs or
 * letters of another alphabet, one of anything else (CJK, kana, Hangul, each half of a surrogate pair) make a token.
 * Meant to be at or above what providers count.
 */
export function estimateTokens(text: string): number {
  let quarters = 0
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    quarters += unit < 0x80 ? (asciiQuarters[unit] ?? 0) : unit <= LAST_ALPHABETIC ? 2 : 4
  }
  return Math.ceil(quarters / 4)
}

/** Pixels per token, tokens of the smallest and the largest image, and of one whose pixels are not known. */
const image = { pixelsPerToken: 750, least: 85, most: 4800, unknown: 1600 }

/** Tokens of an image by its pixels, whatever its bytes: one per 750, at least 85 and at most 4,800; 1,600 where they are not known. */
export function estimateImageTokens({ width, height }: AttachmentRef): number {
  if (width === undefined || height === undefined) return image.unknown
  return Math.min(image.most, Math.max(image.least, Math.ceil((width * height) / image.pixelsPerToken)))
}

/** Adds sizes up. */
export function sumSizes(sizes: Iterable<Size>): Size {
  let [tokens, bytes, images] = [0, 0, 0]
  for (const size of sizes) {
    tokens += size.tokens
    bytes += size.bytes
    images += size.images
  }
  return { tokens, bytes, images }
}

/** What a message costs in a request. Pure. */
export function sizeOfMessage(message: Message, options: EstimateOptions): Size {
  const { frameTokens = 4, countTokens = estimateTokens, imageTokens = estimateImageTokens } = options
  const replay = replayBlocks(message)
  let tokens = frameTokens
  let images = 0
  let imageBytes = 0
  const visit = (block: ContentBlock, sealed?: Json): void => {
    switch (block.type) {
      case 'text':
        tokens += countTokens(block.text)
        break
      case 'reasoning':
        // Sealed reasoning has no text: its provider reads it from what it sealed.
        tokens += block.text === '' && sealed ? Math.ceil(JSON.stringify(sealed).length / 4) : countTokens(block.text)
        break
      case 'image':
        tokens += imageTokens(block.attachment)
        images += 1
        imageBytes += 4 * Math.ceil(block.attachment.bytes / 3)
        break
      case 'tool-call':
        tokens += frameTokens + countTokens(block.id) + countTokens(block.name) + countTokens(block.arguments)
        break
      case 'tool-result':
        tokens += frameTokens + countTokens(block.toolCallId)
        for (const inner of block.content) visit(inner)
        break
      default:
        tokens += countTokens(JSON.stringify(block))
    }
  }
  for (const [at, block] of message.content.entries()) visit(block, replay?.[at])
  const { role, content } = message
  const bytes =
    utf8Length(JSON.stringify({ role, content })) + imageBytes + (replay ? utf8Length(JSON.stringify(replay)) : 0)
  return { tokens: Math.ceil(tokens), bytes, images }
}

/** What plain JSON costs in a request, such as the definitions of tools. */
export function sizeOfJson(value: unknown, { countTokens = estimateTokens }: EstimateOptions): Size {
  const json = JSON.stringify(value)
  return { tokens: Math.ceil(countTokens(json)), bytes: utf8Length(json), images: 0 }
}

function replayBlocks({ source }: Message): readonly Json[] | undefined {
  if (source.kind !== 'model' || typeof source.replayState !== 'object' || source.replayState === null) return undefined
  const { blocks } = source.replayState as { readonly blocks?: unknown }
  return Array.isArray(blocks) ? (blocks as readonly Json[]) : undefined
}

function utf8Length(text: string): number {
  let bytes = text.length
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    // Each half of a surrogate pair is two of the four bytes of its character.
    if (unit >= 0x80) bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2
  }
  return bytes
}
