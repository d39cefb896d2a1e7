import type { Session } from '@palimpsest/session'
import { type PruneImagesOptions, type PruneOptions, imageBudget, resultBudget } from './options.ts'
import { type PruneImagesOutcome, pruneImages } from './prune-images.ts'
import { type PruneOutcome, pruneToolResults } from './prune-results.ts'
import { SurfaceMeter } from './surface-meter.ts'

export interface ResultPruningOptions {
  /** Budget of tool results; `false` leaves them alone. */
  readonly results?: PruneOptions | false
  /** Budget of images; `false` leaves them alone. */
  readonly images?: PruneImagesOptions | false
  /** Hears of every step that replaced something or ended over budget. */
  readonly onReport?: (report: PruningReport, session: Session) => void
}

/** What one run did; a member is missing where the options turn it off. */
export interface PruningReport {
  readonly images?: PruneImagesOutcome
  readonly results?: PruneOutcome
}

/** All that the plugin needs of a loop: `AgentLoop` is one. */
export interface PreStepHook {
  on(hook: 'agent/pre-step', listener: (context: { readonly session: Session }) => void): () => void
}

export interface ResultPruning {
  /** Runs before every step. The result detaches. */
  attach(loop: PreStepHook): () => void
  /** Runs now: images first, then results. O(new events) while the session is within budget. */
  run(session: Session): PruningReport
}

/**
 * Keeps tool results and images of any number of sessions within budget. Throws `options/invalid`. `run` throws what
 * `Session.append` throws. SPEC 7.1, 7.2.
 */
export function resultPruning(options: ResultPruningOptions = {}): ResultPruning {
  const { results = {}, images = {}, onReport } = options
  // A wrong option is found where it is written, not at the first step.
  if (results !== false) resultBudget(results)
  if (images !== false) imageBudget(images)
  const meters = new WeakMap<Session, SurfaceMeter>()

  const run = (session: Session): PruningReport => {
    const meter = meters.get(session) ?? new SurfaceMeter(session)
    meters.set(session, meter)
    const report: PruningReport = {
      ...(images === false ? {} : { images: pruneImages(session, images, meter) }),
      ...(results === false ? {} : { results: pruneToolResults(session, results, meter) }),
    }
    if (Object.values(report).some(({ kind }: PruneOutcome | PruneImagesOutcome) => kind !== 'under')) {
      onReport?.(report, session)
    }
    return report
  }
  return { run, attach: (loop) => loop.on('agent/pre-step', ({ session }) => void run(session)) }
}
