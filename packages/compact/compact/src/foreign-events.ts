import type { Json, SessionSeq, TokenUsage } from '@palimpsest/session'
import { z } from 'zod'

/** The start of a compaction in a log that was migrated from deepseek-harness: what it covers is in the summary alone. SPEC 6. */
export interface ForeignCompactionStart {
  readonly compactionId: string
  readonly turn: number
  readonly trigger?: never
  readonly startSeq?: never
  readonly endSeq?: never
  readonly tokensBefore?: never
}

/** The summary of such a compaction, its text included. SPEC 6. */
export interface ForeignCompactionSummary {
  readonly compactionId: string
  /** Both inclusive. */
  readonly shadowedRange: { readonly start: SessionSeq; readonly end: SessionSeq }
  readonly shadowedSeqs: readonly SessionSeq[]
  /** Tokens of the range. */
  readonly shadowedTokenCount: number
  /** Content blocks. */
  readonly summary: readonly Json[]
  readonly provider: string
  readonly model: string
  readonly usage?: TokenUsage
  readonly tokensBefore?: never
  readonly tokensAfter?: never
}

/** The end of such a compaction. The replacement stands before it, and is found by its source. SPEC 6. */
export interface ForeignCompactionEnd {
  readonly compactionId: string
  readonly turn: number
  /** Present where the compaction failed. */
  readonly error?: Json
  readonly replacementSeq?: never
}

const compactionId = z.string().min(1)
const turn = z.number().int().nonnegative()
const seq = z.number().int().nonnegative()

export const foreignStart: z.ZodType = z.looseObject({ compactionId, turn }).refine((data) => !('trigger' in data))
export const foreignSummary: z.ZodType = z
  .looseObject({
    compactionId,
    shadowedRange: z.looseObject({ start: seq, end: seq }),
    shadowedSeqs: z.array(seq).min(1),
    shadowedTokenCount: z.number().nonnegative(),
    summary: z.array(z.unknown()),
    provider: z.string().min(1),
    model: z.string().min(1),
  })
  .refine((data) => !('tokensBefore' in data))
export const foreignEnd: z.ZodType = z.looseObject({ compactionId, turn, error: z.unknown().optional() })
