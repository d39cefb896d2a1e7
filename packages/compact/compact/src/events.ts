import {
  type Json,
  type Session,
  type SessionSeq,
  type TokenUsage,
  type Vocabulary,
  defineEvents,
} from '@palimpsest/session'
import { z } from 'zod'
import type { CompactionTrigger } from './contract.ts'
import { CompactionError } from './errors.ts'
import {
  type ForeignCompactionEnd,
  type ForeignCompactionStart,
  type ForeignCompactionSummary,
  foreignEnd,
  foreignStart,
  foreignSummary,
} from './foreign-events.ts'

/** Opens the bracket of a compaction and is its lock. The range is named as it was planned. SPEC 7.1. */
export interface CompactionStart {
  readonly compactionId: string
  readonly trigger: CompactionTrigger
  /** First entry of the planned range. */
  readonly startSeq: SessionSeq
  /** Last entry of the planned range, inclusive. */
  readonly endSeq: SessionSeq
  /** Tokens of the range. */
  readonly tokensBefore?: number
}

/** What the summary stands for and what it took to make. Its text is in the replacement. SPEC 7.1. */
export interface CompactionSummary {
  readonly compactionId: string
  /** Both inclusive. */
  readonly shadowedRange: { readonly startSeq: SessionSeq; readonly endSeq: SessionSeq }
  /** In surface order. */
  readonly shadowedSeqs: readonly SessionSeq[]
  /** Tokens of the range, and of what stands for it. */
  readonly tokensBefore: number
  readonly tokensAfter: number
  readonly provider?: string
  readonly model?: string
  /** What the summary itself cost. */
  readonly usage?: TokenUsage
  readonly meta?: Json
}

/** Closes the bracket and releases the lock. SPEC 7.1. */
export interface CompactionEnd {
  readonly compactionId: string
  /** The `user/message` that stands for the range; absent where nothing was replaced. */
  readonly replacementSeq?: SessionSeq
  /** Present where the compaction failed. `code` is a `CompactionFailureCode`. */
  readonly error?: { readonly code: string; readonly message: string }
}

declare module '@palimpsest/session' {
  interface SessionEventMap {
    'compaction/start': CompactionStart | ForeignCompactionStart
    'compaction/summary': CompactionSummary | ForeignCompactionSummary
    'compaction/end': CompactionEnd | ForeignCompactionEnd
  }
}

const compactionId = z.string().min(1)
const seq = z.number().int().nonnegative()
const tokens = z.number().nonnegative()
const count = z.number().int().nonnegative().optional()

const ownStart = z.looseObject({
  compactionId,
  trigger: z.enum(['threshold', 'overflow', 'manual']),
  startSeq: seq,
  endSeq: seq,
  tokensBefore: tokens.optional(),
})
const ownSummary = z.looseObject({
  compactionId,
  shadowedRange: z.looseObject({ startSeq: seq, endSeq: seq }),
  shadowedSeqs: z.array(seq).min(1),
  tokensBefore: tokens,
  tokensAfter: tokens,
  provider: z.string().min(1).optional(),
  model: z.string().min(1).optional(),
  usage: z
    .looseObject({
      inputTokens: count,
      outputTokens: count,
      cacheReadTokens: count,
      cacheWriteTokens: count,
      reasoningTokens: count,
    })
    .optional(),
  meta: z.unknown().optional(),
})
const ownEnd = z.looseObject({
  compactionId,
  replacementSeq: seq.optional(),
  error: z.looseObject({ code: z.string().min(1), message: z.string() }).optional(),
})

/**
 * The event types of a compaction, all log-only. Compose them: `coreEvents.extend(compactionEvents)`. What a migrated
 * log holds of deepseek-harness keeps that program's members, so each type has two shapes. SPEC 6, 7.1.
 */
export const compactionEvents: Vocabulary = defineEvents(
  {
    'compaction/start': z.union([ownStart, foreignStart]),
    'compaction/summary': z.union([ownSummary, foreignSummary]),
    'compaction/end': z.union([ownEnd, foreignEnd]),
  },
  { owner: '@palimpsest/compact' },
)

/** Throws `CompactionError` `vocabulary/missing` unless the session knows all three. */
export function requireVocabulary(session: Session): void {
  for (const [type] of compactionEvents) {
    if (session.vocabulary.accepts(type)) continue
    throw new CompactionError(
      'vocabulary/missing',
      `session ${session.id} does not know ${type}: create or restore it with coreEvents.extend(compactionEvents)`,
    )
  }
}
