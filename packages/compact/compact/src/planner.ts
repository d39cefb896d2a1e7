import type { Message, Session, SessionSeq, ToolCallId } from '@palimpsest/session'
import { balancedBefore } from './boundaries.ts'
import { type Budget, isWithin } from './budget.ts'
import { type Size, sumSizes } from './estimate.ts'
import type { TokenMeter } from './meter.ts'
import { isSummary, openTail } from './pinned.ts'

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

export interface PlanOptions {
  /** Above it a compaction is wanted. */
  readonly budget: Budget
  /**
   * Tokens at the end of the surface that stay. So does the last entry, larger or not, which the next request has to answer;
   * not where this is 0, or messages are pending.
   */
  readonly keepRecentTokens: number
  /** Turns at the end that stay whole, as long as the target can be reached without them. */
  readonly keepRecentTurns?: number
  /** What to come down to, where more than `keepRecentTokens` can stay. As little as may stay unless given. */
  readonly target?: Budget
  /**
   * Plan also below the budget, and give up recent entries where the target is out of reach, but for the last step; without
   * a target where nothing else is to be gained.
   */
  readonly force?: boolean
  /** Messages that the next request adds. */
  readonly pending?: readonly Message[]
  /** Tokens that a summary is taken to cost. Default: a twentieth of the budget, at most 2,000. */
  readonly summaryTokens?: number
}

/**
 * Plans what a summary should stand for: from right after the system head, earlier summaries included, up to a balanced
 * boundary. Of the cuts that reach the target it takes one that keeps much, a turn's start before the middle of a turn. No range
 * covers the head, cuts a call from its result, or reaches into what an open call pins. Writes nothing. SPEC 7.1.
 */
export function planCompaction(session: Session, meter: TokenMeter, options: PlanOptions): CompactionPlan {
  const { budget, force = false } = options
  const usage = meter.usage(options.pending)
  if (!force && isWithin(usage, budget)) {
    return none({ reason: 'below-threshold', tokens: usage.tokens, budget: budget.tokens })
  }
  const open = openTail(session)
  const cuts = cutsOf(session, meter, open.position, options)
  const [first] = cuts
  const limits = limitsOf(session, meter, options)
  const last = limits.map((limit) => cuts.findLast(({ position }) => position <= limit))
  const reached = last.find((cut) => cut?.gains === true && cut.reachesTarget)
  const useful = last.filter((cut) => cut?.gains)
  const chosen = reached ?? (options.target === undefined ? useful[0] : useful.at(-1))
  if (first === undefined || chosen?.gains !== true) {
    return none(open.calls.length > 0 ? { reason: 'blocked', blockedBy: open.calls } : { reason: 'nothing-to-gain' })
  }
  return {
    kind: 'range',
    range: rangeBefore(session, meter, preferred(cuts, chosen, force && options.target !== undefined)),
  }
}

/** A place where the range may end: right before the entry at `position`. */
interface Cut {
  readonly position: number
  readonly isTurnStart: boolean
  /** Of the range before it. */
  readonly tokens: number
  readonly reachesTarget: boolean
  /** The range is worth a summary. */
  readonly gains: boolean
}

function none(refusal: PlanRefusal): CompactionPlan {
  return { kind: 'none', refusal }
}

/** Bytes that a token of a summary is taken to have. */
const BYTES_PER_TOKEN = 4

/** All balanced cuts behind the head and before `end`, in surface order. */
function cutsOf(session: Session, meter: TokenMeter, end: number, options: PlanOptions): readonly Cut[] {
  const { nodes } = session.surface
  const { budget, target, pending = [] } = options
  const summaryTokens = options.summaryTokens ?? Math.min(2000, Math.floor(budget.tokens / 20))
  const sizes = nodes.map((seq) => meter.entry(seq))
  const whole = sumSizes([...sizes, meter.fixed(), meter.measure(pending)])
  const usage = meter.usage(pending)
  // Where the provider counts more than we do, what we estimate to be left is that much larger too.
  const scale = Math.max(1, usage.tokens / Math.max(1, whole.tokens))
  const reaches = (range: Size): boolean => {
    const tokens = (whole.tokens - range.tokens + summaryTokens) * scale
    const left = { tokens, bytes: whole.bytes - range.bytes, images: whole.images - range.images }
    return target !== undefined && isWithin(left, target)
  }
  // Where bytes or images are too many, they are what a summary saves, whatever its tokens.
  const saves = (range: Size): boolean =>
    range.tokens > summaryTokens ||
    (usage.bytes > (budget.bytes ?? Infinity) && range.bytes > summaryTokens * BYTES_PER_TOKEN) ||
    (usage.images > (budget.images ?? Infinity) && range.images > 0)
  const start = startOf(session)
  const cuts: Cut[] = []
  let range: Size = { tokens: 0, bytes: 0, images: 0 }
  for (let position = start; position <= end; position += 1) {
    const entry = nodes[position]
    if (position > start && (entry === undefined || balancedBefore(session, entry))) {
      const isOnlySummary = position === start + 1 && isSummary(session.eventAt(nodes[start] as SessionSeq))
      cuts.push({
        position,
        isTurnStart: entry === undefined || isTurnStart(session, entry),
        tokens: range.tokens,
        reachesTarget: reaches(range),
        gains: !isOnlySummary && saves(range),
      })
    }
    const size = sizes[position]
    if (size !== undefined) range = sumSizes([range, size])
  }
  return cuts
}

function startOf(session: Session): number {
  const [head] = session.surface.nodes
  return head !== undefined && session.eventAt(head)?.type === 'system/message' ? 1 : 0
}

function isTurnStart(session: Session, seq: SessionSeq): boolean {
  const event = session.eventAt(seq)
  return event?.type === 'user/message' && event.data.source.kind !== 'plugin'
}

/** The last positions that a range may end before, the most wanted first. */
function limitsOf(session: Session, meter: TokenMeter, options: PlanOptions): readonly number[] {
  const { keepRecentTokens, keepRecentTurns = 0, force = false, target, pending = [] } = options
  const { nodes } = session.surface
  const last = keepRecentTokens === 0 || pending.length > 0 ? nodes.length : nodes.length - 1
  let byTokens = nodes.length
  for (let kept = 0; byTokens > 0; byTokens -= 1) {
    kept += meter.entry(nodes[byTokens - 1] as SessionSeq).tokens
    if (kept > keepRecentTokens) break
  }
  byTokens = Math.min(byTokens, last)
  const turns = keepRecentTurns === 0 ? [] : nodes.flatMap((seq, at) => (isTurnStart(session, seq) ? [at] : []))
  const byTurns = turns.at(-keepRecentTurns)
  return [
    ...(byTurns !== undefined && byTurns < byTokens ? [byTurns] : []),
    byTokens,
    ...(force && byTokens < last ? [last] : []),
    // Without a target it is no request that asks, but a person: there may be nothing else to take.
    ...(force && target === undefined ? [nodes.length] : []),
  ]
}

/**
 * Of the cuts up to `latest`: the first that reaches the target, or a turn's start behind it. Where none does, the latest
 * when it is urgent, else a turn's start before it that covers at least half as much.
 */
function preferred(cuts: readonly Cut[], latest: Cut, isUrgent: boolean): Cut {
  const allowed = cuts.filter(({ position, gains }) => gains && position <= latest.position)
  const reaching = allowed.filter(({ reachesTarget }) => reachesTarget)
  if (reaching.length > 0) return reaching.find(({ isTurnStart }) => isTurnStart) ?? reaching[0] ?? latest
  if (isUrgent) return latest
  return allowed.findLast(({ isTurnStart, tokens }) => isTurnStart && tokens * 2 >= latest.tokens) ?? latest
}

function rangeBefore(session: Session, meter: TokenMeter, { position }: Cut): CompactionRange {
  const seqs = session.surface.nodes.slice(startOf(session), position)
  return {
    // A cut has at least one entry before it.
    startSeq: seqs[0] as SessionSeq,
    endSeq: seqs.at(-1) as SessionSeq,
    seqs,
    tokens: sumSizes(seqs.map((seq) => meter.entry(seq))).tokens,
  }
}
