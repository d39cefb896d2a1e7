import { createAnthropic } from '@ai-sdk/anthropic'
import { createDeepSeek } from '@ai-sdk/deepseek'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError, EmptyResponseBodyError, LoadAPIKeyError } from '@ai-sdk/provider'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ProviderMessagesError, languageModelAdapter } from '../src/index.ts'
import { OVERFLOW_WORDING } from '../src/ai-sdk/overflow-wording.ts'

const { classifyError } = languageModelAdapter()
type Fetch = typeof globalThis.fetch
type Make = (fetch: Fetch) => LanguageModelV4

const anthropic: Make = (fetch) => createAnthropic({ apiKey: 'k', fetch })('claude-sonnet-4-5')
const chat: Make = (fetch) => createOpenAI({ apiKey: 'k', fetch }).chat('gpt-4.1')
const responses: Make = (fetch) => createOpenAI({ apiKey: 'k', fetch }).responses('gpt-5')
const compatible: Make = (fetch) =>
  createOpenAICompatible({ name: 'acme', baseURL: 'http://acme.invalid/v1', fetch })('acme-1')
const deepseek: Make = (fetch) => createDeepSeek({ apiKey: 'k', fetch })('deepseek-v4-pro')

/** What a loop gets of an answer: the thrown error, or that of the first error part. */
async function failure(make: Make, answer: () => Response | Promise<Response>): Promise<unknown> {
  const model = make(() => Promise.resolve(answer()))
  try {
    const { stream } = await model.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }] })
    const reader = stream.getReader()
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (next.value.type === 'error') return next.value.error
    }
  } catch (error) {
    return error
  }
  throw new Error('the answer is no failure')
}

const json = (status: number, body: unknown, headers: Record<string, string> = {}) => {
  return (): Response => Response.json(body, { status, headers })
}
const sse = (...frames: unknown[]) => {
  const text = frames.map((frame) => {
    const { type } = frame as { type?: string }
    return `${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(frame)}\n\n`
  })
  return (): Response => new Response(text.join(''), { headers: { 'content-type': 'text/event-stream' } })
}
const anthropicError = (type: string, message: string): unknown => ({ type: 'error', error: { type, message } })
const openAiError = (code: string | null, message: string, type = 'invalid_request_error'): { error: object } => {
  return { error: { message, type, param: null, code } }
}

const TOO_LONG = 'prompt is too long: 210000 tokens > 200000 maximum'
const SUM_TOO_LONG =
  'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again'
const DEEPSEEK_TOO_LONG =
  "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens (132000 in the messages, 8000 in the completion). Please reduce the length of the messages or completion."
const OPENAI_TOO_LONG =
  "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. Please reduce the length of the messages."
const RESPONSES_TOO_LONG =
  'Your input exceeds the context window of this model. Please adjust your input and try again.'
const created = { type: 'response.created', sequence_number: 0, response: { id: 'r', created_at: 1, model: 'gpt-5' } }
const anthropicStart = {
  type: 'message_start',
  message: {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'c',
    content: [],
    stop_reason: null,
    usage: { input_tokens: 1, output_tokens: 0 },
  },
}
const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }
const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'x' } }
const chunk = {
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'x',
  choices: [{ index: 0, delta: { role: 'assistant', content: 'x' } }],
}

const refused: [name: string, make: Make, answer: () => Response, kind: string][] = [
  [
    'A30: a body that is too large',
    anthropic,
    json(413, anthropicError('request_too_large', 'Request exceeds the maximum size')),
    'overflow',
  ],
  [
    'A32: a prompt that is too long',
    anthropic,
    json(400, anthropicError('invalid_request_error', TOO_LONG)),
    'overflow',
  ],
  [
    'A33: prompt and max_tokens',
    anthropic,
    json(400, anthropicError('invalid_request_error', SUM_TOO_LONG)),
    'overflow',
  ],
  ['OC13: context of Chat', chat, json(400, openAiError('context_length_exceeded', OPENAI_TOO_LONG)), 'overflow'],
  ['OC13: its code alone', chat, json(400, openAiError('context_length_exceeded', 'other words')), 'overflow'],
  [
    'OR15: context of Responses',
    responses,
    json(400, openAiError('context_length_exceeded', RESPONSES_TOO_LONG)),
    'overflow',
  ],
  [
    'DS8: context of DeepSeek',
    deepseek,
    json(400, openAiError('invalid_request_error', DEEPSEEK_TOO_LONG)),
    'overflow',
  ],
  [
    'OC13: the words of a compatible server without the code',
    compatible,
    json(400, openAiError(null, OPENAI_TOO_LONG)),
    'overflow',
  ],
  [
    'another refusal of Anthropic',
    anthropic,
    json(400, anthropicError('invalid_request_error', 'max_tokens: Field required')),
    'fatal',
  ],
  ['another refusal of OpenAI', chat, json(400, openAiError('unknown_parameter', "Unknown parameter: 'x'.")), 'fatal'],
  ['a key that is none', anthropic, json(401, anthropicError('authentication_error', 'invalid x-api-key')), 'fatal'],
  [
    'a balance that is empty',
    deepseek,
    json(402, openAiError('invalid_request_error', 'Insufficient Balance')),
    'fatal',
  ],
  ['a model that is not there', chat, json(404, openAiError('model_not_found', 'no such model')), 'fatal'],
  [
    'a quota that is spent',
    chat,
    json(429, openAiError('insufficient_quota', 'You exceeded your current quota', 'insufficient_quota')),
    'fatal',
  ],
  [
    'a rate limit of OpenAI',
    chat,
    json(429, openAiError('rate_limit_exceeded', 'Rate limit reached', 'requests')),
    'retryable',
  ],
  [
    'a rate limit of Anthropic',
    anthropic,
    json(429, anthropicError('rate_limit_error', 'This request would exceed')),
    'retryable',
  ],
  ['an overloaded Anthropic', anthropic, json(529, anthropicError('overloaded_error', 'Overloaded')), 'retryable'],
  ['a server that failed', deepseek, json(500, {}), 'retryable'],
  ['a gateway that answers HTML', compatible, () => new Response('<html>', { status: 502 }), 'retryable'],
  [
    'a refusal that asks to try again',
    anthropic,
    json(400, anthropicError('invalid_request_error', 'x'), { 'x-should-retry': 'true' }),
    'retryable',
  ],
  [
    'a failure that asks not to',
    anthropic,
    json(500, anthropicError('api_error', 'x'), { 'x-should-retry': 'false' }),
    'fatal',
  ],
]

const streamed: [name: string, make: Make, answer: () => Response, kind: string][] = [
  ['overloaded before output', anthropic, sse(anthropicError('overloaded_error', 'Overloaded')), 'retryable'],
  [
    'overloaded after output',
    anthropic,
    sse(anthropicStart, block, delta, anthropicError('overloaded_error', 'Overloaded')),
    'retryable',
  ],
  [
    'an API error after output',
    anthropic,
    sse(anthropicStart, block, delta, anthropicError('api_error', 'x')),
    'retryable',
  ],
  [
    'too large after output',
    anthropic,
    sse(anthropicStart, block, delta, anthropicError('request_too_large', 'x')),
    'overflow',
  ],
  [
    'OR15: nested, as event 2',
    responses,
    sse(created, {
      type: 'error',
      sequence_number: 1,
      error: {
        type: 'invalid_request_error',
        code: 'context_length_exceeded',
        message: RESPONSES_TOO_LONG,
        param: 'input',
      },
    }),
    'overflow',
  ],
  [
    'OR15: flat, as event 2',
    responses,
    sse(created, {
      type: 'error',
      sequence_number: 1,
      code: 'context_length_exceeded',
      message: RESPONSES_TOO_LONG,
      param: 'input',
    }),
    'overflow',
  ],
  [
    'OR15: a failed response',
    responses,
    sse(created, {
      type: 'response.failed',
      sequence_number: 1,
      response: { error: { code: 'context_length_exceeded', message: RESPONSES_TOO_LONG } },
    }),
    'overflow',
  ],
  [
    'a server error of Responses',
    responses,
    sse(created, { type: 'error', sequence_number: 1, code: 'server_error', message: 'x', param: null }),
    'retryable',
  ],
  [
    'a spent quota in the stream',
    responses,
    sse(created, { type: 'error', sequence_number: 1, code: 'insufficient_quota', message: 'x', param: null }),
    'fatal',
  ],
  ['a server error of Chat after output', chat, sse(chunk, openAiError(null, 'x', 'server_error')), 'retryable'],
  [
    'a raw object of a compatible server',
    compatible,
    sse(openAiError('server_error', 'x', 'server_error')),
    'retryable',
  ],
  ['a raw refusal of a compatible server', compatible, sse(openAiError(null, OPENAI_TOO_LONG)), 'overflow'],
  ['a raw object with a status as its code', compatible, sse({ error: { message: 'x', code: 503 } }), 'retryable'],
  ['DS8: in the stream', deepseek, sse(openAiError('invalid_request_error', DEEPSEEK_TOO_LONG)), 'overflow'],
]

describe('a failure of a published package is classified', () => {
  it.each(refused)('%s', async (_, make, answer, kind) => {
    expect(classifyError(await failure(make, answer))).toBe(kind)
  })

  it.each(streamed)('in a stream: %s', async (_, make, answer, kind) => {
    expect(classifyError(await failure(make, answer))).toBe(kind)
  })

  it.each([anthropic, chat, responses, compatible, deepseek])(
    'a connection that broke before the answer is retryable',
    async (make) => {
      const cause = Object.assign(new Error('reset'), { code: 'ECONNRESET' })
      const error = await failure(make, () => Promise.reject(new TypeError('fetch failed', { cause })))
      expect(classifyError(error)).toBe('retryable')
    },
  )

  it('a connection that broke within the answer is retryable, although the package says it is not', () => {
    const socket = Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' })
    const cause = new TypeError('terminated', { cause: socket })
    const message = 'Failed to process successful response'
    const error = new APICallError({ message, url: '', requestBodyValues: {}, statusCode: 200, cause })
    expect(classifyError(error)).toBe('retryable')
  })
})

describe('other values are classified', () => {
  const cases: [name: string, error: unknown, kind: string | undefined][] = [
    ['an abort', new DOMException('x', 'AbortError'), undefined],
    ['an abort inside another error', new Error('x', { cause: new DOMException('x', 'AbortError') }), undefined],
    ['an unknown error', new Error('boom'), undefined],
    ['nothing', undefined, undefined],
    ['a body as text', JSON.stringify(openAiError('context_length_exceeded', 'x')), 'overflow'],
    ['wording alone', TOO_LONG, 'overflow'],
    [
      'wording in what the user said, on a rate limit',
      { statusCode: 429, message: `a user wrote: ${TOO_LONG}` },
      'retryable',
    ],
    ['what an exporter refuses for its size', new ProviderMessagesError('budget/images', 'x'), 'overflow'],
    ['what an exporter refuses for its form', new ProviderMessagesError('messages/open-calls', 'x'), undefined],
    ['an empty answer', new EmptyResponseBodyError(), 'retryable'],
    ['a missing key', new LoadAPIKeyError({ message: 'x' }), 'fatal'],
    ['a flag of the package', { isRetryable: true }, 'retryable'],
    ['the other flag', { isRetryable: false }, 'fatal'],
    ['retries that were given up', { name: 'AI_RetryError', lastError: { statusCode: 529 } }, 'retryable'],
  ]
  it.each(cases)('%s', (_, error, kind) => {
    expect(classifyError(error)).toBe(kind)
  })

  it('whatever the value, without an exception', () => {
    const cyclic: Record<string, unknown> = {}
    cyclic['cause'] = cyclic
    expect(classifyError(cyclic)).toBeUndefined()
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect([undefined, 'overflow', 'retryable', 'fatal']).toContain(classifyError(value))
      }),
      { numRuns: 500 },
    )
  })

  it('also of a value whose members throw: what was read before counts', () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    expect(classifyError(proxy)).toBeUndefined()
    const broken = {
      statusCode: 529,
      get message(): string {
        throw new Error('not now')
      },
    }
    expect(classifyError(broken)).toBe('retryable')
  })

  it('the table of wording is needed: each row matches its rule alone', () => {
    const texts = { A32: TOO_LONG, A33: SUM_TOO_LONG, DS8: DEEPSEEK_TOO_LONG }
    for (const { rule, pattern } of OVERFLOW_WORDING) {
      for (const [id, text] of Object.entries(texts)) expect(pattern.test(text)).toBe(id === rule)
    }
  })
})
