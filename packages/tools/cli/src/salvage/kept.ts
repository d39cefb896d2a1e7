import type { History } from './history.ts'
import type { SalvagePart } from './sections.ts'

/** Histories share their begins, and each session holds its own copy: they may hold this many times what the log holds. */
const COPIES = 8
/** Each is a directory of the store. */
const MOST = 1000
/** However little the log holds, this many events are no burden. */
const ALWAYS = 100_000

/**
 * The histories that become sessions: the fullest first, a thousand at most, and so long as all of them together stay in
 * proportion to the log. The records that only others hold are kept raw behind the first one. Pure.
 */
export function keptHistories(histories: readonly History[], records: number): readonly History[] {
  const limit = Math.max(ALWAYS, COPIES * records)
  const kept: History[] = []
  const left: History[] = []
  const held = new Set<SalvagePart>()
  let spent = 0
  for (const history of histories) {
    if (kept.length > 0 && (kept.length === MOST || spent + history.records > limit)) {
      left.push(history)
      continue
    }
    spent += history.records
    kept.push(history)
    for (const step of history.allSteps()) if (step.kind !== 'missing') held.add(step.part)
  }
  for (const { steps } of left) {
    for (const step of steps) {
      if (step.kind === 'missing' || held.has(step.part)) continue
      const reason = step.kind === 'bytes' ? step.reason : 'too-many-histories'
      kept[0]?.steps.push({ kind: 'bytes', part: step.part, reason })
    }
  }
  return kept
}
