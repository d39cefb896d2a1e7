import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyRules } from '../src/shared/rule.ts'
import type { CheckConfig, Rule, UnjudgedRule, Violation } from '../src/shared/rule.ts'
import { jsonLikeInput, jsonLikeRequest } from './fixtures/garbage.ts'
import type { RuleFixture } from './fixtures/rule-fixture.ts'

export interface RuleSuite<View, Config extends CheckConfig> {
  readonly rules: readonly Rule<View, Config>[]
  readonly unjudged: readonly UnjudgedRule[]
  readonly fixtures: readonly RuleFixture<Config>[]
  /** The numbered rules of the provider, judged or not. */
  readonly numbered: readonly string[]
  /** Rules of ours beside the numbered ones. */
  readonly added: readonly string[]
  view(request: unknown, config: Config): View
  validate(request: unknown, config: Config): Violation[]
}

/** What holds for every table of rules: complete, and no rule of it can be taken out without a test that fails. */
export function ruleSuite<View, Config extends CheckConfig>(suite: RuleSuite<View, Config>): void {
  it('every numbered rule is judged or listed as unjudged, once', () => {
    const ids = [...suite.rules, ...suite.unjudged].map((rule) => rule.id)
    expect(ids.toSorted()).toEqual([...suite.numbered, ...suite.added].toSorted())
    for (const { reason } of suite.unjudged) expect(reason).not.toBe('')
  })

  it('every rule has fixtures', () => {
    expect(new Set(suite.fixtures.map((fixture) => fixture.rule))).toEqual(new Set(suite.rules.map((rule) => rule.id)))
  })

  describe.each(suite.fixtures)('$rule: $case', ({ rule, config, refused, accepted, path }) => {
    it('is refused by that rule alone', () => {
      const found = suite.validate(refused, config)
      expect([...new Set(found.map((violation) => violation.rule))]).toEqual([rule])
      expect(found.every(({ message }) => message !== '')).toBe(true)
      if (path !== undefined) expect(found.map((violation) => violation.path)).toContain(path)
    })

    it('passes when the rule is taken out', () => {
      const rest = suite.rules.filter((candidate) => candidate.id !== rule)
      expect(applyRules(rest, suite.view(refused, config), config)).toEqual([])
    })

    it('has an accepted neighbour', () => {
      expect(suite.validate(accepted, config)).toEqual([])
    })
  })

  it('a request rule is silent in the transcript profile', () => {
    const requestRules = new Set(suite.rules.filter((rule) => rule.profile === 'request').map((rule) => rule.id))
    const fixtures = suite.fixtures.filter((fixture) => requestRules.has(fixture.rule))
    expect(fixtures).not.toEqual([])
    for (const fixture of fixtures) {
      const found = suite.validate(fixture.refused, { ...fixture.config, profile: 'transcript' })
      expect(found.map((violation) => violation.rule)).not.toContain(fixture.rule)
    }
  })

  it('a portable rule is silent when only refusals are asked for', () => {
    const portable = new Set(suite.rules.filter((rule) => rule.level === 'portable').map((rule) => rule.id))
    const fixtures = suite.fixtures.filter((fixture) => portable.has(fixture.rule))
    expect(fixtures).not.toEqual([])
    for (const fixture of fixtures) {
      expect(suite.validate(fixture.refused, { ...fixture.config, portable: false })).toEqual([])
    }
  })

  it('a value of any shape gets violations, never an exception', () => {
    const anyList = jsonLikeRequest.map((request) => (request as { messages?: unknown }).messages)
    const anyValue = fc.oneof(fc.anything(), fc.array(fc.anything()), anyList, jsonLikeRequest, jsonLikeInput)
    fc.assert(
      fc.property(anyValue, fc.constantFrom('transcript', 'request'), (value, profile) => {
        // The profile is all that a config must say.
        expect(Array.isArray(suite.validate(value, { profile } as Config))).toBe(true)
      }),
      { numRuns: 500 },
    )
  })
}
