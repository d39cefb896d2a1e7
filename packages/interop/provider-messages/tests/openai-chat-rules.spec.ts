import { describe, expect, it } from 'vitest'
import { openAiChatRules, openAiChatUnjudged, validateOpenAiChat } from '../src/openai-chat/validate.ts'
import { viewOpenAiChat } from '../src/openai-chat/view.ts'
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
})
