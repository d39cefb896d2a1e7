/** An ordered set of listeners. */
export class Listeners<Listener> {
  // One entry per `add`, so that the same function added twice is removed once.
  #entries: readonly (readonly [Listener])[] = []
  #current: readonly Listener[] = []

  /** Never mutated, so whoever read it can walk it while the set changes. */
  get current(): readonly Listener[] {
    return this.#current
  }

  /** Returns a function that takes the listener out again. */
  add(listener: Listener): () => void {
    const entry = [listener] as const
    this.#publish([...this.#entries, entry])
    return () => this.#publish(this.#entries.filter((other) => other !== entry))
  }

  #publish(entries: readonly (readonly [Listener])[]): void {
    this.#entries = entries
    this.#current = entries.map(([listener]) => listener)
  }
}
