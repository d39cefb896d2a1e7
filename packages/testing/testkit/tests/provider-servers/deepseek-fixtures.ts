import { words, type Body, type Fixture } from './fixtures.ts'

const of = (more: Body): Body => ({ model: 'deepseek-v4-pro', messages: [user('hi')], ...more })
const says = (...messages: Body[]): Body => of({ messages })
const user = (content: unknown): Body => ({ role: 'user', content })
const tool = (id: string): Body => ({ role: 'tool', tool_call_id: id, content: 'done' })
const calls = (...ids: string[]): Body => ({
  role: 'assistant',
  content: '',
  reasoning_content: 'hm',
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'read', arguments: '{}' } })),
})
const assistant = (more: Body = {}): Body => ({ role: 'assistant', content: 'x', ...more })
const failed = 'Failed to deserialize the JSON body into the target type: '
const passedBack = 'The `reasoning_content` in the thinking mode must be passed back to the API.'

export const deepseekFixtures: readonly Fixture[] = [
  {
    rule: 'DS1',
    refused: says(user('x'), { role: 'developer', content: 's' }),
    accepted: says(user('x'), user('y'), { role: 'system', content: 's' }),
    error: {
      message: words(
        `${failed}messages[1].role: unknown variant \`developer\`, expected one of \`system\`, \`user\`, \`assistant\`, \`tool\`, \`latest_reminder\` at line 1 column `,
      ),
      type: 'invalid_request_error',
      param: null,
      code: 'invalid_request_error',
    },
  },
  {
    rule: 'DS3',
    refused: says(user('x'), calls('a', 'b'), tool('a'), user('so?')),
    accepted: says(user('x'), calls('a', 'b'), tool('b'), tool('a'), user('so?')),
    error: {
      message:
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (insufficient tool messages following tool_calls message)",
    },
  },
  {
    rule: 'DS4',
    refused: says(user('x'), assistant(), tool('a')),
    accepted: says(user('x'), calls('a'), tool('a')),
    error: { message: "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'" },
  },
  {
    rule: 'DS5',
    refused: says(user('x'), calls('a'), tool('a'), assistant(), user('y')),
    accepted: says(
      user('x'),
      calls('a'),
      tool('a'),
      assistant({ reasoning_content: '' }),
      user('y'),
      assistant(),
      user('z'),
    ),
    error: { message: passedBack },
  },
  {
    rule: 'DS5',
    refused: says(user('x'), { ...calls('a'), reasoning_content: null }, tool('a')),
    accepted: {
      ...says(user('x'), { ...calls('a'), reasoning_content: null }, tool('a')),
      thinking: { type: 'disabled' },
    },
    error: { message: passedBack },
  },
  {
    rule: 'DS5.always',
    options: { strict: true },
    refused: says(user('x'), assistant(), user('y')),
    accepted: says(user('x'), assistant({ reasoning_content: '' }), user('y')),
    error: { message: passedBack },
  },
  {
    rule: 'DS6.content',
    refused: says(user([{ type: 'image_url', image_url: { url: 'https://images.example/a.png' } }])),
    accepted: {
      ...says(user([{ type: 'image_url', image_url: { url: 'https://images.example/a.png' } }])),
      model: 'deepseek-vl2',
    },
    error: { message: words(`${failed}messages[0].content: unknown variant \`image_url\`, expected \`text\``) },
  },
  {
    rule: 'DS6.tools',
    refused: of({ tools: [{ type: 'custom', name: 'read' }] }),
    accepted: of({ tools: [{ type: 'function', function: { name: 'read' } }] }),
    error: { message: words(`${failed}tools[0]: missing field \`function\``) },
  },
  {
    rule: 'DS7',
    refused: says(user('a'), user('\ud83d')),
    accepted: says(user('a'), user('\ud83d\ude00')),
    error: {
      message: words(
        'Failed to parse the request body as JSON: messages[1].content: lone leading surrogate in hex escape at line 1 column ',
      ),
    },
  },
  {
    rule: 'DS8',
    options: { contextTokens: 50 },
    refused: { ...says(user('x'.repeat(80))), max_tokens: 30 },
    accepted: says(user('x'.repeat(80))),
    error: {
      message:
        "This model's maximum context length is 50 tokens. However, you requested 58 tokens (28 in the messages, 30 in the completion). Please reduce the length of the messages or completion.",
    },
  },
  {
    rule: 'DS9.choice',
    options: { strict: true },
    refused: of({ tool_choice: 'required' }),
    accepted: of({ tool_choice: 'auto' }),
    error: { message: words('tool_choice') },
  },
  {
    rule: 'DS9.prefix',
    options: { strict: true },
    refused: says(user('x'), assistant({ prefix: true, reasoning_content: '' }), user('y')),
    accepted: says(user('x'), assistant({ reasoning_content: '' }), user('y')),
    error: { message: words('prefix') },
  },
]

export const deepseekUnjudged: Readonly<Record<string, string>> = {
  DS2: 'permits: any order of roles',
}
