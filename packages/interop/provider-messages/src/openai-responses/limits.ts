/** Sizes that Responses takes. PROVIDERS OC12. */
export interface OpenAiResponsesLimits {
  readonly images: number
  /** UTF-8 bytes of the whole request body. */
  readonly bytes: number
}

export const OPENAI_RESPONSES_LIMITS: OpenAiResponsesLimits = { images: 1500, bytes: 512 * 1024 * 1024 }
