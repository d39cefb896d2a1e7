import { describe, expect, it } from 'vitest'
import {
  openAiResponsesRules,
  openAiResponsesUnjudged,
  validateOpenAiResponses,
} from '../src/openai-responses/validate.ts'
import { viewOpenAiResponses } from '../src/openai-responses/view.ts'
import { openAiResponsesFixtures } from './fixtures/openai-responses.ts'
import { ruleSuite } from './rule-suite.ts'

describe('OpenAI Responses rules', () => {
  ruleSuite({
    rules: openAiResponsesRules,
    unjudged: openAiResponsesUnjudged,
    fixtures: openAiResponsesFixtures,
    numbered: Array.from({ length: 15 }, (_, index) => `OR${index + 1}`),
    added: ['OR0', 'OR16', 'OR17', 'OR18', 'OR19', 'OR20'],
    view: viewOpenAiResponses,
    validate: validateOpenAiResponses,
  })

  it('the empty list passes the transcript profile and not the request profile', () => {
    expect(validateOpenAiResponses({ input: [] }, { profile: 'transcript' })).toEqual([])
    const found = validateOpenAiResponses({ model: 'gpt-5', input: [] }, { profile: 'request' })
    expect(found.map((violation) => violation.rule)).toEqual(['OR1'])
  })
})
