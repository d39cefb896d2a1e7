import type { z } from 'zod'
import { SessionError } from './errors.ts'

/** One event type of a vocabulary. */
export interface EventDefinition {
  /** Schema of the payload. Loose objects, so that nested extensions survive. */
  readonly schema: z.ZodType
  /** Known, but no longer accepted unless the event is `ignorable`. */
  readonly retired: boolean
  /** The package that owns the type, for documentation. */
  readonly owner: string
}

/** The event types that a session knows: an immutable value, composed with `extend`. SPEC 2.2. */
export class Vocabulary implements Iterable<readonly [type: string, definition: EventDefinition]> {
  readonly #definitions: ReadonlyMap<string, EventDefinition>

  constructor(definitions: Iterable<readonly [string, EventDefinition]>) {
    this.#definitions = new Map(definitions)
  }

  get(type: string): EventDefinition | undefined {
    return this.#definitions.get(type)
  }

  /** Whether events of this type are held to a schema: known and not retired. */
  accepts(type: string): boolean {
    return this.#definitions.get(type)?.retired === false
  }

  [Symbol.iterator](): Iterator<readonly [string, EventDefinition]> {
    return this.#definitions[Symbol.iterator]()
  }

  /**
   * A vocabulary of both. The same definition may come in twice; two definitions of one type throw `SessionError`
   * `vocabulary/conflict`.
   */
  extend(other: Vocabulary): Vocabulary {
    for (const [type, definition] of other) {
      const mine = this.#definitions.get(type)
      if (mine !== undefined && mine !== definition) {
        throw new SessionError(
          'vocabulary/conflict',
          `event type ${type} is defined by ${mine.owner} and by ${definition.owner}: give one of them another name`,
        )
      }
    }
    return new Vocabulary([...this, ...other])
  }
}

export interface DefineEventsOptions {
  /** Types that old logs hold and new ones must not. */
  readonly retired?: readonly string[]
  /** The package that owns the types. */
  readonly owner?: string
}

/**
 * A vocabulary from payload schemas by event type (`area/name`). Declare the payload types by merging into
 * `SessionEventMap`. A plugin's types are log-only. SPEC 2.2.
 */
export function defineEvents(
  schemas: Readonly<Record<string, z.ZodType>>,
  options: DefineEventsOptions = {},
): Vocabulary {
  const retired = new Set(options.retired)
  const owner = options.owner ?? 'this application'
  return new Vocabulary(
    Object.entries(schemas).map(([type, schema]) => [type, { schema, retired: retired.has(type), owner }]),
  )
}

/** Throws `SessionError` `vocabulary/conflict` unless the vocabulary knows every type of `core` as it is. */
export function requireTypes(vocabulary: Vocabulary, core: Vocabulary): void {
  for (const [type, definition] of core) {
    if (vocabulary.get(type) !== definition) {
      throw new SessionError(
        'vocabulary/conflict',
        `the vocabulary lacks ${type}: compose it with coreEvents.extend(…)`,
      )
    }
  }
}
