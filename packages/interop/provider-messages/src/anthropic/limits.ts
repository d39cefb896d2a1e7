/** Sizes that the Messages API takes. Where sources differ, the smaller figure that is known to pass. PROVIDERS A29, A30. */
export interface AnthropicLimits {
  /** UTF-8 bytes of the whole request body. */
  readonly bytes: number
  readonly messages: number
  readonly images: number
  /** Characters of one image in base64. */
  readonly imageBytes: number
  /** Pixels of one side. */
  readonly imageSide: number
  /** Pixels of one side when the request has more than `manyImages`. */
  readonly manyImagesSide: number
  readonly manyImages: number
}

export const ANTHROPIC_LIMITS: AnthropicLimits = {
  bytes: 32 * 1024 * 1024,
  messages: 100_000,
  images: 100,
  imageBytes: 10 * 1024 * 1024,
  imageSide: 8000,
  manyImagesSide: 2000,
  manyImages: 20,
}

/** Media types of images that the API takes. */
export const ANTHROPIC_IMAGE_TYPES: ReadonlySet<string> = new Set([
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/webp',
])
