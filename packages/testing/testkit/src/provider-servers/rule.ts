/** Why a request is refused, in the provider's words. What is absent takes the provider's usual value. */
export interface Fault {
  readonly message: string
  /** HTTP status; 400 when absent. */
  readonly status?: number
  /** Anthropic and OpenAI: the `type` of the error. */
  readonly type?: string
  /** OpenAI: the place in the request. */
  readonly param?: string
  /** OpenAI: `code`; Anthropic: `details.error_code`. */
  readonly code?: string
}

/**
 * One rule of a provider as a value. `id` is the row of the provider's table, and after a dot which half of that row
 * (`A1.role`). A `portable` rule is one that some deployments enforce: only a strict server does.
 */
export interface Rule<View> {
  readonly id: string
  readonly level: 'refuse' | 'portable'
  /** What is wrong, as a message or with more; `undefined` when nothing is. */
  readonly check: (view: View) => Fault | string | undefined
}

/** A fault with the rule that found it. */
export interface Verdict {
  readonly rule: string
  readonly fault: Fault
}

export interface RuleSwitches {
  readonly strict: boolean
  /** Ids of rules that are left out. */
  readonly withoutRules: readonly string[]
}

/** The first fault in table order, as providers report one fault at a time. */
export function firstFault<View>(
  rules: readonly Rule<View>[],
  view: View,
  { strict, withoutRules }: RuleSwitches,
): Verdict | undefined {
  for (const { id, level, check } of rules) {
    if ((level === 'portable' && !strict) || withoutRules.includes(id)) continue
    const found = check(view)
    if (found !== undefined) return { rule: id, fault: typeof found === 'string' ? { message: found } : found }
  }
  return undefined
}

/** The first defined answer of `check` over `items`. */
export function firstOf<Item, Answer>(
  items: Iterable<Item>,
  check: (item: Item, index: number) => Answer | undefined,
): Answer | undefined {
  let index = 0
  for (const item of items) {
    const found = check(item, index)
    if (found !== undefined) return found
    index += 1
  }
  return undefined
}

/** Values that occur before in the list, at their second place. */
export function repeated(values: readonly string[]): readonly string[] {
  return values.filter((value, index) => values.indexOf(value) < index)
}
