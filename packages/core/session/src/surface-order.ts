import type { SessionSeq } from './ids.ts'

/**
 * The ordered array of surface entries, with seqs found by position in O(log n).
 *
 * A replacement takes the place of its range, so seqs alone are not sorted. Each entry therefore has an *anchor*: the
 * seq of the first appended event that it stands for. Anchors rise along the surface whatever was replaced.
 */
export class SurfaceOrder {
  readonly #nodes: SessionSeq[] = []
  /** Anchors of replacements; an appended entry is its own anchor. */
  readonly #anchors = new Map<SessionSeq, SessionSeq>()

  get nodes(): readonly SessionSeq[] {
    return this.#nodes
  }

  push(seq: SessionSeq): void {
    this.#nodes.push(seq)
  }

  /** Puts `seq` in place of the entries at positions `start` to `end`, both inclusive. */
  replace(start: number, end: number, seq: SessionSeq): void {
    this.#anchors.set(seq, this.#anchorOf(this.#nodes[start] as SessionSeq))
    if (start === end) this.#nodes[start] = seq
    else this.#nodes.splice(start, end - start + 1, seq)
  }

  /** Position of a surface entry; -1 when the seq is not on the surface. */
  positionOf(seq: SessionSeq): number {
    const position = this.#lastAtOrBefore(this.#anchorOf(seq))
    return this.#nodes[position] === seq ? position : -1
  }

  /** The entry that stands on the surface where `seq` stands or stood, if any does. */
  standsFor(seq: SessionSeq): SessionSeq | undefined {
    return this.#nodes[this.#lastAtOrBefore(this.#anchorOf(seq))]
  }

  #anchorOf(seq: SessionSeq): SessionSeq {
    return this.#anchors.get(seq) ?? seq
  }

  #lastAtOrBefore(anchor: SessionSeq): number {
    let low = 0
    let high = this.#nodes.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#anchorOf(this.#nodes[middle] as SessionSeq) <= anchor) low = middle + 1
      else high = middle
    }
    return low - 1
  }
}
