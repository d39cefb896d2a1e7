declare const console: { error(...values: unknown[]): void }

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
