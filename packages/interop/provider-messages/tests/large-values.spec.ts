import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  aiSdkRules,
  anthropicRules,
  toAnthropic,
  toLanguageModelPrompt,
  toOpenAiChat,
  toOpenAiResponses,
  viewAiSdk,
  viewAnthropic,
} from '../src/index.ts'
import { user } from './fixtures/messages.ts'
import { refusal } from './fixtures/refusals.ts'

afterEach(() => vi.restoreAllMocks())

/** More than a call of a function takes as arguments. */
const MANY = 130_000
const list = <T>(make: (index: number) => T): T[] => Array.from({ length: MANY }, (_, index) => make(index))
const config = { profile: 'transcript' } as const

describe('a rule takes a list of any length', () => {
  it('AI8: results of one tool message', () => {
    const results = list((n) => ({ type: 'tool-result', toolCallId: `c${n}`, toolName: 'run', output: {} }))
    const view = viewAiSdk([{ role: 'tool', content: [...results, results[7]] }], 'prompt')
    const rule = aiSdkRules.find(({ id }) => id === 'AI8')
    expect(rule?.check(view, config)).toMatchObject([{ path: `0.content.${MANY}` }])
  })

  it.each([
    ['A0: malformed blocks', list(() => 1)],
    ['A0: malformed blocks of a result', [{ type: 'tool_result', tool_use_id: 'x', content: list(() => 1) }]],
  ])('%s', (_, content) => {
    const view = viewAnthropic({ messages: [{ role: 'user', content }] }, config)
    const rule = anthropicRules.find(({ id }) => id === 'A0')
    expect(rule?.check(view, config)).toHaveLength(MANY)
  })
})

describe('a body that is too large to be written as one string is over every budget', () => {
  const message = [user()]
  it.each<[string, () => unknown]>([
    ['Anthropic', () => toAnthropic(message)],
    ['OpenAI Chat', () => toOpenAiChat(message)],
    ['OpenAI Responses', () => toOpenAiResponses(message)],
    ['AI SDK', () => toLanguageModelPrompt(message, { provider: 'openai.responses', model: 'gpt-5' })],
  ])('%s', (_, write) => {
    expect(refusal(write)).toBeUndefined()
    vi.spyOn(JSON, 'stringify').mockImplementation(() => {
      throw new RangeError('Invalid string length')
    })
    expect(refusal(write)).toBe('budget/bytes')
  })
})
