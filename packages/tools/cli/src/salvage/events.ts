import { type Vocabulary, defineEvents } from '@palimpsest/session'
import { z } from 'zod'

/** Bytes of a damaged log that could not stand where they stood. Always written `ignorable`. */
export interface SalvageRaw {
  /** Bytes of the damaged log: `start` inclusive, `end` exclusive. */
  readonly start: number
  readonly end: number
  /** An acceptance code, or `unreadable`. */
  readonly reason: string
  /** The bytes as text, or in base64. */
  readonly text: string
  /** Present where the bytes are not UTF-8. */
  readonly encoding?: 'base64'
  /** The seq of the record, where it has one. */
  readonly seq?: number
}

/** Seqs that the damaged log does not hold. Always written `ignorable`. */
export interface SalvageMissing {
  /** First and last missing seq of the damaged log. */
  readonly from: number
  readonly to: number
}

declare module '@palimpsest/session' {
  interface SessionEventMap {
    'salvage/raw': SalvageRaw
    'salvage/missing': SalvageMissing
  }
}

const offset = z.number().int().nonnegative()

/** The event types that `palimpsest salvage` writes beside those that it saves. */
export const salvageEvents: Vocabulary = defineEvents(
  {
    'salvage/raw': z.looseObject({
      start: offset,
      end: offset,
      reason: z.string().min(1),
      text: z.string(),
      encoding: z.literal('base64').optional(),
      seq: offset.optional(),
    }),
    'salvage/missing': z.looseObject({ from: offset, to: offset }),
  },
  { owner: 'palimpsest' },
)
