import type { ToolCallId } from '@palimpsest/session'

/** Ids of the calls of one message: a blank id and one that is taken get a fresh one. SPEC 2.4. */
export class CallIds {
  readonly #taken = new Set<string>()

  /** The id that the session uses for a call, in the order in which the calls appear. */
  mint(original: string): ToolCallId {
    const base = original.trim() === '' ? 'call' : original
    let id = base
    for (let count = 2; this.#taken.has(id); count += 1) id = `${base}~${count}`
    this.#taken.add(id)
    return id as ToolCallId
  }
}
