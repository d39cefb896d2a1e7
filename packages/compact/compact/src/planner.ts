import type { SessionSeq, ToolCallId } from '@palimpsest/session'

/** A range of surface entries that a summary may stand for: balanced, and past the protected head. */
export interface CompactionRange {
  readonly startSeq: SessionSeq
  /** Inclusive. */
  readonly endSeq: SessionSeq
  /** All entries of the range, in surface order. */
  readonly seqs: readonly SessionSeq[]
  readonly tokens: number
}

/** Why there is no range. Never a silent nothing. SPEC 7.1. */
export type PlanRefusal =
  /** The surface is within its budget. */
  | { readonly reason: 'below-threshold'; readonly tokens: number; readonly budget: number }
  /** No balanced range shrinks the surface: too little stands between the head and what must be kept. */
  | { readonly reason: 'nothing-to-gain' }
  /** Calls that no result answered pin the surface from their message on. */
  | { readonly reason: 'blocked'; readonly blockedBy: readonly ToolCallId[] }

export type CompactionPlan =
  | { readonly kind: 'range'; readonly range: CompactionRange }
  | { readonly kind: 'none'; readonly refusal: PlanRefusal }
