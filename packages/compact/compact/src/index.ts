export { balancedAfter, balancedBefore } from './boundaries.ts'
export type {
  Compacted,
  CompactionEngine,
  CompactionFailureCode,
  CompactionOutcome,
  CompactionTrigger,
  PinnedEntry,
  Summarize,
  Summary,
  SummaryRequest,
} from './contract.ts'
export { CompactionError } from './errors.ts'
export type { CompactionErrorCode } from './errors.ts'
export { compactionEvents } from './events.ts'
export type { CompactionEnd, CompactionStart, CompactionSummary } from './events.ts'
export type { ForeignCompactionEnd, ForeignCompactionStart, ForeignCompactionSummary } from './foreign-events.ts'
export { activeCompaction } from './lock.ts'
export { isWithin } from './budget.ts'
export type { Budget } from './budget.ts'
export { estimateImageTokens, estimateTokens } from './estimate.ts'
export type { EstimateOptions, Size } from './estimate.ts'
export { TokenMeter } from './meter.ts'
export type { ContextUsage } from './meter.ts'
export { largestPinned } from './pinned.ts'
export { planCompaction } from './planner.ts'
export type { CompactionPlan, CompactionRange, PlanOptions, PlanRefusal } from './planner.ts'
export type { RangeEnds } from './span.ts'
export { runCompaction } from './transaction.ts'
export type { RunCompactionOptions } from './transaction.ts'
export { remapReferences } from './references.ts'
export type { SeqMap } from './references.ts'
export { undoCompaction } from './undo.ts'
export type { UndoOptions } from './undo.ts'
