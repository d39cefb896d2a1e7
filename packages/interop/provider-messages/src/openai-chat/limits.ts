/** Sizes that Chat Completions takes. PROVIDERS OC4, OC12. */
export interface OpenAiChatLimits {
  /** Calls of one assistant message, and tools of one request. */
  readonly toolCalls: number
  readonly images: number
  /** UTF-8 bytes of the whole request body. */
  readonly bytes: number
}

export const OPENAI_CHAT_LIMITS: OpenAiChatLimits = { toolCalls: 128, images: 1500, bytes: 512 * 1024 * 1024 }

/** Media types of images that the API takes. */
export const OPENAI_IMAGE_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif'])
