import type { Size } from './estimate.ts'

/** What a request may hold. Over any of the three is over. */
export interface Budget {
  readonly tokens: number
  /** UTF-8 bytes of the request's JSON, images in base64. No limit unless given. */
  readonly bytes?: number
  /** No limit unless given. */
  readonly images?: number
}

/** Whether a size is within a budget in all that the budget limits. */
export function isWithin({ tokens, bytes, images }: Size, budget: Budget): boolean {
  return tokens <= budget.tokens && bytes <= (budget.bytes ?? Infinity) && images <= (budget.images ?? Infinity)
}
