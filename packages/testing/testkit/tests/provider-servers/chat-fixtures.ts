import { words, type Body, type Fixture } from './fixtures.ts'

const ofModel = (model: string, more: Body = {}): Body => ({ model, messages: [user('hi')], ...more })
const says = (...messages: Body[]): Body => ofModel('gpt-4.1', { messages })
const user = (content: unknown): Body => ({ role: 'user', content })
const tool = (id: string): Body => ({ role: 'tool', tool_call_id: id, content: 'done' })
const call = (id: string, name = 'read', args = '{}'): Body => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})
const calls = (...toolCalls: Body[]): Body => ({ role: 'assistant', content: null, tool_calls: toolCalls })
const tools = (...names: string[]): Body => ({ tools: names.map((name) => ({ type: 'function', function: { name } })) })
const many = (length: number): string[] => Array.from({ length }, (_, at) => `t${at}`)
const image = (url: string): Body => user([{ type: 'image_url', image_url: { url } }])
const exchange = says(user('go'), calls(call('a'), call('b')), tool('b'), tool('a'))

export const chatFixtures: readonly Fixture[] = [
  {
    rule: 'OC1.model',
    refused: { messages: [user('hi')] },
    accepted: says(user('hi')),
    error: { message: 'you must provide a model parameter', type: 'invalid_request_error', param: null, code: null },
  },
  {
    rule: 'OC1.unknown',
    refused: ofModel('gpt-4.1', { top_k: 3 }),
    accepted: ofModel('gpt-4.1', { top_p: 1 }),
    error: { message: "Unknown parameter: 'top_k'.", code: 'unknown_parameter' },
  },
  {
    rule: 'OC1.messages',
    refused: { model: 'gpt-4.1' },
    accepted: says(user('hi')),
    error: { message: "Missing required parameter: 'messages'.", code: 'missing_required_parameter' },
  },
  {
    rule: 'OC1.empty',
    refused: says(),
    accepted: says(user('hi')),
    error: {
      message: words("Invalid 'messages': empty array. Expected an array with minimum length 1, "),
      code: 'empty_array',
    },
  },
  {
    rule: 'OC2',
    refused: says({ role: 'model', content: 'x' }),
    accepted: says(
      user('x'),
      user('y'),
      { role: 'system', content: 's' },
      { role: 'developer', content: 'd' },
      { role: 'assistant', content: 'last' },
    ),
    error: {
      message: words("Invalid value: 'model'. Supported values are: "),
      param: 'messages[0].role',
      code: 'invalid_value',
    },
  },
  {
    rule: 'OC3',
    refused: says(user(null)),
    accepted: says(user(''), user(' '), { role: 'assistant', refusal: 'no' }),
    error: {
      message: "Invalid value for 'content': expected a string, got null.",
      param: 'messages.[0].content',
      code: null,
    },
  },
  {
    rule: 'OC4.calls',
    refused: says(user('go'), { role: 'assistant', content: 'x', tool_calls: [] }),
    accepted: exchange,
    error: { param: 'messages[1].tool_calls', code: 'empty_array' },
  },
  {
    rule: 'OC4.calls',
    refused: says(user('go'), calls(...many(129).map((id) => call(id))), ...many(129).map(tool)),
    accepted: says(user('go'), calls(...many(128).map((id) => call(id))), ...many(128).map(tool)),
    error: {
      message: words('array too long. Expected an array with maximum length 128'),
      code: 'array_above_max_length',
    },
  },
  {
    rule: 'OC4.tools',
    refused: ofModel('gpt-4.1', tools(...many(129))),
    accepted: ofModel('gpt-4.1', tools(...many(128))),
    error: { param: 'tools', code: 'array_above_max_length' },
  },
  {
    rule: 'OC5',
    refused: says(user('go'), calls(call('a'), call('b')), tool('b'), user('so?')),
    accepted: exchange,
    error: {
      message:
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: a",
      param: 'messages.[3].role',
      code: null,
    },
  },
  {
    rule: 'OC6',
    refused: says(user('go'), calls(call('a')), tool('a'), user('so?'), tool('a')),
    accepted: exchange,
    error: {
      message:
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      param: 'messages.[4].role',
    },
  },
  {
    rule: 'OC7',
    options: { strict: true },
    refused: says(user('go'), calls(call('a'.repeat(41))), tool('a'.repeat(41))),
    accepted: says(user('go'), calls(call('a'.repeat(40))), tool('a'.repeat(40))),
    error: {
      message:
        "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 41 instead.",
      code: 'string_above_max_length',
    },
  },
  {
    rule: 'OC8.tools',
    refused: ofModel('gpt-4.1', tools('a', 'read.file')),
    accepted: ofModel('gpt-4.1', tools('a', 'read-file_2')),
    error: {
      message:
        "Invalid 'tools[1].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
      code: 'invalid_value',
    },
  },
  {
    rule: 'OC8.history',
    refused: says(user('go'), calls(call('a', 'r'.repeat(65))), tool('a')),
    accepted: says(user('go'), calls(call('a', 'r'.repeat(64))), tool('a')),
    error: { param: 'messages[1].tool_calls[0].function.name' },
  },
  {
    rule: 'OC9.arguments',
    options: { strict: true },
    refused: says(user('go'), calls(call('a', 'read', '{"path":')), tool('a')),
    accepted: exchange,
    error: { type: 'invalid_request_error' },
  },
  {
    rule: 'OC9.unique',
    options: { strict: true },
    refused: says(user('go'), calls(call('a')), tool('a'), calls(call('a')), tool('a')),
    accepted: exchange,
    error: { message: words("'a'") },
  },
  {
    rule: 'OC9.unique',
    options: { strict: true },
    refused: says(user('go'), calls(call('a')), tool('a'), tool('a')),
    accepted: exchange,
    error: { message: words("'a'") },
  },
  {
    rule: 'OC10',
    refused: ofModel('gpt-5.4', { ...tools('a'), reasoning_effort: 'low' }),
    accepted: ofModel('gpt-5.4', { ...tools('a'), reasoning_effort: 'none' }),
    error: {
      message:
        "Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
      param: 'reasoning_effort',
      code: null,
    },
  },
  {
    rule: 'OC10',
    refused: ofModel('gpt-5.6', tools('a')),
    accepted: ofModel('gpt-5.5', tools('a')),
    error: { message: words('gpt-5.6') },
  },
  {
    rule: 'OC11.parameters',
    refused: ofModel('gpt-5.5', { max_tokens: 9 }),
    accepted: ofModel('gpt-5.5', { max_completion_tokens: 9 }),
    error: {
      message:
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      code: 'unsupported_parameter',
    },
  },
  {
    rule: 'OC11.temperature',
    refused: ofModel('gpt-5.5', { temperature: 0 }),
    accepted: ofModel('gpt-4.1', { temperature: 0 }),
    error: { param: 'temperature' },
  },
  {
    rule: 'OC12.type',
    refused: says(image('data:image/tiff;base64,AAAA')),
    accepted: says(image('data:image/webp;base64,AAAA')),
    error: { type: 'invalid_request_error' },
  },
  {
    rule: 'OC12.count',
    refused: says(...Array.from({ length: 1501 }, () => image('https://images.example/a.png'))),
    accepted: says(...Array.from({ length: 1500 }, () => image('https://images.example/a.png'))),
    error: { message: words('1500') },
  },
  {
    rule: 'OC13',
    options: { contextTokens: 20 },
    refused: says(user('x'.repeat(80))),
    accepted: says(user('x')),
    error: {
      message:
        "This model's maximum context length is 20 tokens. However, your messages resulted in 28 tokens. Please reduce the length of the messages.",
      param: 'messages',
      code: 'context_length_exceeded',
    },
  },
  {
    rule: 'OC14.json',
    refused: '{"model":',
    accepted: says(user('hi')),
    error: { message: 'We could not parse the JSON body of your request.' },
  },
  {
    rule: 'OC14.surrogates',
    options: { strict: true },
    refused: says(user('\ud83d!')),
    accepted: says(user('\ud83d\ude00!')),
    error: { message: 'We could not parse the JSON body of your request.' },
  },
]

export const chatUnjudged: Readonly<Record<string, string>> = {}

const ofOpenAIAlone = /^OC1\.unknown|^OC1[01]\b/

export const compatibleFixtures: readonly Fixture[] = chatFixtures.filter(({ rule }) => !ofOpenAIAlone.test(rule))
