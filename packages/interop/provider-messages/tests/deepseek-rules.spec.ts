import { describe, expect, it } from 'vitest'
import { deepSeekRules, deepSeekUnjudged, validateDeepSeek } from '../src/deepseek/validate.ts'
import { viewDeepSeek } from '../src/deepseek/view.ts'
import { deepSeekFixtures } from './fixtures/deepseek.ts'
import { ruleSuite } from './rule-suite.ts'

describe('DeepSeek rules', () => {
  ruleSuite({
    rules: deepSeekRules,
    unjudged: deepSeekUnjudged,
    fixtures: deepSeekFixtures,
    numbered: Array.from({ length: 9 }, (_, index) => `DS${index + 1}`),
    added: ['DS0', 'DS10', 'DS11', 'DS12', 'DS13'],
    view: viewDeepSeek,
    validate: validateDeepSeek,
  })

  it('the empty list passes the transcript profile and not the request profile', () => {
    expect(validateDeepSeek({ messages: [] }, { profile: 'transcript' })).toEqual([])
    const found = validateDeepSeek({ model: 'deepseek-v4-pro', messages: [] }, { profile: 'request' })
    expect(found.map((violation) => violation.rule)).toEqual(['DS0'])
  })
})
