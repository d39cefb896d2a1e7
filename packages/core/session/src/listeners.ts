declare const console: { error(...values: unknown[]): void }

/** An ordered set of listeners. `current` is never mutated, so whoever read it can walk it while the set changes. */
export class Listeners<Listener> {
  current: readonly Listener[] = []

  /** Returns a function that takes the listener out again. */
  add(listener: Listener): () => void {
    const entry = [listener] as const
    this.#entries = [...this.#entries, entry]
    this.#publish()
    return () => {
      this.#entries = this.#entries.filter((other) => other !== entry)
      this.#publish()
    }
  }

  // One entry per `add`, so that the same function added twice is removed once.
  #entries: readonly (readonly [Listener])[] = []

  #publish(): void {
    this.current = this.#entries.map(([listener]) => listener)
  }
}

/**
 * Reports what a listener threw, or what its promise was rejected with, to `report`; without one, to the console,
 * once per listener.
 */
export class ListenerErrors<Subject> {
  readonly #report: ((error: unknown, subject: Subject) => void) | undefined
  readonly #seen = new WeakSet<object>()

  constructor(report: ((error: unknown, subject: Subject) => void) | undefined) {
    this.#report = report
  }

  /** Runs a listener so that nothing it does reaches the caller. */
  contain(listener: object, subject: Subject, call: () => unknown): void {
    try {
      const result = call()
      if (result instanceof Promise) result.catch((error: unknown) => this.#tell(error, listener, subject))
    } catch (error) {
      this.#tell(error, listener, subject)
    }
  }

  #tell(error: unknown, listener: object, subject: Subject): void {
    if (this.#report === undefined) {
      if (!this.#seen.has(listener)) complain('a session listener failed:', error)
      this.#seen.add(listener)
      return
    }
    try {
      this.#report(error, subject)
    } catch (reportError) {
      complain('onListenerError failed:', reportError)
    }
  }
}

function complain(what: string, error: unknown): void {
  try {
    console.error(what, error)
  } catch {
    // A console that throws must not reach the appender either.
  }
}
