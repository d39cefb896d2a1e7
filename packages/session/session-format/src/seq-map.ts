interface Run {
  readonly start: number
  /** Exclusive. */
  end: number
  readonly to: number
}

/**
 * Where the events of a log went in its successor. Runs of neighbours that stayed neighbours are one entry, so memory
 * follows how often something was taken out or put in between, not how many events there are.
 */
export class SeqMap {
  readonly #runs: Run[] = []
  #length = 0

  /** Events of the successor so far, which is the seq of its next one. */
  get length(): number {
    return this.#length
  }

  /** The next event of the successor is the one with this seq in the source; ascending calls only. Returns its new seq. */
  keep(seq: number): number {
    const last = this.#runs.at(-1)
    if (last !== undefined && last.end === seq && last.to + last.end - last.start === this.#length) last.end += 1
    else this.#runs.push({ start: seq, end: seq + 1, to: this.#length })
    return this.#length++
  }

  /** The next event of the successor stands for no single one of the source. Returns its seq. */
  insert(): number {
    return this.#length++
  }

  /** The new seq of an event; undefined where it is not in the successor, or not yet. */
  get(seq: number): number | undefined {
    let low = 0
    let high = this.#runs.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#runs[middle]?.end ?? 0) > seq) high = middle
      else low = middle + 1
    }
    const run = this.#runs[low]
    return run === undefined || seq < run.start ? undefined : run.to + seq - run.start
  }
}
