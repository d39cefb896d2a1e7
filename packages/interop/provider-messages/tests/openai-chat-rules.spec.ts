import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openAiChatRules, openAiChatUnjudged, validateOpenAiChat } from '../src/openai-chat/validate.ts'
import { viewOpenAiChat } from '../src/openai-chat/view.ts'
import { jsonLikeRequest } from './fixtures/garbage.ts'
import { openAiChatFixtures } from './fixtures/openai-chat.ts'
import { ruleSuite } from './rule-suite.ts'

describe('OpenAI Chat Completions rules', () => {
  ruleSuite({
    rules: openAiChatRules,
    unjudged: openAiChatUnjudged,
    fixtures: openAiChatFixtures,
    numbered: Array.from({ length: 14 }, (_, index) => `OC${index + 1}`),
    added: ['OC0'],
    view: viewOpenAiChat,
    validate: validateOpenAiChat,
  })

  it('the empty list passes the transcript profile and not the request profile', () => {
    expect(validateOpenAiChat({ messages: [] }, { profile: 'transcript' })).toEqual([])
    const found = validateOpenAiChat({ model: 'gpt-4.1', messages: [] }, { profile: 'request' })
    expect(found.map((violation) => violation.rule)).toEqual(['OC1'])
  })

  it('a value of any shape gets violations, never an exception', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.anything(), jsonLikeRequest),
        fc.constantFrom('transcript', 'request'),
        (value, profile) => {
          expect(Array.isArray(validateOpenAiChat(value, { profile }))).toBe(true)
        },
      ),
      { numRuns: 500 },
    )
  })
})
