import type { Json, Message, Session, SessionSeq, TokenUsage } from '@palimpsest/session'
import type { PlanRefusal } from './planner.ts'

/** What asked for a compaction: a budget, a provider's overflow error, or a person. */
export type CompactionTrigger = 'threshold' | 'overflow' | 'manual'

/** Compacts one session. SPEC 7.1. */
export interface CompactionEngine {
  /** Compacts when the budget asks for it; a trigger `overflow` or `manual` always asks. */
  compactIfNeeded(trigger: CompactionTrigger): Promise<CompactionOutcome>
  /** Compacts now, over or under the budget. */
  compactNow(): Promise<CompactionOutcome>
  /**
   * Compacts from one surface entry through another, both inclusive. Rejects with `CompactionError` and a `range/` code where
   * they enclose no balanced range behind the system prompt; then nothing was written.
   */
  compactRegion(startSeq: SessionSeq, endSeq: SessionSeq): Promise<CompactionOutcome>
}

export interface Compacted {
  readonly kind: 'compacted'
  readonly compactionId: string
  /** The `user/message` that stands for the range. */
  readonly replacementSeq: SessionSeq
  /** In surface order. */
  readonly shadowedSeqs: readonly SessionSeq[]
  /** Tokens of the range, and of what stands for it. */
  readonly tokensBefore: number
  readonly tokensAfter: number
}

/** Why a compaction failed. The surface is as it was, except for `flush-failed`. */
export type CompactionFailureCode =
  /** Another compaction of this lifetime is under way. */
  | 'busy'
  /** A covered entry was replaced while the summary was made. */
  | 'changed'
  /** The summary has no text. */
  | 'blank-summary'
  /** The summary does not shrink what it stands for. */
  | 'not-smaller'
  /** The summariser threw. */
  | 'summarizer-failed'
  | 'aborted'
  /** The summariser gave no answer in time. */
  | 'timeout'
  /** The session refused an event of the bracket: a listener vetoed it, as persistence does while it cannot write. */
  | 'append-refused'
  /** The replacement could not be made durable. It stands in memory; the next flush tries again. */
  | 'flush-failed'

export type CompactionOutcome =
  | Compacted
  /** Nothing was planned, and why. */
  | { readonly kind: 'none'; readonly refusal: PlanRefusal }
  | {
      readonly kind: 'failed'
      readonly code: CompactionFailureCode
      readonly message: string
      readonly compactionId?: string
    }
  /** Automatic compaction does not get below the budget: it stops until a new user turn or a manual compaction. */
  | {
      readonly kind: 'no-progress'
      readonly tokens: number
      readonly budget: number
      readonly largest: readonly PinnedEntry[]
    }

/** An entry that compaction cannot remove. */
export interface PinnedEntry {
  readonly seq: SessionSeq
  readonly tokens: number
  readonly reason: 'system-head' | 'open-call' | 'recent' | 'summary'
}

/** What a summariser reads. */
export interface SummaryRequest {
  readonly session: Session
  /** Surface entries that the summary will stand for, in surface order; earlier summaries among them. */
  readonly seqs: readonly SessionSeq[]
  /** Their messages. */
  readonly messages: readonly Message[]
  /** Every derived message before and in the range: what the model saw, for a prompt that repeats the cached prefix. */
  readonly prefix: readonly Message[]
  readonly signal: AbortSignal
}

export interface Summary {
  readonly text: string
  readonly provider?: string
  readonly model?: string
  readonly usage?: TokenUsage
  readonly meta?: Json
}

export type Summarize = (request: SummaryRequest) => Summary | Promise<Summary>
