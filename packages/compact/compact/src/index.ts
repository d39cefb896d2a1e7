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
export { activeCompaction } from './lock.ts'
export type { CompactionPlan, CompactionRange, PlanRefusal } from './planner.ts'
export type { RangeEnds } from './span.ts'
export { runCompaction } from './transaction.ts'
export type { RunCompactionOptions } from './transaction.ts'
export { undoCompaction } from './undo.ts'
export type { UndoOptions } from './undo.ts'
