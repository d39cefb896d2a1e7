import { describe, elements, isRecord, member } from '../shared/json-reader.ts'
import type { Rule, Violation } from '../shared/rule.ts'
import { OPENAI_IMAGE_TYPES } from './limits.ts'
import { isReasoningModel, versionWithoutTools } from './models.ts'
import type { OpenAiChatCheckConfig, OpenAiChatView } from './view.ts'

type OpenAiChatRule = Rule<OpenAiChatView, OpenAiChatCheckConfig>

const KNOWN_MEMBERS: ReadonlySet<string> = new Set(
  (
    'messages model audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens ' +
    'metadata modalities moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key ' +
    'prompt_cache_options prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier ' +
    'stop store stream stream_options temperature tool_choice tools top_logprobs top_p user verbosity web_search_options'
  ).split(' '),
)

const topLevel: OpenAiChatRule = {
  id: 'OC1',
  level: 'refuse',
  profile: 'request',
  about: 'model and messages are given, messages is not empty, and every member of the body is known.',
  check({ request }) {
    if (!isRecord(request)) return []
    const found: Violation[] = []
    const at = (path: string, message: string): number => found.push({ rule: 'OC1', path, message })
    const messages = member(request, 'messages')
    if (typeof member(request, 'model') !== 'string') at('model', 'you must provide a model parameter')
    if (messages === undefined) at('messages', 'missing required parameter')
    if (Array.isArray(messages) && messages.length === 0) at('messages', 'empty array')
    for (const name of Object.keys(request)) if (!KNOWN_MEMBERS.has(name)) at(name, 'unknown parameter')
    return found
  },
}

const toolsWithReasoning: OpenAiChatRule = {
  id: 'OC10',
  level: 'refuse',
  profile: 'request',
  about: 'gpt-5.4, 5.5, 5.6 and 6 take function tools only with reasoning_effort none; 5.6 wants it said.',
  check({ request, model }) {
    const version = versionWithoutTools(model ?? '')
    const hasTools = elements(member(request, 'tools')).some((tool) => member(tool, 'type') === 'function')
    const effort = member(request, 'reasoning_effort')
    if (version === undefined || !hasTools || effort === 'none' || (effort === undefined && version !== '5.6'))
      return []
    return [
      { rule: 'OC10', path: 'reasoning_effort', message: "function tools need reasoning_effort set to 'none' here" },
    ]
  },
}

const reasoningParameters: OpenAiChatRule = {
  id: 'OC11',
  level: 'refuse',
  profile: 'request',
  about: 'Reasoning models take no max_tokens, stop and logit_bias, and only a temperature of 1.',
  check({ request, model }) {
    if (!isReasoningModel(model ?? '')) return []
    const refused = ['max_tokens', 'stop', 'logit_bias'].filter((name) => (member(request, name) ?? null) !== null)
    if ((member(request, 'temperature') ?? 1) !== 1) refused.push('temperature')
    return refused.map((path) => ({ rule: 'OC11', path, message: `unsupported parameter: '${path}' with this model` }))
  },
}

const images: OpenAiChatRule = {
  id: 'OC12',
  level: 'refuse',
  profile: 'transcript',
  about: 'Images are PNG, JPEG, WebP or GIF, within the limits on number and on the size of the body.',
  check({ messages, limits, bytes }, config) {
    const parts = messages.flatMap((message) => message.parts).filter((part) => part.type === 'image_url')
    const found: Violation[] = []
    const at = (path: string, message: string): number => found.push({ rule: 'OC12', path, message })
    for (const { path, value } of parts) {
      const url = member(member(value, 'image_url'), 'url')
      const type = typeof url === 'string' ? /^data:([^;,]*)/i.exec(url)?.[1]?.toLowerCase() : undefined
      if (type !== undefined && !OPENAI_IMAGE_TYPES.has(type)) at(path, `${describe(type)} is no supported image`)
    }
    for (const { path } of parts.slice(limits.images)) at(path, `over ${limits.images} images`)
    const size = config.profile === 'request' ? (bytes() ?? 0) : 0
    if (size > limits.bytes) at('', `${size} bytes, over ${limits.bytes}`)
    return found
  },
}

/** Rules on the request as a whole. */
export const requestRules: readonly OpenAiChatRule[] = [topLevel, toolsWithReasoning, reasoningParameters, images]
