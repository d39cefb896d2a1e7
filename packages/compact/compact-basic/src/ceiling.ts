import { type JsonObject, jsonEqual } from '@palimpsest/session'
import type { Budget } from '@palimpsest/compact'

/** What a provider refused as too large, as the meter counts; it holds until the session's config changes. */
export class LearnedCeiling {
  #tokens = Infinity
  #config: JsonObject | undefined

  /** A request of so many tokens was refused. */
  learn(tokens: number, config: JsonObject | undefined): void {
    this.#tokens = Math.min(tokens, this.#current(config))
    this.#config = config
  }

  /** The budget, or less where less was refused. */
  within(budget: Budget, config: JsonObject | undefined): Budget {
    return { ...budget, tokens: Math.min(budget.tokens, this.#current(config)) }
  }

  #current(config: JsonObject | undefined): number {
    return jsonEqual(config, this.#config) ? this.#tokens : Infinity
  }
}
