import type { CompactionOutcome, PlanRefusal } from '@palimpsest/compact'
import type { Cli } from '../cli.ts'
import type { CompactReport } from '../compact/compact.ts'
import { argument, count, oneLine, wrap } from './text.ts'

/** A compaction as the command reports it with `--json`. */
export interface CompactJson {
  readonly id: string
  readonly preview: boolean
  readonly summarizer: string
  /** `planned`: it would be done. `none`: nothing was planned, and `reason` says why. */
  readonly outcome: 'compacted' | 'planned' | 'none' | 'failed'
  readonly tokensBefore: number
  readonly tokensAfter: number
  readonly compactionId?: string
  readonly replacementSeq?: number
  /** Surface entries that the summary stands for. */
  readonly covers?: readonly number[]
  readonly summary?: string
  readonly reason?: string
  readonly message?: string
  /** Ids of open calls, where they pin the surface. */
  readonly blockedBy?: readonly string[]
}

export function compactJson(report: CompactReport): CompactJson {
  const { id, preview, summarizer, outcome, tokensBefore, tokensAfter, summary } = report
  const shared = { id, preview, summarizer, tokensBefore, tokensAfter }
  switch (outcome.kind) {
    case 'compacted': {
      const { compactionId, replacementSeq, shadowedSeqs: covers } = outcome
      const text = summary === undefined ? {} : { summary }
      if (preview) return { ...shared, outcome: 'planned', covers, ...text }
      return { ...shared, outcome: 'compacted', compactionId, replacementSeq, covers, ...text }
    }
    case 'none': {
      const { refusal } = outcome
      const blocked = refusal.reason === 'blocked' ? { blockedBy: refusal.blockedBy } : {}
      return { ...shared, outcome: 'none', reason: refusal.reason, message: whyNot(refusal), ...blocked }
    }
    case 'failed':
      return { ...shared, outcome: 'failed', reason: outcome.code, message: outcome.message }
    default:
      return { ...shared, outcome: 'none', reason: 'no-progress', message: whyStuck(outcome) }
  }
}

function whyNot(refusal: PlanRefusal): string {
  switch (refusal.reason) {
    case 'blocked':
      return `calls without a result pin the surface: ${refusal.blockedBy.join(', ')}; let them end, or \`palimpsest repair\` the session if nobody runs them`
    case 'nothing-to-gain':
      return 'too little stands between the system prompt and what must stay: keep less with --keep-recent'
    default:
      return `${refusal.tokens} tokens are within the budget of ${refusal.budget}`
  }
}

function whyStuck({ tokens, budget, largest }: CompactionOutcome & { readonly kind: 'no-progress' }): string {
  return `${tokens} tokens are over the budget of ${budget}; the largest entries are ${largest.map(({ seq }) => seq).join(', ')}`
}

/** A line about how an automatic or manual compaction ended; `undefined` where nothing is to be said. */
export function outcomeLine(outcome: CompactionOutcome): string | undefined {
  switch (outcome.kind) {
    case 'compacted':
      return `compacted ${count(outcome.shadowedSeqs.length, 'entry')} into event ${outcome.replacementSeq}: ${tokens(outcome.tokensBefore)} became ${tokens(outcome.tokensAfter)}`
    case 'none':
      return outcome.refusal.reason === 'below-threshold' ? undefined : `not compacted: ${whyNot(outcome.refusal)}`
    case 'failed':
      return `not compacted (${outcome.code}): ${outcome.message}`
    default:
      return `compaction does not help: ${whyStuck(outcome)}`
  }
}

function tokens(n: number): string {
  return count(n, 'token')
}

export function renderCompacted({ io, style }: Cli, report: CompactReport): string {
  const { id, preview, summarizer, outcome, tokensBefore, tokensAfter, summary } = report
  const name = style('bold', oneLine(id))
  if (outcome.kind !== 'compacted') {
    const { reason = '', message = '' } = compactJson(report)
    return `${name}: ${style('yellow', 'not compacted')} (${reason}): ${oneLine(message)}\n`
  }
  const { shadowedSeqs: covers, replacementSeq } = outcome
  const span = `${count(covers.length, 'entry')}, ${covers[0]} to ${covers.at(-1)}`
  const isOffline = summarizer === 'extract'
  const maker = isOffline
    ? 'an extract of the texts themselves, made offline without a model; --summarizer provider/model asks one'
    : preview
      ? `${summarizer} would write it; the sizes and the text are those of an offline extract`
      : `written by ${summarizer}`
  const lines = [
    preview
      ? `${name}: a summary would take the place of ${span}`
      : `${name}: ${style('green', 'compacted')}, event ${replacementSeq} takes the place of ${span}`,
    `  next request  about ${tokens(tokensBefore)}, then ${tokens(tokensAfter)}`,
    `  summary       ${oneLine(maker)}`,
    ...(summary ?? '')
      .split('\n')
      .flatMap((line) => wrap(oneLine(line), Math.max(40, io.columns - 4)).map((part) => style('dim', `    ${part}`))),
    ...(preview
      ? [style('dim', 'nothing was written')]
      : [style('dim', `palimpsest compact ${argument(id)} --undo ${replacementSeq}`)]),
  ]
  return `${lines.join('\n')}\n`
}
