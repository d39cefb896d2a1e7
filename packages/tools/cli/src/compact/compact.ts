import type { CompactionOutcome, RangeEnds, Summarize } from '@palimpsest/compact'
import { type BasicCompaction, basicCompaction, extractSummarizer, modelSummarizer } from '@palimpsest/compact-basic'
import type { Session, SessionId, SessionSeq } from '@palimpsest/session'
import type { SessionPersistence } from '@palimpsest/session-persistence'
import { openModel } from '../chat/models.ts'
import type { Io } from '../io.ts'
import { rehearsalOf, withWriter } from '../writing.ts'

export interface CompactSettings {
  readonly isPreview: boolean
  readonly range: RangeEnds | undefined
  /** Tokens at the end that stay as they are. */
  readonly keepRecent: number
  /** `extract`, or a model as provider/model. */
  readonly summarizer: string
  readonly baseUrl: string | undefined
}

/** What a compaction did, or would do. Tokens are of the next request. */
export interface CompactReport {
  readonly id: SessionId
  readonly preview: boolean
  readonly summarizer: string
  readonly outcome: CompactionOutcome
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** What the model would read; of the extract, where a preview asks no model. */
  readonly summary?: string
}

/** A manual compaction has no budget to meet; this one sizes the engine's other defaults. */
const budget = { tokens: 200_000 }
/** Tokens that an extract is taken to cost when the range is planned. */
const extractTokens = 200

/**
 * Compacts a stored session. First on a copy with the extract summariser: what is refused there writes nothing, and a
 * preview ends there. Throws `CompactionError` with a `range/` code, and what opening a model throws.
 */
export async function compactStored(
  store: SessionPersistence,
  io: Io,
  id: SessionId,
  settings: CompactSettings,
): Promise<CompactReport> {
  const isOffline = settings.summarizer === 'extract'
  const summarize = isOffline
    ? extractSummarizer()
    : modelSummarizer({ model: await openModel(io, settings.summarizer, settings.baseUrl), prefix: 'plain' })
  const copy = await rehearsalOf(store, id)
  const rehearsal = await attempt(copy, { ...settings, summarize: extractSummarizer(), flush: () => undefined })
  const isHopeless = rehearsal.outcome.kind === 'none' || (isOffline && rehearsal.outcome.kind !== 'compacted')
  const report = { id, preview: settings.isPreview, summarizer: settings.summarizer }
  if (settings.isPreview || isHopeless) return { ...report, ...rehearsal }
  return withWriter(store, id, async ({ session, commit }) => {
    const done = await attempt(session, { ...settings, summarize, flush: commit })
    // The end of the bracket comes after the replacement is durable. What failed before that leaves no trace.
    if (done.outcome.kind === 'compacted') await commit()
    return { ...report, ...done }
  })
}

interface AttemptOptions extends CompactSettings {
  readonly summarize: Summarize
  readonly flush: () => void | Promise<void>
}

async function attempt(
  session: Session,
  { range, keepRecent, summarizer, summarize, flush }: AttemptOptions,
): Promise<Omit<CompactReport, 'id' | 'preview' | 'summarizer'>> {
  const engine: BasicCompaction = basicCompaction({
    session,
    summarize,
    flush,
    budget,
    keepRecentTokens: keepRecent,
    ...(summarizer === 'extract' ? { summaryTokens: extractTokens } : {}),
  })
  const tokensBefore = engine.meter.usage().tokens
  const outcome = await (range === undefined ? engine.compactNow() : engine.compactRegion(range.startSeq, range.endSeq))
  if (outcome.kind !== 'compacted') return { outcome, tokensBefore, tokensAfter: tokensBefore }
  // Both by the same measure: the provider's own count is void once the surface is another.
  const tokensAfter = Math.max(0, tokensBefore - outcome.tokensBefore + outcome.tokensAfter)
  return { outcome, tokensBefore, tokensAfter, summary: summaryOf(session, outcome.replacementSeq) }
}

function summaryOf(session: Session, seq: SessionSeq): string {
  const event = session.eventAt(seq)
  if (event?.type !== 'user/message') return ''
  return event.data.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
}
