import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { ProviderKind, ServedAnswer, ServedBreak } from '@palimpsest/testkit'
import { describe, expect, it } from 'vitest'
import { joined, sequence, stream } from './published.ts'

const kinds = ['openai-chat', 'openai-responses', 'anthropic', 'deepseek', 'compatible'] as const

const greeting = 'Grüße 😀 an 東京, and then enough words that they come in many pieces'
const text: ServedAnswer = { blocks: [{ type: 'text', text: greeting }] }
const twoCalls: ServedAnswer = {
  blocks: [
    { type: 'tool-call', id: 'a1', name: 'read', input: { path: 'é.txt' } },
    { type: 'tool-call', id: 'b2', name: 'read', input: { path: '😀.txt' } },
  ],
}
const reasoning: ServedAnswer = {
  blocks: [
    { type: 'thinking', text: ['one thought', 'and another'] },
    { type: 'thinking', text: '', redacted: true },
    { type: 'text', text: 'so' },
  ],
}
const broken = (how: ServedBreak['how'], after = 6, nested = false): ServedAnswer => ({
  ...text,
  break: { how, after, nested },
})

/** What precedes the first output. */
const opening: Readonly<Record<ProviderKind, string>> = {
  'openai-chat': 'SS RM',
  'openai-responses': 'SS RM',
  anthropic: 'SS RM custom(anthropic.message_start)',
  deepseek: 'SS RM',
  compatible: 'SS RM',
}
/** OpenAI's chat begins a text with an empty delta. */
const begun: Readonly<Record<ProviderKind, string>> = {
  'openai-chat': 'text-start text-delta("") text-delta',
  'openai-responses': 'text-start text-delta',
  anthropic: 'text-start text-delta',
  deepseek: 'text-start text-delta',
  compatible: 'text-start text-delta',
}
const interleavedCalls =
  'tool-input-start tool-input-delta tool-input-start tool-input-delta tool-input-end tool-call tool-input-end tool-call'
const callAfterCall =
  'tool-input-start tool-input-delta tool-input-end tool-call tool-input-start tool-input-delta tool-input-end tool-call'

/** What follows the opening; of texts, what follows their beginning too. */
const observed: Readonly<
  Record<ProviderKind, Readonly<Record<'text' | 'calls' | 'reasoning' | 'error' | 'early', string>>>
> = {
  'openai-chat': {
    text: 'text-end F(stop/stop)',
    calls: `${interleavedCalls} F(tool-calls/tool_calls)`,
    reasoning: 'text-start text-delta("") text-delta text-end F(stop/stop)',
    error: 'error text-end F(error/-)',
    early: 'text-end F(interrupted/-)',
  },
  'openai-responses': {
    text: 'text-end F(stop/-)',
    calls: `${callAfterCall} F(tool-calls/-)`,
    reasoning:
      'reasoning-start reasoning-delta reasoning-end reasoning-start reasoning-delta reasoning-end reasoning-start reasoning-end text-start text-delta text-end F(stop/-)',
    error: 'error F(error/error)',
    early: 'F(interrupted/-)',
  },
  anthropic: {
    text: 'text-end F(stop/end_turn)',
    calls: `${callAfterCall} F(tool-calls/tool_use)`,
    reasoning:
      'reasoning-start reasoning-delta reasoning-delta("") reasoning-end reasoning-start reasoning-end text-start text-delta text-end F(stop/end_turn)',
    error: 'error',
    early: 'F(interrupted/-)',
  },
  deepseek: {
    text: 'text-end F(stop/stop)',
    calls: `${interleavedCalls} F(tool-calls/tool_calls)`,
    reasoning: 'reasoning-start reasoning-delta text-start reasoning-end text-delta text-end F(stop/stop)',
    error: 'error text-end F(error/-)',
    early: 'text-end F(other/-)',
  },
  compatible: {
    text: 'text-end F(stop/stop)',
    calls: `${interleavedCalls} F(tool-calls/tool_calls)`,
    reasoning: 'reasoning-start reasoning-delta reasoning-end text-start text-delta text-end F(stop/stop)',
    error: 'error text-end F(error/-)',
    early: 'text-end error F(error/-)',
  },
}

const callsOf = (parts: readonly LanguageModelV4StreamPart[]) =>
  parts.filter((part) => part.type === 'tool-call').map(({ toolCallId, input }) => [toolCallId, JSON.parse(input)])

describe.each(kinds)('the published client reads the %s server', (kind) => {
  const expected = observed[kind]

  it('a text, whole in spite of cuts within its characters', async () => {
    const { parts } = await stream(kind, text)
    expect(sequence(parts)).toBe(`${opening[kind]} ${begun[kind]} ${expected.text}`)
    expect(joined(parts, 'text-delta')).toBe(greeting)
  })

  it('two calls with their ids and arguments', async () => {
    const { parts } = await stream(kind, twoCalls)
    expect(sequence(parts)).toBe(`${opening[kind]} ${expected.calls}`)
    expect(callsOf(parts)).toEqual([
      ['a1', { path: 'é.txt' }],
      ['b2', { path: '😀.txt' }],
    ])
  })

  it('reasoning as far as the format shows it', async () => {
    const { parts } = await stream(kind, reasoning)
    expect(sequence(parts)).toBe(`${opening[kind]} ${expected.reasoning}`)
    expect(joined(parts, 'text-delta')).toBe('so')
  })

  it('an error after output', async () => {
    const { parts } = await stream(kind, broken('error'))
    expect(sequence(parts)).toBe(`${opening[kind]} ${begun[kind]} ${expected.error}`)
    expect(parts.find((part) => part.type === 'error')?.error).toBeDefined()
  })

  it('an error before output', async () => {
    const { parts, rejected } = await stream(kind, broken('error', 0))
    const isPart = kind === 'deepseek' || kind === 'compatible'
    expect(sequence(parts)).toBe(isPart ? 'SS error F(error/-)' : '')
    if (isPart) expect(rejected).toBeUndefined()
    else expect(rejected).toMatchObject({ name: 'AI_APICallError', statusCode: kind === 'anthropic' ? 529 : 500 })
  })

  it('a body that ends early', async () => {
    const { parts, thrown } = await stream(kind, broken('end'))
    expect(sequence(parts)).toBe(`${opening[kind]} ${begun[kind]} ${expected.early}`)
    expect(thrown).toBeUndefined()
  })

  it('a socket that is cut', async () => {
    const { parts, thrown } = await stream(kind, broken('cut'))
    expect(sequence(parts)).toBe(`${opening[kind]} ${begun[kind]}`)
    expect(thrown).toMatchObject({ name: 'AI_APICallError', message: 'Failed to process successful response' })
  })

  it('a refusal as an error that is not retryable', async () => {
    const { rejected } = await stream(kind, text, {
      prompt: [
        { role: 'user', content: [{ type: 'text', text: 'go' }] },
        { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'read', input: {} }] },
        { role: 'user', content: [{ type: 'text', text: 'and?' }] },
      ],
    })
    expect(rejected).toMatchObject({ name: 'AI_APICallError', statusCode: 400, isRetryable: false })
    expect((rejected as Error).message).toMatch(/tool_use|tool_call|No tool output found/)
  })

  it('a rate limit as a retryable error with the time to wait', async () => {
    const { rejected } = await stream(kind, { failure: 'rate-limit', retryAfterMs: 1500 })
    const responseHeaders = { 'retry-after': '2', ...(kind === 'anthropic' ? {} : { 'retry-after-ms': '1500' }) }
    expect(rejected).toMatchObject({ name: 'AI_APICallError', statusCode: 429, isRetryable: true, responseHeaders })
  })

  it('usage, with what came from a cache', async () => {
    const { parts } = await stream(kind, {
      ...text,
      usage: { input: 100, output: 20, cacheRead: 60, ...(kind === 'anthropic' ? { cacheWrite: 10 } : {}) },
    })
    const finish = parts.find((part) => part.type === 'finish')
    // The compatible client asks for no usage unless told to.
    const total = kind === 'compatible' ? undefined : 100
    expect(finish?.usage.inputTokens.total).toBe(total)
    expect(finish?.usage.inputTokens.cacheRead).toBe(total === undefined ? undefined : 60)
    expect(finish?.usage.outputTokens.total).toBe(total === undefined ? undefined : 20)
  })

  it('an answer that was cut at its length', async () => {
    const { parts } = await stream(kind, { ...text, stop: 'length' })
    expect(parts.at(-1)).toMatchObject({ type: 'finish', finishReason: { unified: 'length' } })
  })

  it('pings and keep-alives as nothing', async () => {
    const { parts } = await stream(kind, { ...text, pings: true })
    expect(sequence(parts)).toBe(`${opening[kind]} ${begun[kind]} ${expected.text}`)
  })
})

it('gives the final encrypted reasoning of a Responses item at its end only', async () => {
  const { parts } = await stream('openai-responses', reasoning, {
    providerOptions: { openai: { store: false, include: ['reasoning.encrypted_content'] } },
  })
  const encrypted = (type: string): unknown[] =>
    parts
      .filter((part) => part.type === type)
      .map((part) =>
        'providerMetadata' in part ? part.providerMetadata?.['openai']?.['reasoningEncryptedContent'] : '',
      )
  expect(String(encrypted('reasoning-end')[1])).toMatch(/^gAAAA.{60}/)
  expect(encrypted('reasoning-start')[0]).not.toBe(encrypted('reasoning-end')[1])
})

it('sends a Responses error in either of its two forms', async () => {
  const { parts } = await stream('openai-responses', broken('error', 6, true))
  expect(sequence(parts)).toBe('SS RM text-start text-delta error F(error/error)')
})
