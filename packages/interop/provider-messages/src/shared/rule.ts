/**
 * `transcript`: what holds for every list that a session derives, the empty one included. `request`: that, plus what
 * holds for every request that leaves. SPEC 8.
 */
export type Profile = 'transcript' | 'request'

/** One broken rule, at one place. */
export interface Violation {
  /** Id of the rule, such as `A15`. Stable; match on this. */
  readonly rule: string
  /** Where, from the root of the request: `messages.3.content.0.id`. Empty for the request itself. */
  readonly path: string
  /** For people; the wording may change. */
  readonly message: string
}

/** What every check of a request may be told. */
export interface CheckConfig {
  readonly profile: Profile
  /** Model the request goes to; default: the request's own `model`. A rule that needs an unknown model is not judged. */
  readonly model?: string
  /** Whether rules that no provider is known to enforce are checked too. Default `true`. */
  readonly portable?: boolean
}

/** A provider's rule as a value. `View` is the provider's own reading of a request. */
export interface Rule<View, Config extends CheckConfig = CheckConfig> {
  readonly id: string
  /** `refuse`: the provider answers an error. `portable`: not known to be enforced; exporters never break it anyway. */
  readonly level: 'refuse' | 'portable'
  /** The narrowest profile in which the rule is checked. */
  readonly profile: Profile
  /** What the rule asks for, in one sentence. */
  readonly about: string
  check(request: View, config: Config): readonly Violation[]
}

/** A rule of the provider that cannot be judged from a request, and why. */
export interface UnjudgedRule {
  readonly id: string
  readonly reason: string
}

/** The same rule under the number that another provider gives it. */
export function renamed<View, Config extends CheckConfig>(
  rule: Rule<View, Config>,
  name: Pick<Rule<View, Config>, 'id'> & Partial<Pick<Rule<View, Config>, 'level' | 'about'>>,
): Rule<View, Config> {
  const check = (view: View, config: Config): readonly Violation[] => {
    return rule.check(view, config).map((violation) => ({ ...violation, rule: name.id }))
  }
  return { ...rule, ...name, check }
}

/** Everything that the rules in force find wrong, in the order of the rules. */
export function applyRules<View, Config extends CheckConfig>(
  rules: readonly Rule<View, Config>[],
  view: View,
  config: Config,
): Violation[] {
  return rules
    .filter((rule) => config.profile === 'request' || rule.profile === 'transcript')
    .filter((rule) => config.portable !== false || rule.level === 'refuse')
    .flatMap((rule) => rule.check(view, config))
}
