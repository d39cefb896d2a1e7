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
export type { CompactionPlan, CompactionRange, PlanRefusal } from './planner.ts'
