import { describe, expect, it } from 'vitest'
import { aiSdkRules, validateLanguageModelPrompt, validateModelMessages, viewAiSdk } from '../src/index.ts'
import { aiSdkFixtures } from './fixtures/ai-sdk.ts'
import { ruleSuite } from './rule-suite.ts'

const validators = { prompt: validateLanguageModelPrompt, messages: validateModelMessages } as const

describe.each(['prompt', 'messages'] as const)('AI SDK rules on a list of the form %s', (form) => {
  ruleSuite({
    rules: aiSdkRules,
    unjudged: [],
    fixtures: aiSdkFixtures,
    numbered: Array.from({ length: 15 }, (_, index) => `AI${index + 1}`),
    added: [],
    view: (list) => viewAiSdk(list, form),
    validate: validators[form],
  })

  it('the empty list passes the transcript profile and not the request profile', () => {
    expect(validators[form]([], { profile: 'transcript' })).toEqual([])
    expect(validators[form]([], { profile: 'request' }).map(({ rule }) => rule)).toEqual(['AI14'])
  })
})

describe('what people write for ai functions and a model is not given', () => {
  const config = { profile: 'transcript' } as const
  const cases: [name: string, message: unknown, rule: string][] = [
    ['text of a user in short', { role: 'user', content: 'hi' }, 'AI2'],
    ['text of an assistant in short', { role: 'assistant', content: 'hi' }, 'AI2'],
    ['an image part', { role: 'user', content: [{ type: 'image', image: 'AAAA' }] }, 'AI2'],
    ['a file in base64', { role: 'user', content: [{ type: 'file', mediaType: 'image/png', data: 'AAAA' }] }, 'AI3'],
    ['a file in bytes', { role: 'user', content: [{ type: 'file', mediaType: 'a/b', data: new Uint8Array(1) }] }, ''],
  ]
  it.each(cases)('%s', (_, message, rule) => {
    expect(validateModelMessages([message], config)).toEqual([])
    const found = validateLanguageModelPrompt([message], config).map((violation) => violation.rule)
    if (rule !== '') expect(found).toEqual([rule])
  })

  it('a request for an approval, whose call has no result yet', () => {
    const call = { type: 'tool-call', toolCallId: 'a', toolName: 'run', input: {} }
    const request = { type: 'tool-approval-request', approvalId: 'x', toolCallId: 'a' }
    const rules = (content: unknown[]): string[] =>
      validateModelMessages([{ role: 'assistant', content }], config).map(({ rule }) => rule)
    expect(rules([call, request])).toEqual([])
    expect(rules([call])).toEqual(['AI6'])
  })

  it('images of results in the older forms', () => {
    const output = { type: 'content', value: [{ type: 'image-data', data: 'AAAA', mediaType: 'image/png' }] }
    const list = [
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'run', input: {} }] },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'a', toolName: 'run', output }] },
    ]
    expect(validateModelMessages(list, config)).toEqual([])
    expect(validateLanguageModelPrompt(list, config).map(({ rule }) => rule)).toEqual(['AI3'])
  })
})
