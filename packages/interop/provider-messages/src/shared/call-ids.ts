const OUTSIDE = /[^a-zA-Z0-9_-]/g

/**
 * Gives every call of one request an id of its own, within `limit` characters of `[a-zA-Z0-9_-]`. What an id becomes
 * depends on the ids before it only, so a longer list repeats the ids of a shorter one.
 */
export class CallIds {
  readonly #limit: number
  readonly #taken = new Set<string>()
  readonly #copies = new Map<string, number>()

  constructor(limit: number) {
    this.#limit = limit
  }

  take(original: string): string {
    const base = original.replace(OUTSIDE, '_').slice(0, this.#limit) || 'call'
    let id = base
    while (this.#taken.has(id)) {
      const copy = (this.#copies.get(base) ?? 1) + 1
      this.#copies.set(base, copy)
      id = `${base.slice(0, this.#limit - String(copy).length - 1)}_${copy}`
    }
    this.#taken.add(id)
    return id
  }
}
