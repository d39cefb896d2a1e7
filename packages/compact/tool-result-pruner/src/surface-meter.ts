import { type Session, type SessionEvent, type SessionSeq, isSurfaceType } from '@palimpsest/session'
import { imagesOf, textsOf } from './blocks.ts'
import { utf8Length } from './utf8.ts'

/** What is read of a session: a `Session` is one. */
export type SurfacedLog = Pick<Session, 'length' | 'eventAt' | 'surface'>

/** What one surface entry weighs. */
export interface EntrySize {
  readonly isResult: boolean
  /** UTF-8 bytes of the text of a tool result; 0 for any other entry. */
  readonly textBytes: number
  readonly images: number
  /** Bytes of the attachments as declared, not of their base64, which is a third more. */
  readonly imageBytes: number
}

/** Sums over the surface. */
export interface SurfaceSizes {
  readonly results: number
  /** UTF-8 bytes of the text of all tool results. */
  readonly resultBytes: number
  readonly images: number
  /** Declared bytes of all images. */
  readonly imageBytes: number
}

const nothing: SurfaceSizes = { results: 0, resultBytes: 0, images: 0, imageBytes: 0 }

/**
 * Running sums over a surface: O(surface) on the first read, O(new events) on later ones. A replacement of one entry is a
 * new event like any other; one of a range costs a walk of the surface, without a second look at a payload.
 */
export class SurfaceMeter {
  readonly #log: SurfacedLog
  /** Tool results and entries with images; all others weigh nothing. */
  #sizes = new Map<SessionSeq, EntrySize>()
  #sums: SurfaceSizes = nothing
  #seen = 0

  constructor(log: SurfacedLog) {
    this.#log = log
  }

  get sums(): SurfaceSizes {
    this.#catchUp()
    return this.#sums
  }

  /** What a surface entry weighs; undefined when that is nothing. */
  sizeOf(seq: SessionSeq): EntrySize | undefined {
    this.#catchUp()
    return this.#sizes.get(seq)
  }

  #catchUp(): void {
    const { length } = this.#log
    if (this.#seen === length) return
    // A restored log is long and its surface may be short.
    const isFirst = this.#seen === 0
    let isExact = !isFirst
    for (let seq = isFirst ? length : this.#seen; seq < length; seq += 1) isExact = this.#follow(seq) && isExact
    this.#seen = length
    if (!isExact) this.#recount(isFirst)
  }

  /** Takes one more event in. False when it took more off the surface than itself says. */
  #follow(seq: number): boolean {
    const event = this.#log.eventAt(seq)
    if (event === undefined || !isSurfaceType(event.type) || event.surfaceOp === undefined) return true
    const size = sizeOfEvent(event)
    if (size !== undefined) this.#add(event.seq, size)
    if (event.surfaceOp === 'append') return true
    this.#remove(event.surfaceOp.startSeq)
    return event.surfaceOp.startSeq === event.surfaceOp.endSeq
  }

  #recount(isFirst: boolean): void {
    const known = this.#sizes
    this.#sizes = new Map()
    this.#sums = nothing
    for (const seq of this.#log.surface.nodes) {
      const size = known.get(seq) ?? (isFirst ? sizeOfEvent(this.#log.eventAt(seq)) : undefined)
      if (size !== undefined) this.#add(seq, size)
    }
  }

  #add(seq: SessionSeq, size: EntrySize): void {
    this.#sizes.set(seq, size)
    this.#sums = sumOf(this.#sums, size, 1)
  }

  #remove(seq: SessionSeq): void {
    const size = this.#sizes.get(seq)
    if (size === undefined) return
    this.#sizes.delete(seq)
    this.#sums = sumOf(this.#sums, size, -1)
  }
}

/** Measures a surface once. O(surface). */
export function measureSurface(log: SurfacedLog): SurfaceSizes {
  return new SurfaceMeter(log).sums
}

function sumOf(sums: SurfaceSizes, size: EntrySize, sign: 1 | -1): SurfaceSizes {
  return {
    results: sums.results + (size.isResult ? sign : 0),
    resultBytes: sums.resultBytes + sign * size.textBytes,
    images: sums.images + sign * size.images,
    imageBytes: sums.imageBytes + sign * size.imageBytes,
  }
}

function sizeOfEvent(event: SessionEvent | undefined): EntrySize | undefined {
  if (event === undefined) return undefined
  const images = imagesOf(event)
  const isResult = event.type === 'tool/result'
  if (!isResult && images.length === 0) return undefined
  return {
    isResult,
    textBytes: isResult ? textsOf(event).reduce((sum, text) => sum + utf8Length(text), 0) : 0,
    images: images.length,
    imageBytes: images.reduce((sum, { block }) => sum + block.attachment.bytes, 0),
  }
}
