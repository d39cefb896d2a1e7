import { describe, expect, it } from 'vitest'
import { anthropicRules, anthropicUnjudged, validateAnthropic } from '../src/anthropic/validate.ts'
import { viewAnthropic } from '../src/anthropic/view.ts'
import { anthropicFixtures } from './fixtures/anthropic.ts'
import { ruleSuite } from './rule-suite.ts'

describe('Anthropic Messages rules', () => {
  ruleSuite({
    rules: anthropicRules,
    unjudged: anthropicUnjudged,
    fixtures: anthropicFixtures,
    numbered: Array.from({ length: 34 }, (_, index) => `A${index + 1}`),
    added: ['A0', 'A35', 'A36'],
    view: viewAnthropic,
    validate: validateAnthropic,
  })

  it('the empty list passes the transcript profile and not the request profile', () => {
    expect(validateAnthropic({ messages: [] }, { profile: 'transcript' })).toEqual([])
    const found = validateAnthropic({ max_tokens: 1, messages: [] }, { profile: 'request' })
    expect(found.map((violation) => violation.rule)).toEqual(['A1'])
  })

  it('a value nested beyond any stack gets violations, never an exception', () => {
    let deep: unknown = []
    for (let level = 0; level < 100_000; level += 1) deep = [{ type: 'tool_result', tool_use_id: 'a', content: deep }]
    const found = validateAnthropic({ messages: [{ role: 'user', content: deep }] }, { profile: 'request' })
    expect(found.map((violation) => violation.rule)).toContain('A0')
  })
})
