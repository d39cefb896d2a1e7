import type { EventOf, ResultContentBlock, Session, SessionSeq } from '@palimpsest/session'
import { textsOf, withContent } from './blocks.ts'
import { type PruneOptions, type ResultBudget, resultBudget } from './options.ts'
import { hasMarker, pruneTexts } from './prune-text.ts'
import { type PlannedResult, type Replaced, applyPlan, recordedSeqOf, sourcesOf } from './replacements.ts'
import { SurfaceMeter, type SurfacedLog } from './surface-meter.ts'
import { utf8Length } from './utf8.ts'

/** What a step over the tool results did. Bytes are UTF-8 bytes of the text of all results on the surface. */
export interface PruneOutcome {
  /** `over`: the sum is above the high mark, also after what was replaced. */
  readonly kind: 'under' | 'pruned' | 'over'
  readonly replaced: readonly Replaced[]
  readonly bytesBefore: number
  readonly bytesAfter: number
  /** What could be freed but waits until a step is worth it; all else is recent or within its budget. */
  readonly deferredBytes: number
}

/**
 * The replacements that `pruneToolResults` would append, oldest first. Pure and without a write: the preview. O(1) below
 * the high mark when `meter` has followed the session, O(surface) above it. Throws `options/invalid`. SPEC 7.2.
 */
export function planPruning(
  log: SurfacedLog,
  options: PruneOptions = {},
  meter: SurfaceMeter = new SurfaceMeter(log),
): readonly PlannedResult[] {
  return planStep(log, resultBudget(options), meter).plan
}

/**
 * Cuts tool results once their sum passes the high mark: oldest first, down to the low mark, each by a content-only
 * replacement that cites it. A second step is taken only when it reaches the low mark or frees as much as lies between the
 * marks, so that steps stay rare. Throws `options/invalid`, and what `Session.append` throws. SPEC 7.1, 7.2.
 */
export function pruneToolResults(
  session: Session,
  options: PruneOptions = {},
  meter: SurfaceMeter = new SurfaceMeter(session),
): PruneOutcome {
  const budget = resultBudget(options)
  const bytesBefore = meter.sums.resultBytes
  const { plan, deferredBytes } = planStep(session, budget, meter)
  const replaced = applyPlan(session, plan)
  const bytesAfter = meter.sums.resultBytes
  const isOver = bytesAfter > budget.highWater
  const kind = isOver ? 'over' : replaced.length > 0 ? 'pruned' : 'under'
  return { kind, replaced, bytesBefore, bytesAfter, deferredBytes }
}

interface Step {
  readonly plan: readonly PlannedResult[]
  readonly deferredBytes: number
}

function planStep(log: SurfacedLog, budget: ResultBudget, meter: SurfaceMeter): Step {
  const total = meter.sums.resultBytes
  if (total <= budget.highWater) return { plan: [], deferredBytes: 0 }
  const results = log.surface.nodes.filter((seq) => meter.sizeOf(seq)?.isResult === true)
  const plan: PlannedResult[] = []
  let left = total
  for (const seq of results.slice(0, Math.max(0, results.length - budget.keepRecent))) {
    if (left <= budget.lowWater) break
    const planned = planResult(log, seq, meter.sizeOf(seq)?.textBytes ?? 0, budget.maxBytes)
    if (planned === undefined) continue
    plan.push(planned)
    left -= planned.bytesBefore - planned.bytesAfter
  }
  const isWorthIt = left <= budget.lowWater || total - left >= budget.highWater - budget.lowWater
  if (isWorthIt || !results.some((seq) => wasPruned(log, seq))) return { plan, deferredBytes: 0 }
  return { plan: [], deferredBytes: total - left }
}

function wasPruned(log: SurfacedLog, seq: SessionSeq): boolean {
  const event = log.eventAt(seq) as EventOf<'tool/result'>
  return event.surfaceOp !== 'append' && hasMarker(textsOf(event), recordedSeqOf(log, event))
}

function planResult(
  log: SurfacedLog,
  seq: SessionSeq,
  bytesBefore: number,
  maxBytes: number,
): PlannedResult | undefined {
  if (bytesBefore <= maxBytes) return undefined
  const event = log.eventAt(seq) as EventOf<'tool/result'>
  const texts = pruneTexts(textsOf(event), { maxBytes, seq: recordedSeqOf(log, event) })
  const bytesAfter = texts.reduce((sum, text) => sum + utf8Length(text ?? ''), 0)
  if (bytesAfter >= bytesBefore) return undefined
  const data = withContent(event, withTexts(event.data.message.content[0].content, texts))
  return { type: 'tool/result', seq, data, sourceEventSeqs: sourcesOf(event), bytesBefore, bytesAfter }
}

/** Puts texts where texts stood; a block of which nothing is left goes. */
function withTexts(
  content: readonly ResultContentBlock[],
  texts: readonly (string | undefined)[],
): readonly ResultContentBlock[] {
  const rest = texts.values()
  return content.flatMap((block): readonly ResultContentBlock[] => {
    if (block.type !== 'text') return [block]
    const text = rest.next().value
    return text === undefined ? [] : [{ ...block, text }]
  })
}
