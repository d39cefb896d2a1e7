import {
  type Budget,
  type CompactionEngine,
  type CompactionOutcome,
  type CompactionPlan,
  type CompactionTrigger,
  type ContextUsage,
  type PlanOptions,
  type RangeEnds,
  type Size,
  TokenMeter,
  isWithin,
  largestPinned,
  planCompaction,
  runCompaction,
} from '@palimpsest/compact'
import type { Message, Session, SessionSeq } from '@palimpsest/session'
import { LearnedCeiling } from './ceiling.ts'
import { compactionEnded } from './compaction-ended.ts'
import { CompactBasicError } from './errors.ts'
import { frameSummary } from './frame.ts'
import { LogWatch } from './log-watch.ts'
import type { CompactableLoop } from './loop-hooks.ts'
import { type BasicCompactionOptions, type Policy, policyOf, shareOf } from './options.ts'
import { Progress } from './progress.ts'

/** How many entries a `no-progress` names. */
const NAMED = 5

export interface AutomaticOptions {
  /** Messages that the next request adds: they count. */
  readonly pending?: readonly Message[]
  readonly signal?: AbortSignal
}

/** What a compaction would do. */
export interface CompactionPreview {
  readonly plan: CompactionPlan
  /** The session as it is. */
  readonly usage: ContextUsage
  /** The budget in force: as configured, or less where a provider refused less. */
  readonly budget: Budget
  /** Tokens of the next request, now and after the plan, with a summary of the size that the policy assumes. */
  readonly tokensBefore: number
  readonly tokensAfter: number
}

/** The compaction policy of one session. SPEC 7.1. */
export interface BasicCompaction extends CompactionEngine {
  readonly meter: TokenMeter
  /** `threshold` acts above the high water mark; `overflow` always, and takes the session's size for too large from then on. */
  compactIfNeeded(trigger: CompactionTrigger, options?: AutomaticOptions): Promise<CompactionOutcome>
  /** What `compactNow` would do, or an automatic compaction by that trigger. Writes nothing and calls no summariser. */
  preview(trigger?: CompactionTrigger): CompactionPreview
  /**
   * Compacts before a step when that is needed, and after a request that was too large, which is then sent again. The result
   * detaches. With `onNoProgress: 'stop'` the listener before a step throws `CompactBasicError` `no-progress`.
   */
  attach(loop: CompactableLoop): () => void
}

/**
 * Compacts a session by high and low water marks. Throws `CompactBasicError` `options/invalid`. SPEC 7.1.
 */
export function basicCompaction(options: BasicCompactionOptions): BasicCompaction {
  return new WaterMarkCompaction(options)
}

class WaterMarkCompaction implements BasicCompaction {
  readonly meter: TokenMeter
  readonly #options: BasicCompactionOptions
  readonly #session: Session
  readonly #policy: Policy
  readonly #watch: LogWatch
  readonly #progress = new Progress()
  readonly #ceiling = new LearnedCeiling()

  constructor(options: BasicCompactionOptions) {
    this.#options = options
    this.#policy = policyOf(options)
    this.#session = options.session
    this.meter = new TokenMeter(options.session, options.estimate)
    this.#watch = new LogWatch(options.session)
  }

  async compactIfNeeded(
    trigger: CompactionTrigger,
    { pending = [], signal }: AutomaticOptions = {},
  ): Promise<CompactionOutcome> {
    if (trigger === 'manual') return this.#manual(signal)
    const outcome = await this.#automatic(trigger, pending, signal)
    return this.#tell(outcome)
  }

  compactNow(): Promise<CompactionOutcome> {
    return this.#manual(undefined)
  }

  async compactRegion(startSeq: SessionSeq, endSeq: SessionSeq): Promise<CompactionOutcome> {
    return this.#tell(await this.#runManually({ startSeq, endSeq }, undefined))
  }

  preview(trigger: CompactionTrigger = 'manual'): CompactionPreview {
    const usage = this.meter.usage()
    const budget = this.#budget()
    const options = this.#planOptions(trigger, budget, [])
    const plan = planCompaction(this.#session, this.meter, options)
    const tokensAfter =
      plan.kind === 'none' ? usage.tokens : Math.max(0, usage.tokens - plan.range.tokens) + options.summaryTokens
    return { plan, usage, budget, tokensBefore: usage.tokens, tokensAfter }
  }

  attach(loop: CompactableLoop): () => void {
    const detach = [
      loop.on('agent/pre-step', async ({ session, input, signal }) => {
        if (session !== this.#session) return
        const outcome = await this.compactIfNeeded('threshold', { pending: input, signal })
        if (outcome.kind === 'no-progress') this.#stopWhereOver(outcome, input)
      }),
      loop.on('agent/request-error', async ({ session, kind, signal }) => {
        if (session !== this.#session || kind !== 'overflow') return undefined
        return (await this.#recover(signal)) ? 'retry' : 'fail'
      }),
    ]
    return () => {
      for (const stop of detach) stop()
    }
  }

  /** Whether the surface became smaller since the refusal, be it by little, or by a compaction that was under way. */
  async #recover(signal: AbortSignal): Promise<boolean> {
    const { surface } = this.#session
    const { replaceGeneration } = surface
    const outcome = await this.compactIfNeeded('overflow', { signal })
    if (outcome.kind === 'failed' && outcome.code === 'busy') {
      await compactionEnded(this.#session, AbortSignal.any([signal, AbortSignal.timeout(this.#timeoutMs)]))
    }
    return surface.replaceGeneration > replaceGeneration
  }

  async #automatic(
    trigger: 'threshold' | 'overflow',
    pending: readonly Message[],
    signal: AbortSignal | undefined,
  ): Promise<CompactionOutcome> {
    this.#watch.announce(pending)
    this.#progress.armAt(this.#watch.inputs)
    const usage = this.meter.usage(pending)
    if (trigger === 'overflow') this.#ceiling.learn(usage.tokens, this.#watch.config)
    const budget = this.#budget()
    const options = this.#planOptions(trigger, budget, pending)
    if (trigger === 'threshold' && isWithin(usage, options.budget)) {
      return {
        kind: 'none',
        refusal: { reason: 'below-threshold', tokens: usage.tokens, budget: options.budget.tokens },
      }
    }
    if (this.#progress.isStopped) return this.#noProgress(pending)
    const plan = planCompaction(this.#session, this.meter, options)
    if (plan.kind === 'range') return this.#attempt(plan.range, trigger, options, signal)
    const isLost = plan.refusal.reason === 'nothing-to-gain' && (trigger === 'overflow' || !isWithin(usage, budget))
    if (!isLost) return { kind: 'none', refusal: plan.refusal }
    this.#progress.stop()
    return this.#noProgress(pending)
  }

  /** Runs one automatic compaction and judges it by its effect. */
  async #attempt(
    range: RangeEnds,
    trigger: CompactionTrigger,
    { budget, pending = [] }: PlanOptions,
    signal: AbortSignal | undefined,
  ): Promise<CompactionOutcome> {
    const before = this.meter.usage(pending)
    const outcome = await this.#run(range, trigger, signal, pending)
    if (outcome.kind === 'failed' && outcome.code !== 'busy' && outcome.code !== 'aborted') this.#progress.failed()
    if (outcome.kind !== 'compacted') return outcome
    const after = this.meter.usage(pending)
    const saved = outcome.tokensBefore - outcome.tokensAfter
    const shares = measuresOver(before, budget).map((measure) => 1 - after[measure] / before[measure])
    const share = Math.max(saved / Math.max(1, after.tokens + saved), ...shares)
    this.#progress.ran({ share, isEnough: isWithin(after, budget) })
    return this.#progress.isStopped ? this.#noProgress(pending) : outcome
  }

  async #manual(signal: AbortSignal | undefined): Promise<CompactionOutcome> {
    const plan = planCompaction(this.#session, this.meter, this.#planOptions('manual', this.#budget(), []))
    if (plan.kind === 'none') return this.#tell({ kind: 'none', refusal: plan.refusal })
    return this.#tell(await this.#runManually(plan.range, signal))
  }

  async #runManually(range: RangeEnds, signal: AbortSignal | undefined): Promise<CompactionOutcome> {
    const outcome = await this.#run(range, 'manual', signal)
    if (outcome.kind === 'compacted') this.#progress.rearm()
    return outcome
  }

  #run(
    range: RangeEnds,
    trigger: CompactionTrigger,
    signal: AbortSignal | undefined,
    pending: readonly Message[] = [],
  ): Promise<CompactionOutcome> {
    const { summarize, flush, createId } = this.#options
    return runCompaction(this.#session, range, summarize, {
      trigger,
      timeoutMs: this.#timeoutMs,
      frame: frameSummary,
      measure: (messages) => this.meter.measure(messages).tokens,
      shrinks: (messages, summary) => this.#shrinks(messages, summary, pending),
      ...(flush === undefined ? {} : { flush }),
      ...(signal === undefined ? {} : { signal }),
      ...(createId === undefined ? {} : { createId }),
    })
  }

  /** Fewer tokens; or fewer bytes or images where those are over their mark, and the tokens have room for it. */
  #shrinks(messages: readonly Message[], summary: Message, pending: readonly Message[]): boolean {
    const [range, after] = [this.meter.measure(messages), this.meter.measure([summary])]
    if (after.tokens < range.tokens) return true
    const mark = shareOf(this.#budget(), this.#policy.highWater)
    const usage = this.meter.usage(pending)
    const isSmaller = measuresOver(usage, mark).some((measure) => after[measure] < range[measure])
    return isSmaller && usage.tokens - range.tokens + after.tokens <= mark.tokens
  }

  get #timeoutMs(): number {
    return this.#options.timeoutMs ?? 300_000
  }

  #budget(): Budget {
    return this.#ceiling.within(this.#policy.budget, this.#watch.config)
  }

  /** What a person asks for leaves as little as may stay; what the budget asks for comes down to the low water mark. */
  #planOptions(
    trigger: CompactionTrigger,
    budget: Budget,
    pending: readonly Message[],
  ): PlanOptions & { readonly summaryTokens: number } {
    const { highWater, lowWater, keepRecentTurns } = this.#policy
    const [mark, target] = [shareOf(budget, highWater), shareOf(budget, lowWater)]
    // What is recent is kept by its tokens: where they are not the matter, it may not be in the way.
    const isOfTokens = measuresOver(this.meter.usage(pending), mark).length === 0
    return {
      budget: mark,
      keepRecentTokens: this.#policy.keepRecentTokens ?? Math.min(20_000, Math.floor(target.tokens / 2)),
      keepRecentTurns,
      summaryTokens: this.#policy.summaryTokens ?? Math.min(2000, Math.floor(budget.tokens / 20)),
      force: trigger !== 'threshold' || !isOfTokens,
      pending,
      ...(trigger === 'manual' ? {} : { target }),
    }
  }

  #noProgress(pending: readonly Message[]): CompactionOutcome & { readonly kind: 'no-progress' } {
    return {
      kind: 'no-progress',
      tokens: this.meter.usage(pending).tokens,
      budget: this.#budget().tokens,
      largest: largestPinned(this.#session, this.meter, NAMED),
    }
  }

  /** Between the high water mark and the budget the request still fits. */
  #stopWhereOver(outcome: CompactionOutcome & { readonly kind: 'no-progress' }, input: readonly Message[]): void {
    if (this.#options.onNoProgress === 'continue' || isWithin(this.meter.usage(input), this.#budget())) return
    const { tokens, budget, largest } = outcome
    const entries = largest.map(({ seq, tokens, reason }) => `event ${seq} (${reason}, ${tokens} tokens)`)
    const taken = this.meter.measure(input).tokens
    const named = [...entries, ...(taken > 0 ? [`the new input (${taken} tokens)`] : [])].join(', ')
    const { tokens: fixed } = this.meter.fixed()
    const tools = fixed > 0 ? `; tools and instructions take ${fixed} tokens` : ''
    throw new CompactBasicError(
      'no-progress',
      `compaction does not get the session from ${tokens} tokens below its budget of ${budget}. The largest that stay: ${named}${tools}. ` +
        'Shorten them, raise the budget, or compact by hand',
      { largest },
    )
  }

  #tell(outcome: CompactionOutcome): CompactionOutcome {
    const isQuiet = outcome.kind === 'none' && outcome.refusal.reason === 'below-threshold'
    if (!isQuiet) this.#options.onOutcome?.(outcome)
    return outcome
  }
}

/** Which of the measures beside tokens pass their limits. */
function measuresOver(size: Size, limits: Budget): readonly ('bytes' | 'images')[] {
  return (['bytes', 'images'] as const).filter((measure) => size[measure] > (limits[measure] ?? Infinity))
}
