import {
  assistant,
  cached,
  calls,
  image,
  ofModel,
  png,
  result,
  says,
  showing,
  system,
  text,
  tool,
  use,
  user,
  withMore,
} from './anthropic-requests.ts'
import { signedFixtures } from './anthropic-signed-fixtures.ts'
import { words, type Fixture } from './fixtures.ts'

export const anthropicFixtures: readonly Fixture[] = [
  {
    rule: 'A1.messages',
    refused: says(),
    accepted: withMore({}),
    error: { type: 'invalid_request_error', message: 'messages: at least one message is required' },
  },
  {
    rule: 'A1.role',
    refused: says({ role: 'tool', content: 'x' }),
    accepted: says(user('x')),
    error: { message: 'messages: Unexpected role "tool". Allowed roles are "user" or "assistant"' },
  },
  {
    rule: 'A1.keys',
    refused: says({ ...user('x'), name: 'me' }),
    accepted: says(user('x')),
    error: { message: 'messages.0.name: Extra inputs are not permitted' },
  },
  {
    rule: 'A1.unknown',
    refused: withMore({ seed: 1 }),
    accepted: withMore({ metadata: {} }),
    error: { message: 'seed: Extra inputs are not permitted' },
  },
  {
    rule: 'A2.required',
    refused: { model: 'claude-opus-4-8', messages: [user('hi')] },
    accepted: withMore({ max_tokens: 0 }),
    error: { message: 'max_tokens: Field required' },
  },
  {
    rule: 'A2.cap',
    refused: withMore({ max_tokens: 128_001 }),
    accepted: withMore({ max_tokens: 128_000 }),
    error: {
      message: 'max_tokens: 128001 > 128000, which is the maximum allowed number of output tokens for claude-opus-4-8',
    },
  },
  {
    rule: 'A4',
    options: { strict: true },
    refused: says(assistant('x'), user('y')),
    accepted: says(user('x'), user('y')),
    error: { message: 'messages: first message must use the "user" role' },
  },
  {
    rule: 'A5',
    refused: ofModel('claude-opus-4-6', { messages: [user('x'), assistant('y')] }),
    accepted: ofModel('claude-opus-4-5', { messages: [user('x'), assistant('y')] }),
    error: { message: words('This model does not support assistant message prefill.') },
  },
  {
    rule: 'A6',
    refused: ofModel('claude-sonnet-4-5', { messages: [user('x'), assistant('y ')] }),
    accepted: ofModel('claude-sonnet-4-5', { messages: [user('x'), assistant('y')] }),
    error: { message: 'messages: final assistant content cannot end with trailing whitespace' },
  },
  {
    rule: 'A7',
    refused: says(system('be brief'), user('x')),
    accepted: says(system([], { output_config: { effort: 'low' } }), user('x')),
    error: {
      message: words("messages.0: use the top-level 'system' parameter for the initial system prompt; the dir"),
    },
  },
  {
    rule: 'A8',
    refused: ofModel('claude-sonnet-4-6', { messages: [user('x'), system('s')] }),
    accepted: ofModel('claude-opus-4-8', { messages: [user('x'), system('s')] }),
    error: { message: "role 'system' is not supported on this model" },
  },
  {
    rule: 'A9',
    refused: says(user('x'), assistant('y'), system('s')),
    accepted: says(
      user('x'),
      assistant([{ type: 'web_search_tool_result', tool_use_id: 'srv', content: [] }]),
      system('s'),
      system('t'),
    ),
    error: {
      message: words(
        "messages.2: role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool result; the",
      ),
    },
  },
  {
    rule: 'A10',
    refused: says(user('x'), system('s'), user('y')),
    accepted: says(user('x'), system('s'), assistant('z'), user('y'), system('end')),
    error: {
      message: words("messages.1: role 'system' must precede an 'assistant' message or end the array; the"),
    },
  },
  {
    rule: 'A11.empty',
    refused: says(user('x'), system([])),
    accepted: says(user('x'), system('s')),
    error: { message: 'messages.1: system content must contain at least one block' },
  },
  {
    rule: 'A11.blocks',
    refused: says(user('x'), system([png(10)])),
    accepted: says(user('x'), system([{ type: 'tool_removal', name: 'read' }])),
    error: {
      message: "messages.1: role 'system' supports text, tool_addition, and tool_removal blocks only",
    },
  },
  {
    rule: 'A12',
    refused: says(user([text('')])),
    accepted: says(user([text('x')])),
    error: { message: 'messages: text content blocks must be non-empty' },
  },
  {
    rule: 'A13',
    refused: says(user([text(' \n')])),
    accepted: says(user([text(' x\n')])),
    error: { message: 'messages: text content blocks must contain non-whitespace text' },
  },
  {
    rule: 'A14',
    refused: says(user('x'), assistant([]), user('y')),
    accepted: says(user([]), user('x'), assistant('z'), user('y')),
    error: {
      message: 'messages.1: all messages must have non-empty content except for the optional final assistant message',
    },
  },
  {
    rule: 'A14',
    refused: says(user('')),
    accepted: says(user(''), user('x')),
    error: { message: 'messages.0: user messages must have non-empty content' },
  },
  {
    rule: 'A15',
    refused: says(user('go'), assistant([use('a'), use('b'), use('c')]), user([result('b')]), user('so')),
    accepted: says(user('go'), assistant([use('a'), use('b')]), user([result('b')]), user([result('a')]), user('so')),
    error: {
      message:
        'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a, c. Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
    },
  },
  {
    rule: 'A16',
    refused: says(user('go'), assistant('no'), user([result('a')])),
    accepted: calls,
    error: {
      message:
        'messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
    },
  },
  {
    rule: 'A17',
    refused: says(user('go'), assistant([use('a')]), user('wait'), user([result('a')])),
    accepted: says(user('go'), assistant([use('a')]), user([result('a'), text('wait')])),
    error: {
      message: words('messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a.'),
    },
  },
  {
    rule: 'A18',
    refused: says(user('go'), assistant([use('a'), use('a')]), user([result('a')])),
    accepted: says(user('go'), assistant([use('a'), use('A')]), user([result('a'), result('A')])),
    error: { message: 'messages.1.content.1: `tool_use` ids must be unique' },
  },
  {
    rule: 'A19',
    refused: says(user('go'), assistant([use('a')]), user([result('a'), result('a')])),
    accepted: calls,
    error: {
      message: 'each tool_use must have a single result. Found multiple `tool_result` blocks with id: a',
    },
  },
  {
    rule: 'A20',
    refused: says(user('go'), assistant([use('a|b')]), user([result('a|b')])),
    accepted: says(user('go'), assistant([use('a'.repeat(500))]), user([result('a'.repeat(500))])),
    error: { message: "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'" },
  },
  {
    rule: 'A21',
    refused: says(user('go'), assistant([use('a', { input: '{}' })]), user([result('a')])),
    accepted: says(
      user('go'),
      assistant([use('a'), use('b'), use('c')]),
      user([result('a', ''), result('b', []), { type: 'tool_result', tool_use_id: 'c' }]),
    ),
    error: { message: words('messages.1.content.0.tool_use.input') },
  },
  {
    rule: 'A22.tools',
    refused: withMore({ tools: [tool('read.file')] }),
    accepted: withMore({ tools: [tool('read-file_2')] }),
    error: { message: words('tools.0.custom.name: String should match pattern') },
  },
  {
    rule: 'A22.tools',
    refused: withMore({ tools: [tool('r'.repeat(129))] }),
    accepted: withMore({ tools: [tool('r'.repeat(128))] }),
    error: { message: 'tools.0.custom.name: String should have at most 128 characters' },
  },
  {
    rule: 'A22.unique',
    refused: withMore({ tools: [tool('a'), tool('a')] }),
    accepted: withMore({ tools: [tool('a'), tool('b')] }),
    error: { message: 'tools: Tool names must be unique.' },
  },
  {
    rule: 'A22.history',
    refused: says(user('go'), assistant([use('a', { name: 'r'.repeat(201) })]), user([result('a')])),
    accepted: says(user('go'), assistant([use('a', { name: 'r'.repeat(200) })]), user([result('a')])),
    error: { message: words('messages.1.content.0.tool_use.name') },
  },
  {
    rule: 'A22.reference',
    refused: says(
      user('go'),
      assistant([use('a')]),
      user([result('a', [{ type: 'tool_reference', tool_name: 'r'.repeat(65) }])]),
    ),
    accepted: says(
      user('go'),
      assistant([use('a')]),
      user([result('a', [{ type: 'tool_reference', tool_name: 'r'.repeat(64) }])]),
    ),
    error: { message: words('tool_reference') },
  },
  {
    rule: 'A23.fields',
    refused: says(user('x'), assistant([{ type: 'thinking', thinking: 'hm' }, text('y')]), user('z')),
    accepted: says(user('x'), assistant([text('y')]), user('z')),
    error: { message: 'messages.1.content.0.thinking.signature: Field required' },
  },
  {
    rule: 'A27.manual',
    refused: ofModel('claude-opus-4-7', { thinking: { type: 'enabled', budget_tokens: 50 } }),
    accepted: ofModel('claude-opus-4-6', { thinking: { type: 'enabled', budget_tokens: 50 } }),
    error: { message: '"thinking.type.enabled" is not supported for this model' },
  },
  {
    rule: 'A27.adaptive',
    refused: ofModel('claude-sonnet-4-5', { thinking: { type: 'adaptive' } }),
    accepted: ofModel('claude-sonnet-4-6', { thinking: { type: 'adaptive' } }),
    error: { message: 'adaptive thinking is not supported on this model' },
  },
  {
    rule: 'A27.disabled',
    refused: ofModel('claude-fable-5-1', { thinking: { type: 'disabled' } }),
    accepted: ofModel('claude-sonnet-5-5', { thinking: { type: 'disabled' } }),
    error: { message: words('not supported for this model') },
  },
  {
    rule: 'A27.sampling',
    refused: ofModel('claude-opus-4-7', { temperature: 0.5 }),
    accepted: ofModel('claude-opus-4-6', { temperature: 0.5 }),
    error: { message: words('temperature') },
  },
  {
    rule: 'A28.count',
    refused: showing(...'abcde'.split('').map((letter) => text(letter, cached('5m')))),
    accepted: showing(...'abcd'.split('').map((letter) => text(letter, cached('5m')))),
    error: { message: 'A maximum of 4 blocks with cache_control may be provided. Found 5.' },
  },
  {
    rule: 'A28.order',
    refused: withMore({ system: [text('s', cached('5m'))], messages: [user([text('x', cached('1h'))])] }),
    accepted: withMore({ system: [text('s', cached('1h'))], messages: [user([text('x', cached('5m'))])] }),
    error: { message: "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block" },
  },
  {
    rule: 'A29.type',
    refused: showing(image('image/tiff', 'AAAA')),
    accepted: showing(image('image/webp', 'AAAA')),
    error: { message: words('media_type') },
  },
  {
    rule: 'A29.sides',
    refused: showing(png(8001)),
    accepted: showing(png(8000)),
    error: {
      message: 'At least one of the image dimensions exceed max allowed size: 8000 pixels',
      details: { error_code: 'image_dimensions_too_large' },
    },
  },
  {
    rule: 'A29.sides',
    refused: showing(...Array.from({ length: 21 }, () => png(2001))),
    accepted: showing(...Array.from({ length: 20 }, () => png(2001))),
    error: { message: words('exceed max allowed size for many-image requests: 2000 pixels') },
  },
  {
    rule: 'A29.bytes',
    options: { limits: { imageCharacters: 1000 } },
    refused: showing(image('image/png', 'A'.repeat(1004))),
    accepted: showing(image('image/png', 'A'.repeat(1000))),
    error: { message: words('10 MB') },
  },
  {
    rule: 'A29.old-bytes',
    options: { strict: true, limits: { imageCharacters: 1000 } },
    refused: showing(image('image/png', 'A'.repeat(504))),
    accepted: showing(image('image/png', 'A'.repeat(500))),
    error: { message: words('5 MB') },
  },
  {
    rule: 'A29.count',
    options: { strict: true },
    refused: showing(...Array.from({ length: 101 }, () => png(10))),
    accepted: showing(...Array.from({ length: 100 }, () => png(10))),
    error: { message: words('100') },
  },
  {
    rule: 'A30.bytes',
    options: { limits: { bodyBytes: 1000 } },
    refused: says(user('x'.repeat(1000))),
    accepted: says(user('x'.repeat(900))),
    status: 413,
    error: { type: 'request_too_large' },
  },
  {
    rule: 'A30.messages',
    options: { limits: { messages: 10 } },
    refused: says(...Array.from({ length: 11 }, () => user('x'))),
    accepted: says(...Array.from({ length: 10 }, () => user('x'))),
    error: { message: words('at most 10 messages') },
  },
  {
    rule: 'A31',
    refused: says(user('\ud83d')),
    accepted: says(user('\ud83d\ude00')),
    error: { message: words('The request body is not valid JSON: no low surrogate in string: line 1 column ') },
  },
  {
    rule: 'A31',
    refused: says(user('\ude00')),
    accepted: says(user('\\ude00')),
    error: { message: words('invalid high surrogate in string') },
  },
  {
    rule: 'A31',
    refused: Buffer.concat([
      Buffer.from('{"model":"claude-opus-4-8","max_tokens":9,"messages":[{"role":"user","content":"'),
      Buffer.from([0xed, 0xa0, 0xbd]),
      Buffer.from('"}]}'),
    ]),
    accepted: says(user('\ud7ff')),
    error: { message: words('no low surrogate in string') },
  },
  {
    rule: 'A32',
    options: { contextTokens: 20 },
    refused: says(user('x'.repeat(80))),
    accepted: says(user('x')),
    error: { message: 'prompt is too long: 28 tokens > 20 maximum' },
  },
  {
    rule: 'A33',
    options: { contextTokens: 100 },
    refused: ofModel('claude-3-5-sonnet-20241022'),
    accepted: ofModel('claude-opus-4-5'),
    error: {
      message:
        'input length and `max_tokens` exceed context limit: 8 + 100 > 100, decrease input length or `max_tokens` and try again',
    },
  },
  ...signedFixtures,
]

/** Rows A1…A34 that no request can break. */
export const anthropicUnjudged: Readonly<Record<string, string>> = {
  A3: 'permits: runs of one role are merged',
  A26: 'permits: a block of another model is ignored without an error',
}
