/** An automatic compaction that takes off less than this share of what was too much did not help. */
const LEAST_SHARE = 0.05
/** So many in a row that did not help are enough. */
const ATTEMPTS = 2

/** Judges automatic compactions by what they did, not by that they ran. SPEC 7.1. */
export class Progress {
  #attempts = 0
  #inputs = 0

  /** Whether automatic compaction waits for a user or a manual compaction. */
  get isStopped(): boolean {
    return this.#attempts >= ATTEMPTS
  }

  /** Starts anew where a turn began or a user spoke since the last call. */
  armAt(inputs: number): void {
    if (inputs !== this.#inputs) this.rearm()
    this.#inputs = inputs
  }

  rearm(): void {
    this.#attempts = 0
  }

  /** Takes down a compaction that ran: which share of what was too much it took off, and whether the session now is small enough. */
  ran({ share, isEnough }: { readonly share: number; readonly isEnough: boolean }): void {
    if (isEnough && share >= LEAST_SHARE) this.#attempts = 0
    else this.#attempts += 1
  }

  failed(): void {
    this.#attempts += 1
  }

  /** There is nothing that a further attempt could try. */
  stop(): void {
    this.#attempts = ATTEMPTS
  }
}
