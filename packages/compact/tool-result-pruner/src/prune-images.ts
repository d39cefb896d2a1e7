import type { AttachmentRef, EventOf, Json, MessageId, Session, SessionSeq, UserMessage } from '@palimpsest/session'
import { messageId } from '@palimpsest/session'
import { imagesOf, withContent } from './blocks.ts'
import { type ImageBudget, type PruneImagesOptions, imageBudget } from './options.ts'
import { type PlannedImages, type Replaced, applyPlan, sourcesOf } from './replacements.ts'
import { SurfaceMeter, type SurfacedLog } from './surface-meter.ts'

/** What replacements of user messages carry in `source.plugin`. */
const PRUNER = 'tool-result-pruner'

/** Images and declared bytes, together. */
export interface ImageSizes {
  readonly images: number
  readonly bytes: number
}

/** Images of one entry that stay. */
export interface PinnedImages extends ImageSizes {
  readonly seq: SessionSeq
  /** `assistant`: the kernel lets nobody rewrite the message. `recent`: within `keepRecent`. `deferred`: freed by a later, larger step. */
  readonly reason: 'assistant' | 'recent' | 'deferred'
}

/** What a step over the images did. `over`: the budget cannot be kept, and `pinned` says what holds it. */
export type PruneImagesOutcome = {
  readonly replaced: readonly Replaced[]
  readonly before: ImageSizes
  readonly after: ImageSizes
} & ({ readonly kind: 'under' | 'pruned' } | { readonly kind: 'over'; readonly pinned: readonly PinnedImages[] })

/**
 * The replacements that `pruneImages` would append, oldest first. Pure and without a write: the preview. O(1) within
 * budget when `meter` has followed the session, O(surface) above it. Throws `options/invalid`. SPEC 7.1.
 */
export function planImagePruning(
  log: SurfacedLog,
  options: PruneImagesOptions = {},
  meter: SurfaceMeter = new SurfaceMeter(log),
): readonly PlannedImages[] {
  return planStep(log, imageBudget(options), meter).plan
}

/**
 * Puts a fixed text in the place of the oldest images once their number or bytes pass the budget, down to the low marks.
 * Tool results keep all but their content; a user message gives way to a new one whose source names it. Where the budget
 * cannot be kept, a step is taken only when it frees as much as lies between budget and low mark. Throws
 * `options/invalid`, and what `Session.append` throws. SPEC 7.1.
 */
export function pruneImages(
  session: Session,
  options: PruneImagesOptions = {},
  meter: SurfaceMeter = new SurfaceMeter(session),
): PruneImagesOutcome {
  const budget = imageBudget(options)
  const before = sizesOf(meter)
  const { plan, pinned } = planStep(session, budget, meter)
  const replaced = applyPlan(session, plan)
  const after = sizesOf(meter)
  if (isOver(after, budget.max)) return { kind: 'over', replaced, before, after, pinned }
  return { kind: replaced.length > 0 ? 'pruned' : 'under', replaced, before, after }
}

const sizesOf = ({ sums }: SurfaceMeter): ImageSizes => ({ images: sums.images, bytes: sums.imageBytes })
const isOver = (sizes: ImageSizes, limit: ImageSizes): boolean =>
  sizes.images > limit.images || sizes.bytes > limit.bytes

interface Step {
  readonly plan: readonly PlannedImages[]
  readonly pinned: readonly PinnedImages[]
}

/** One image on the surface. */
interface Image {
  readonly event: EventOf<'tool/result' | 'user/message' | 'assistant/message'>
  readonly index: number
  readonly bytes: number
}

function planStep(log: SurfacedLog, budget: ImageBudget, meter: SurfaceMeter): Step {
  const before = sizesOf(meter)
  if (!isOver(before, budget.max)) return { plan: [], pinned: [] }
  const images = imagesOnSurface(log, meter)
  // A measure within its budget asks for nothing.
  const goal = {
    images: before.images > budget.max.images ? budget.low.images : Infinity,
    bytes: before.bytes > budget.max.bytes ? budget.low.bytes : Infinity,
  }
  const dropped = new Set<Image>()
  let left = before
  for (const image of images.slice(0, Math.max(0, images.length - budget.keepRecent))) {
    if (!isOver(left, goal)) break
    if (image.event.type === 'assistant/message') continue
    dropped.add(image)
    left = { images: left.images - 1, bytes: left.bytes - image.bytes }
  }
  const isTaken = !isOver(left, budget.max) || isLarge(before, left, goal, budget)
  if (!isTaken) dropped.clear()
  const kept = images.filter((image) => !dropped.has(image))
  return { plan: replacementsOf(dropped), pinned: pinnedOf(kept, budget.keepRecent) }
}

function imagesOnSurface(log: SurfacedLog, meter: SurfaceMeter): readonly Image[] {
  return log.surface.nodes.flatMap((seq) => {
    if ((meter.sizeOf(seq)?.images ?? 0) === 0) return []
    const event = log.eventAt(seq) as Image['event']
    return imagesOf(event).map(({ block, index }) => ({ event, index, bytes: block.attachment.bytes }))
  })
}

/** Whether a step that does not reach the budget frees as much of a measure as one that does would. */
function isLarge(before: ImageSizes, left: ImageSizes, goal: ImageSizes, { max, low }: ImageBudget): boolean {
  if (left.images === before.images) return false
  const freesImages = goal.images < Infinity && before.images - left.images >= max.images - low.images
  const freesBytes = goal.bytes < Infinity && before.bytes - left.bytes >= max.bytes - low.bytes
  return freesImages || freesBytes
}

function pinnedOf(kept: readonly Image[], keepRecent: number): readonly PinnedImages[] {
  const recentFrom = kept.length - keepRecent
  const pinned = new Map<SessionSeq, PinnedImages>()
  for (const [position, { event, bytes }] of kept.entries()) {
    const reason = event.type === 'assistant/message' ? 'assistant' : position >= recentFrom ? 'recent' : 'deferred'
    const known = pinned.get(event.seq) ?? { seq: event.seq, reason, images: 0, bytes: 0 }
    pinned.set(event.seq, { ...known, images: known.images + 1, bytes: known.bytes + bytes })
  }
  return [...pinned.values()]
}

function replacementsOf(dropped: ReadonlySet<Image>): readonly PlannedImages[] {
  const byEntry = new Map<Image['event'], Set<number>>()
  for (const { event, index } of dropped) byEntry.set(event, (byEntry.get(event) ?? new Set()).add(index))
  return [...byEntry].flatMap(([event, indexes]): readonly PlannedImages[] => {
    if (event.type === 'assistant/message') return []
    const bytes = imagesOf(event).map(({ block, index }) => ({ index, bytes: block.attachment.bytes }))
    const sum = (counted: typeof bytes): number => counted.reduce((total, image) => total + image.bytes, 0)
    const shared = {
      seq: event.seq,
      sourceEventSeqs: sourcesOf(event),
      images: indexes.size,
      bytesBefore: sum(bytes),
      bytesAfter: sum(bytes.filter(({ index }) => !indexes.has(index))),
    }
    return event.type === 'tool/result'
      ? [{ ...shared, type: event.type, data: resultWithout(event, indexes) }]
      : [{ ...shared, type: event.type, data: messageWithout(event, indexes) }]
  })
}

function resultWithout(event: EventOf<'tool/result'>, indexes: ReadonlySet<number>): EventOf<'tool/result'>['data'] {
  return withContent(event, withPlaceholders(event.data.message.content[0].content, indexes))
}

/**
 * A message keeps one identity, so what was changed is another message: it has an id of its own and names the one it
 * stands for. By id and not by seq, since a copied log counts anew. SPEC 2.4.
 */
function messageWithout({ seq, data }: EventOf<'user/message'>, indexes: ReadonlySet<number>): UserMessage {
  const { copiedFrom: _, ...message } = data as UserMessage & { readonly copiedFrom?: Json }
  const { of, original } = originalOf(message)
  return {
    ...message,
    id: messageId(`${of}~pruned-${seq}`),
    content: withPlaceholders(message.content, indexes),
    source: { kind: 'plugin', plugin: PRUNER, of, original },
  }
}

/** Identity and source of the message that was delivered, through any number of replacements by this package. */
function originalOf({ id, source }: UserMessage): { readonly of: MessageId; readonly original: Json } {
  if (source.kind === 'plugin' && source.plugin === PRUNER && typeof source['of'] === 'string') {
    return { of: messageId(source['of']), original: source['original'] ?? null }
  }
  return { of: id, original: source }
}

/** The given blocks with images at these positions replaced. */
function withPlaceholders<Block extends { readonly type: string }>(
  content: readonly Block[],
  indexes: ReadonlySet<number>,
): readonly (Block | { readonly type: 'text'; readonly text: string })[] {
  return content.map((block, index) =>
    isImage(block) && indexes.has(index) ? { type: 'text', text: placeholder(block.attachment) } : block,
  )
}

function isImage(block: {
  readonly type: string
}): block is { readonly type: 'image'; readonly attachment: AttachmentRef } {
  return block.type === 'image'
}

/** The text that stands for an image. Same image, same text. */
function placeholder({ mediaType, bytes, attachmentId }: AttachmentRef): string {
  // A media type comes from a tool: it stays one short line.
  const type = mediaType.replaceAll(/[^\w.+/-]/gu, '?').slice(0, 64)
  return `[image left out here: ${type}, ${bytes} bytes, ${attachmentId}]`
}
