/** Rules OC1…OC14 of Chat Completions in the order in which the provider reports. */
import { contentParts, missingAnswers, strayAnswers, type ChatView } from './chat-view.ts'
import { fieldsOf, isFields, loneSurrogate, stringOf } from './json.ts'
import { isReasoningModel, nameFault } from './openai-names.ts'
import { firstOf, repeated, type Fault, type Rule } from './rule.ts'

const roles = ['system', 'assistant', 'user', 'function', 'tool', 'developer']
const topLevel = new Set(
  `audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens messages metadata
   modalities model n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_retention reasoning_effort
   response_format safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools
   top_logprobs top_p user verbosity web_search_options`.split(/\s+/),
)
/** Models that take function tools only without reasoning. */
const toolsWithoutReasoning = /^gpt-(5\.[456]|6)(?![\d.])/

function missingParameter(name: string): Fault {
  return { message: `Missing required parameter: '${name}'.`, param: name, code: 'missing_required_parameter' }
}

function emptyArray(place: string): Fault {
  return {
    message: `Invalid '${place}': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
    param: place,
    code: 'empty_array',
  }
}

function longArray(place: string, length: number): Fault {
  return {
    message: `Invalid '${place}': array too long. Expected an array with maximum length 128, but got an array with length ${length} instead.`,
    param: place,
    code: 'array_above_max_length',
  }
}

function isObjectText(text: unknown): boolean {
  try {
    return isFields(JSON.parse(stringOf(text)))
  } catch {
    return false
  }
}

function imageUrls({ messages }: ChatView): readonly string[] {
  return messages
    .flatMap(contentParts)
    .filter(({ type }) => type === 'image_url')
    .map(({ image_url: image }) => stringOf(fieldsOf(image)['url']))
}

/** What every server of this format holds to. */
export const openaiChatRules: readonly Rule<ChatView>[] = [
  {
    id: 'OC14.surrogates',
    level: 'portable',
    check: ({ request }) =>
      loneSurrogate(request.text, request.bytes) === undefined
        ? undefined
        : 'We could not parse the JSON body of your request.',
  },
  {
    id: 'OC14.json',
    level: 'refuse',
    check: ({ request }) => (request.isJsonObject ? undefined : 'We could not parse the JSON body of your request.'),
  },
  {
    id: 'OC1.model',
    level: 'refuse',
    check: ({ model }) => (model === '' ? 'you must provide a model parameter' : undefined),
  },
  {
    id: 'model',
    level: 'refuse',
    check: ({ model, settings }) =>
      settings.models?.includes(model) === false
        ? {
            status: 404,
            message: `The model \`${model}\` does not exist or you do not have access to it.`,
            code: 'model_not_found',
          }
        : undefined,
  },
  {
    id: 'OC1.unknown',
    level: 'refuse',
    check: ({ body }) => {
      const extra = Object.keys(body).find((key) => !topLevel.has(key))
      return extra === undefined
        ? undefined
        : { message: `Unknown parameter: '${extra}'.`, param: extra, code: 'unknown_parameter' }
    },
  },
  {
    id: 'OC1.messages',
    level: 'refuse',
    check: ({ body }) => (Array.isArray(body['messages']) ? undefined : missingParameter('messages')),
  },
  {
    id: 'OC1.empty',
    level: 'refuse',
    check: ({ messages }) => (messages.length === 0 ? emptyArray('messages') : undefined),
  },
  {
    id: 'OC2',
    level: 'refuse',
    check: ({ messages }) =>
      firstOf(messages, ({ role, index }) =>
        roles.includes(role)
          ? undefined
          : {
              message: `Invalid value: '${role}'. Supported values are: ${roles.map((one) => `'${one}'`).join(', ')}.`,
              param: `messages[${index}].role`,
              code: 'invalid_value',
            },
      ),
  },
  {
    id: 'OC4.calls',
    level: 'refuse',
    check: ({ messages }) =>
      firstOf(messages, ({ fields, index }) => {
        const { tool_calls: calls } = fields
        if (!Array.isArray(calls)) return undefined
        const place = `messages[${index}].tool_calls`
        if (calls.length === 0) return emptyArray(place)
        return calls.length > 128 ? longArray(place, calls.length) : undefined
      }),
  },
  {
    id: 'OC8.history',
    level: 'refuse',
    check: ({ messages }) =>
      firstOf(messages, ({ calls, index }) =>
        firstOf(calls, (call, at) =>
          nameFault(fieldsOf(call['function'])['name'], `messages[${index}].tool_calls[${at}].function.name`),
        ),
      ),
  },
  {
    id: 'OC7',
    level: 'portable',
    check: ({ messages }) =>
      firstOf(messages, ({ callIds, index }) =>
        firstOf(callIds, (id, at) =>
          id.length <= 40
            ? undefined
            : {
                message: `Invalid 'messages[${index}].tool_calls[${at}].id': string too long. Expected a string with maximum length 40, but got a string with length ${id.length} instead.`,
                param: `messages[${index}].tool_calls[${at}].id`,
                code: 'string_above_max_length',
              },
        ),
      ),
  },
  {
    id: 'OC9.arguments',
    level: 'portable',
    check: ({ messages }) =>
      firstOf(messages, ({ calls, index }) =>
        calls.every((call) => isObjectText(fieldsOf(call['function'])['arguments']))
          ? undefined
          : { message: `Invalid arguments of a function call in messages[${index}]: not a JSON object.` },
      ),
  },
  {
    id: 'OC12.type',
    level: 'refuse',
    check: (view) => {
      const bad = imageUrls(view).find(
        (url) => url.startsWith('data:') && !/^data:image\/(png|jpeg|webp|gif)[;,]/.test(url),
      )
      return bad === undefined
        ? undefined
        : {
            message:
              "You uploaded an unsupported image. Please make sure your image is of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
            code: 'invalid_image_format',
          }
    },
  },
  {
    id: 'OC12.count',
    level: 'refuse',
    check: (view) =>
      imageUrls(view).length > 1500
        ? { message: 'Too many images in request. Maximum is 1500.', code: 'too_many_images' }
        : undefined,
  },
  {
    id: 'OC4.tools',
    level: 'refuse',
    check: ({ tools }) => (tools.length > 128 ? longArray('tools', tools.length) : undefined),
  },
  {
    id: 'OC8.tools',
    level: 'refuse',
    check: ({ tools }) =>
      firstOf(tools, (tool, at) => nameFault(fieldsOf(tool['function'])['name'], `tools[${at}].function.name`)),
  },
  {
    id: 'OC10',
    level: 'refuse',
    check: ({ model, tools, body }) => {
      const effort = body['reasoning_effort'] ?? (model.startsWith('gpt-5.6') ? 'medium' : 'none')
      return toolsWithoutReasoning.test(model) && tools.length > 0 && effort !== 'none'
        ? {
            message: `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`,
            param: 'reasoning_effort',
          }
        : undefined
    },
  },
  {
    id: 'OC11.parameters',
    level: 'refuse',
    check: ({ model, body }) => {
      const name = ['max_tokens', 'stop', 'logit_bias'].find((key) => body[key] !== undefined)
      if (name === undefined || !isReasoningModel(model)) return undefined
      const instead = name === 'max_tokens' ? " Use 'max_completion_tokens' instead." : ''
      return {
        message: `Unsupported parameter: '${name}' is not supported with this model.${instead}`,
        param: name,
        code: 'unsupported_parameter',
      }
    },
  },
  {
    id: 'OC11.temperature',
    level: 'refuse',
    check: ({ model, body }) =>
      isReasoningModel(model) && (body['temperature'] ?? 1) !== 1
        ? {
            message: `Unsupported value: 'temperature' does not support ${String(body['temperature'])} with this model. Only the default (1) value is supported.`,
            param: 'temperature',
            code: 'unsupported_value',
          }
        : undefined,
  },
  {
    id: 'OC6',
    level: 'refuse',
    check: (view) => {
      const stray = strayAnswers(view)[0]
      return stray === undefined
        ? undefined
        : {
            message:
              "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
            param: `messages.[${stray.index}].role`,
          }
    },
  },
  {
    id: 'OC5',
    level: 'refuse',
    check: ({ exchanges }) =>
      firstOf(exchanges, (exchange) => {
        const missing = missingAnswers(exchange)
        return missing.length === 0
          ? undefined
          : {
              message: `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${missing.join(', ')}`,
              param: `messages.[${exchange.caller.index + 1 + exchange.answers.length}].role`,
            }
      }),
  },
  {
    id: 'OC9.unique',
    level: 'portable',
    check: ({ messages, exchanges }) => {
      const ids = messages.flatMap(({ callIds }) => callIds)
      const answers = exchanges.flatMap((one) => repeated(one.answers.map(({ answers: id }) => id)))
      const again = [...repeated(ids), ...answers][0]
      return again === undefined ? undefined : `Duplicate value for 'tool_call_id' of '${again}' in messages.`
    },
  },
  {
    id: 'OC13',
    level: 'refuse',
    check: ({ request, settings: { contextTokens = Infinity } }) =>
      request.tokens > contextTokens
        ? {
            message: `This model's maximum context length is ${contextTokens} tokens. However, your messages resulted in ${request.tokens} tokens. Please reduce the length of the messages.`,
            param: 'messages',
            code: 'context_length_exceeded',
          }
        : undefined,
  },
  {
    id: 'OC3',
    level: 'refuse',
    check: ({ messages }) =>
      firstOf(messages, ({ role, fields, index }) => {
        const { content } = fields
        const instead = ['tool_calls', 'function_call', 'refusal', 'audio'].some((key) => fields[key] != null)
        const isLegal = typeof content === 'string' || Array.isArray(content) || (role === 'assistant' && instead)
        return isLegal
          ? undefined
          : {
              message: "Invalid value for 'content': expected a string, got null.",
              param: `messages.[${index}].content`,
            }
      }),
  },
]

const ofOpenAIAlone = new Set(['OC1.unknown', 'OC10', 'OC11.parameters', 'OC11.temperature'])

/** Compatible servers have members and models of their own. */
export const compatibleRules: readonly Rule<ChatView>[] = openaiChatRules.filter(({ id }) => !ofOpenAIAlone.has(id))
