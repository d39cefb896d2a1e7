import {
  type Budget,
  type CompactionOutcome,
  type EstimateOptions,
  type Summarize,
  compactionEvents,
} from '@palimpsest/compact'
import type { Session } from '@palimpsest/session'
import { CompactBasicError } from './errors.ts'

/** Either what a request may hold, or the model's context and how much of it stays free for the answer. */
export type BudgetOptions =
  | { readonly budget: Budget; readonly contextWindow?: never; readonly reserve?: never }
  | {
      readonly budget?: never
      /** Tokens of the model's context. */
      readonly contextWindow: number
      /** Tokens of it that stay free for the answer. Default: an eighth of the window, at most 32,000. */
      readonly reserve?: number
    }

export type BasicCompactionOptions = BudgetOptions & {
  /** Its vocabulary is composed with `compactionEvents`. */
  readonly session: Session
  readonly summarize: Summarize
  /** Share of the budget above which an automatic compaction acts. Default 0.85. */
  readonly highWater?: number
  /** Share of the budget that it comes down to: below `highWater`, far enough that it is rare. Default 0.5. */
  readonly lowWater?: number
  /** Tokens at the end that stay as they are. Default: half of what `lowWater` leaves, at most 20,000. */
  readonly keepRecentTokens?: number
  /** Turns at the end that stay whole as long as `lowWater` can be reached without them. None unless given. */
  readonly keepRecentTurns?: number
  /** Tokens that a summary is taken to cost. Default: a twentieth of the budget, at most 2,000. */
  readonly summaryTokens?: number
  /** How tokens are estimated. */
  readonly estimate?: EstimateOptions
  /** Resolves when everything appended so far is durable. */
  readonly flush?: () => void | Promise<void>
  /** Milliseconds that the summariser may take, more than 0. Default 300,000. */
  readonly timeoutMs?: number
  /** Makes compaction ids. Random UUIDs unless given. */
  readonly createId?: () => string
  /** Hears every outcome but `below-threshold`. What it throws is not contained. */
  readonly onOutcome?: (outcome: CompactionOutcome) => void
  /**
   * What an attached loop does when the session is over its budget and compaction does not help: `stop` ends the turn with
   * an error that names the largest entries, `continue` lets the provider judge. Default `stop`.
   */
  readonly onNoProgress?: 'stop' | 'continue'
}

/** The policy's numbers, checked. */
export interface Policy {
  readonly budget: Budget
  readonly highWater: number
  readonly lowWater: number
  readonly keepRecentTokens: number | undefined
  readonly keepRecentTurns: number
  readonly summaryTokens: number | undefined
}

/** Throws `CompactBasicError` `options/invalid`. */
export function policyOf(options: BasicCompactionOptions): Policy {
  const { highWater = 0.85, lowWater = 0.5, keepRecentTokens, keepRecentTurns = 0, summaryTokens } = options
  const budget = budgetOf(options)
  for (const [name, limit] of Object.entries(budget))
    require(limit > 0, `budget.${name} is ${limit}: expected more than 0`)
  require(lowWater > 0 &&
    lowWater < highWater &&
    highWater <= 1, `lowWater is ${lowWater} and highWater ${highWater}: expected 0 < lowWater < highWater ≤ 1`)
  for (const [name, count] of Object.entries({ keepRecentTokens, keepRecentTurns, summaryTokens })) {
    require(count === undefined || count >= 0, `${name} is ${String(count)}: expected 0 or more`)
  }
  const { timeoutMs = Infinity, session } = options
  require(timeoutMs > 0, `timeoutMs is ${timeoutMs}: expected more than 0 milliseconds`)
  const unknown = [...compactionEvents].find(([type]) => !session.vocabulary.accepts(type))
  const wayOut = 'create or restore it with coreEvents.extend(compactionEvents)'
  require(unknown === undefined, `session ${session.id} does not know ${unknown?.[0] ?? ''}: ${wayOut}`)
  return { budget, highWater, lowWater, keepRecentTokens, keepRecentTurns, summaryTokens }
}

function budgetOf({ budget, contextWindow, reserve }: BudgetOptions): Budget {
  if (budget !== undefined) return budget
  require(contextWindow > 0, `contextWindow is ${contextWindow}: expected more than 0 tokens`)
  const free = reserve ?? Math.min(32_000, Math.floor(contextWindow / 8))
  require(free >= 0 &&
    free < contextWindow, `reserve is ${free}: expected less than the context's ${contextWindow} tokens`)
  return { tokens: contextWindow - free }
}

function require(isSound: boolean, message: string): void {
  if (!isSound) throw new CompactBasicError('options/invalid', message)
}

/** A share of each limit of a budget. */
export function shareOf({ tokens, bytes, images }: Budget, share: number): Budget {
  const part = (limit: number): number => Math.floor(limit * share)
  return {
    tokens: part(tokens),
    ...(bytes === undefined ? {} : { bytes: part(bytes) }),
    ...(images === undefined ? {} : { images: part(images) }),
  }
}
