import type { Session, SessionId } from '@palimpsest/session'
import type { SessionPersistence } from '@palimpsest/session-persistence'
import {
  type PruneImagesOptions,
  type PruneImagesOutcome,
  type PruneOptions,
  type PruneOutcome,
  pruneImages,
  pruneToolResults,
} from '@palimpsest/tool-result-pruner'
import { rehearsalOf, withWriter } from '../writing.ts'

export interface PruneSettings {
  readonly isPreview: boolean
  /** UTF-8 bytes of text that an old result may keep. */
  readonly maxBytes: number
  /** Newest results that stay whole. */
  readonly keepRecent: number
  /** Images, and declared bytes of all of them, that may stay. */
  readonly images: number
  readonly imageBytes: number
}

export interface PruneReport {
  readonly id: SessionId
  readonly preview: boolean
  readonly images: PruneImagesOutcome
  readonly results: PruneOutcome
}

/** Prunes a stored session; where there is nothing to replace it is not opened for writing. */
export async function pruneStored(
  store: SessionPersistence,
  id: SessionId,
  settings: PruneSettings,
): Promise<PruneReport> {
  const planned = prune(await rehearsalOf(store, id), settings)
  const isIdle = planned.images.replaced.length + planned.results.replaced.length === 0
  if (settings.isPreview || isIdle) return { id, preview: settings.isPreview, ...planned }
  return withWriter(store, id, async ({ session, commit }) => {
    const done = prune(session, settings)
    await commit()
    return { id, preview: false, ...done }
  })
}

/** A person who asks wants it now: no mark has to be passed first, and nothing is left for a later step. */
function prune(
  session: Session,
  { maxBytes, keepRecent, images, imageBytes }: PruneSettings,
): Pick<PruneReport, 'images' | 'results'> {
  const ofImages: PruneImagesOptions = {
    maxImages: images,
    maxBytes: imageBytes,
    lowWater: { images, bytes: imageBytes },
    keepRecent: 0,
  }
  const ofResults: PruneOptions = { maxBytes, keepRecent, highWater: 0, lowWater: 0 }
  return { images: pruneImages(session, ofImages), results: pruneToolResults(session, ofResults) }
}
