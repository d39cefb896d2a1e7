import { ToolResultPrunerError } from './errors.ts'

/** When and how tool results are cut. SPEC 7.1, 7.2. */
export interface PruneOptions {
  /** UTF-8 bytes that the text of one result may keep, its marker included. Default 4,096. */
  readonly maxBytes?: number
  /** Newest results that stay whole. Default 4. */
  readonly keepRecent?: number
  /** Nothing happens before the text of all results on the surface passes this many bytes. Default 262,144. */
  readonly highWater?: number
  /** Then the oldest are cut until at most this many bytes are left. Default half of `highWater`. */
  readonly lowWater?: number
}

/** When and how images give way to text. SPEC 7.1. */
export interface PruneImagesOptions {
  /** Images on the surface. Default 80. */
  readonly maxImages?: number
  /** Bytes of all images on the surface, as declared. Base64 takes a third more on the wire. Default 16,777,216. */
  readonly maxBytes?: number
  /** Where to go once a budget is passed. Default half of each. */
  readonly lowWater?: { readonly images?: number; readonly bytes?: number }
  /** Newest images that stay; at most `lowWater.images`. Default 4, or `lowWater.images` where that is less. */
  readonly keepRecent?: number
}

export interface ResultBudget {
  readonly maxBytes: number
  readonly keepRecent: number
  readonly highWater: number
  readonly lowWater: number
}

export interface ImageBudget {
  readonly max: { readonly images: number; readonly bytes: number }
  readonly low: { readonly images: number; readonly bytes: number }
  readonly keepRecent: number
}

/** The options with their defaults. Throws `ToolResultPrunerError` `options/invalid`. */
export function resultBudget(options: PruneOptions): ResultBudget {
  const highWater = whole('highWater', options.highWater ?? 256 * 1024)
  const lowWater = atMost('lowWater', options.lowWater ?? Math.floor(highWater / 2), 'highWater', highWater)
  return {
    maxBytes: whole('maxBytes', options.maxBytes ?? 4096),
    keepRecent: whole('keepRecent', options.keepRecent ?? 4),
    highWater,
    lowWater,
  }
}

/** The options with their defaults. Throws `ToolResultPrunerError` `options/invalid`. */
export function imageBudget(options: PruneImagesOptions): ImageBudget {
  const max = {
    images: whole('maxImages', options.maxImages ?? 80),
    bytes: whole('maxBytes', options.maxBytes ?? 16 * 1024 * 1024),
  }
  const { images = Math.floor(max.images / 2), bytes = Math.floor(max.bytes / 2) } = options.lowWater ?? {}
  const low = {
    images: atMost('lowWater.images', images, 'maxImages', max.images),
    bytes: atMost('lowWater.bytes', bytes, 'maxBytes', max.bytes),
  }
  const keepRecent = options.keepRecent ?? Math.min(4, low.images)
  // Otherwise every new image would push one old one out: a small step each turn.
  return { max, low, keepRecent: atMost('keepRecent', keepRecent, 'lowWater.images', low.images) }
}

function whole(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new ToolResultPrunerError('options/invalid', `${name} is ${value}: give an integer of at least 0`)
}

function atMost(name: string, value: number, limitName: string, limit: number): number {
  if (whole(name, value) <= limit) return value
  throw new ToolResultPrunerError(
    'options/invalid',
    `${name} is ${value}, above ${limitName}, ${limit}: give at most that`,
  )
}
