import type { ChatView } from './chat-view.ts'
import { fieldsOf, type Fields } from './json.ts'
import { openaiError, type OpenAIDialect } from './openai-error.ts'
import { pieces, type ProtocolAnswer } from './protocol.ts'
import { argumentsText, thinkingText, type ServedReply } from './script.ts'

interface Call {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

/** The one message of an answer; this format has no order among text, calls and reasoning. */
interface Parts {
  readonly reasoning: string
  readonly text: string
  readonly calls: readonly Call[]
}

/** 2026-10-07T13:46:40Z, then a second per answer: the same in every run. */
const epoch = 1_791_380_800

const finishReasons: Readonly<Record<string, string>> = {
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
}

function partsOf({ blocks }: ServedReply, newId: (prefix: string) => string): Parts {
  const textOf = (type: 'text' | 'thinking'): string =>
    blocks.map((one) => (one.type !== type ? '' : one.type === 'text' ? one.text : thinkingText(one))).join('')
  return {
    reasoning: textOf('thinking'),
    text: textOf('text'),
    calls: blocks
      .filter((one) => one.type === 'tool-call')
      .map((one) => ({
        id: one.id ?? newId('call_'),
        type: 'function',
        function: { name: one.name, arguments: argumentsText(one) },
      })),
  }
}

function usageOf(view: ChatView, { usage = {} }: ServedReply, parts: Parts, dialect: OpenAIDialect): Fields {
  const { cacheRead = 0 } = usage
  const reasoning = usage.reasoning ?? Math.ceil(parts.reasoning.length / 4)
  const prompt = usage.input ?? view.request.tokens
  const completion = usage.output ?? reasoning + Math.ceil((parts.text.length + JSON.stringify(parts.calls).length) / 4)
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cacheRead },
    completion_tokens_details: { reasoning_tokens: reasoning },
    ...(dialect === 'deepseek'
      ? { prompt_cache_hit_tokens: cacheRead, prompt_cache_miss_tokens: prompt - cacheRead }
      : {}),
  }
}

/** Deltas of the message in the order of the wire: reasoning, text, calls. OpenAI does not show reasoning. */
function deltasOf(parts: Parts, dialect: OpenAIDialect, random: () => number): readonly Fields[] {
  const showsReasoning = dialect !== 'openai' && parts.reasoning !== ''
  const opening = { role: 'assistant', content: parts.text === '' ? null : '' }
  return [
    showsReasoning ? { ...opening, content: null, reasoning_content: '' } : opening,
    ...(showsReasoning ? pieces(parts.reasoning, random).map((piece) => ({ reasoning_content: piece })) : []),
    ...pieces(parts.text, random).map((piece) => ({ content: piece })),
    ...parts.calls.flatMap((call, index) => [
      { tool_calls: [{ index, ...call, function: { name: call.function.name, arguments: '' } }] },
      ...pieces(call.function.arguments, random).map((piece) => ({
        tool_calls: [{ index, function: { arguments: piece } }],
      })),
    ]),
  ]
}

function messageOf({ reasoning, text, calls }: Parts, dialect: OpenAIDialect): Fields {
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(dialect !== 'openai' && reasoning !== '' ? { reasoning_content: reasoning } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  }
}

/** The answer as chunks and as one object. */
export function chatAnswer(
  view: ChatView,
  dialect: OpenAIDialect,
  reply: ServedReply,
  n: number,
  newId: (prefix: string) => string,
): ProtocolAnswer {
  const { random } = view.settings
  const parts = partsOf(reply, newId)
  const usage = usageOf(view, reply, parts, dialect)
  const wish = reply.stop ?? (parts.calls.length > 0 ? 'tool-calls' : 'stop')
  const finish = finishReasons[wish] ?? wish
  const frame = { id: newId('chatcmpl-'), created: epoch + n, model: view.model }
  const hasUsage = fieldsOf(view.body['stream_options'])['include_usage'] === true
  const chunk = (choices: readonly Fields[], counted: unknown = null): string =>
    `data: ${JSON.stringify({ ...frame, object: 'chat.completion.chunk', choices, ...(hasUsage ? { usage: counted } : {}) })}\n\n`
  const choice = (delta: Fields, reason: string | null): string => chunk([{ index: 0, delta, finish_reason: reason }])
  const done = 'data: [DONE]\n\n'
  return {
    events: [
      ...(reply.pings === true ? [dialect === 'deepseek' ? ': keep-alive\n\n' : ': ping\n\n'] : []),
      ...deltasOf(parts, dialect, random).map((delta) => choice(delta, null)),
      choice({}, finish),
      ...(hasUsage ? [chunk([], usage)] : []),
      done,
    ],
    whole: {
      ...frame,
      object: 'chat.completion',
      choices: [{ index: 0, message: messageOf(parts, dialect), logprobs: null, finish_reason: finish }],
      usage,
    },
    headers: { 'x-request-id': newId('req_') },
    errorEvents: ({ error }) => {
      const fault = {
        type: 'server_error',
        message: 'The server had an error while processing your request.',
        ...error,
      }
      return [`data: ${JSON.stringify({ error: openaiError(fault, dialect) })}\n\n`, done]
    },
  }
}
