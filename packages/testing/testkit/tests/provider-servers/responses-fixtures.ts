import type { ServedBlock } from '@palimpsest/testkit'
import { words, type Ask, type Body, type Fixture } from './fixtures.ts'

const of = (more: Body): Body => ({ model: 'gpt-5.6', store: false, ...more })
const says = (...input: Body[]): Body => of({ input })
const user = (content: unknown): Body => ({ role: 'user', content })
const call = (id: string, more: Body = {}): Body => ({
  type: 'function_call',
  call_id: id,
  name: 'read',
  arguments: '{}',
  ...more,
})
const output = (id: string): Body => ({ type: 'function_call_output', call_id: id, output: 'done' })
const assistant = (more: Body = {}): Body => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'x' }],
  ...more,
})
const tools = (name: string): Body => ({ tools: [{ type: 'function', name, parameters: {} }], input: 'hi' })

const blocks: ServedBlock[] = [
  { type: 'thinking', text: ['one', 'two'] },
  { type: 'tool-call', id: 'a', name: 'read', input: {} },
]
const options = { script: () => ({ blocks }) }
type Items = readonly Body[]

/** The next request of a tool loop on this server, whose output items `change` may alter. */
function followUp(change: (output: Items, id: unknown) => Items, more: Body = {}): (ask: Ask) => Promise<Body> {
  return async (ask) => {
    const first = await ask(of({ input: [user('go')], include: ['reasoning.encrypted_content'], ...more }))
    return of({ input: [user('go'), ...change(first['output'] as Items, first['id']), output('a')], ...more })
  }
}
const same = followUp((items) => items)
const stored = { store: true }
const reference = ({ id }: Body): Body => ({ type: 'item_reference', id })

/** The next request of a stored conversation. */
function chained(change: (id: unknown, items: Items) => Body): (ask: Ask) => Promise<Body> {
  return async (ask) => {
    const first = await ask(of({ input: [user('go')], store: true }))
    return of({ store: true, previous_response_id: first['id'], ...change(first['id'], first['output'] as Items) })
  }
}

export const responsesFixtures: readonly Fixture[] = [
  {
    rule: 'OR1.missing',
    refused: of({}),
    accepted: of({ input: 'hi' }),
    error: {
      message: "Missing required parameter: 'input'.",
      type: 'invalid_request_error',
      param: 'input',
      code: 'missing_required_parameter',
    },
  },
  ...[[], ''].map((input): Fixture => ({
    rule: 'OR1.empty',
    refused: of({ input }),
    accepted: of({ input: ' ' }),
    error: {
      message: 'One of "input" or "previous_response_id" or \'prompt\' or \'conversation\' must be provided.',
      code: 'missing_required_parameter',
    },
  })),
  {
    rule: 'OR2',
    refused: says({ role: 'tool', content: 'x' }),
    accepted: says(user('x'), user('y'), { role: 'developer', content: 'z' }, assistant()),
    error: {
      message: "Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
      param: 'input[0]',
    },
  },
  {
    rule: 'OR3',
    refused: says({ ...user('x'), name: 'me' }),
    accepted: says(user('x'), assistant({ phase: 'final', status: 'completed', id: 'msg_1' })),
    error: { message: "Unknown parameter: 'input[0].name'.", code: 'unknown_parameter' },
  },
  {
    rule: 'OR3',
    refused: says({ ...user('x'), phase: 'final' }),
    accepted: says(user('x')),
    error: { message: "Unknown parameter: 'input[0].phase'." },
  },
  {
    rule: 'OR4',
    refused: says(user([{ type: 'output_text', text: 'x' }])),
    accepted: says(user([{ type: 'input_text', text: 'x' }])),
    error: { param: 'input[0].content[0]', code: 'invalid_value' },
  },
  {
    rule: 'OR4',
    refused: says(assistant({ content: [{ type: 'input_text', text: 'x' }] })),
    accepted: says(assistant({ content: [{ type: 'refusal', refusal: 'x' }] })),
    error: { param: 'input[0].content[0]' },
  },
  {
    rule: 'OR5',
    refused: says(user('go'), call('a'), call('b'), output('b')),
    accepted: says(user('go'), call('a'), call('b'), output('b'), output('a')),
    error: { message: 'No tool output found for function call a.', param: 'input', code: null },
  },
  {
    rule: 'OR5',
    options,
    refused: chained(() => ({ input: [user('and?')] })),
    accepted: chained(() => ({ input: [output('a')] })),
    error: { message: 'No tool output found for function call a.' },
  },
  {
    rule: 'OR5.adjacent',
    options: { strict: true },
    refused: says(user('go'), call('a'), user('wait'), output('a')),
    accepted: says(user('go'), call('a'), call('b'), output('a'), output('b'), user('wait')),
    error: { message: 'No tool output found for function call a.' },
  },
  {
    rule: 'OR6',
    refused: says(user('go'), output('a')),
    accepted: says(user('go'), call('a'), output('a')),
    error: { message: 'No tool call found for function call output with call_id a.' },
  },
  {
    rule: 'OR7',
    refused: says(user('go'), call('a'.repeat(65)), output('a'.repeat(65))),
    accepted: says(user('go'), call('a'.repeat(64)), output('a'.repeat(64))),
    error: {
      message:
        "Invalid 'input[1].call_id': string too long. Expected a string with maximum length 64, but got a string with length 65 instead.",
      code: 'string_above_max_length',
    },
  },
  {
    rule: 'OR7',
    refused: says(user('go'), call(''), output('')),
    accepted: says(user('go'), call('a'), output('a')),
    error: { code: 'empty_string' },
  },
  {
    rule: 'OR8',
    refused: says(user('go'), call('a', { id: 'call_a' }), output('a')),
    accepted: says(user('go'), call('a', { id: 'fc_a' }), output('a')),
    error: { message: "Invalid 'input[1].id': 'call_a'. Expected an ID that begins with 'fc'." },
  },
  {
    rule: 'OC8.history',
    refused: says(user('go'), call('a', { name: 'read.file' }), output('a')),
    accepted: says(user('go'), call('a', { name: 'read-file' }), output('a')),
    error: { code: 'invalid_value' },
  },
  {
    rule: 'OC8.tools',
    refused: of(tools('read.file')),
    accepted: of(tools('read-file')),
    error: { param: 'tools[0].name' },
  },
  {
    rule: 'OR9',
    options,
    refused: followUp(([reason, ...rest]) => [reason!, reason!, ...rest]),
    accepted: same,
    error: { message: words('Duplicate item found with id rs_') },
  },
  {
    rule: 'OR9',
    options,
    refused: chained((_, [reason]) => ({ input: [reference(reason!), output('a')] })),
    accepted: chained(() => ({ input: [output('a')] })),
    error: { message: words('Remove duplicate items from your input and try again.') },
  },
  {
    rule: 'OR10',
    options,
    refused: followUp(([, ...rest]) => rest),
    accepted: followUp(([, ...rest]) => rest.map(({ id: _id, ...item }) => item)),
    error: { message: words("of type 'function_call' was provided without its required 'reasoning' item: 'rs_") },
  },
  {
    rule: 'OR11',
    options: { ...options, strict: true },
    refused: async (ask) => {
      const { input, ...rest } = await same(ask)
      return { ...rest, input: (input as Items).slice(0, 2) }
    },
    accepted: same,
    error: { message: words("of type 'reasoning' was provided without its required following item.") },
  },
  {
    rule: 'OR12',
    options,
    refused: followUp(([reason, ...rest]) => [reference(reason!), ...rest]),
    accepted: followUp(([reason, ...rest]) => [reference(reason!), ...rest], stored),
    status: 404,
    error: { message: words('not found. Items are not persisted when `store` is set to false.') },
  },
  {
    rule: 'OR12',
    options,
    refused: followUp(([reason, ...rest]) => [{ ...reason, encrypted_content: null }, ...rest]),
    accepted: followUp(([reason, ...rest]) => [{ ...reason, encrypted_content: null }, ...rest], stored),
    status: 404,
    error: { message: words("Item with id 'rs_") },
  },
  {
    rule: 'OR13',
    options,
    refused: followUp(([reason, ...rest]) => [
      { ...reason, id: 'rs_other' },
      ...rest.map(({ id: _id, ...item }) => item),
    ]),
    accepted: same,
    error: { message: words('The encrypted content gAAA..'), code: 'invalid_encrypted_content' },
  },
  {
    rule: 'OR13',
    options,
    refused: followUp(([reason, ...rest]) => [
      { ...reason, encrypted_content: `gAAAA${String(reason?.['encrypted_content']).slice(6)}` },
      ...rest,
    ]),
    accepted: same,
    error: { code: 'invalid_encrypted_content' },
  },
  {
    rule: 'OR14.tokens',
    refused: of({ input: 'hi', max_output_tokens: 15 }),
    accepted: of({ input: 'hi', max_output_tokens: 16 }),
    error: { code: 'integer_below_min_value' },
  },
  {
    rule: 'OR14.previous',
    refused: of({ input: 'hi', previous_response_id: 'resp_1' }),
    accepted: of({ input: 'hi' }),
    error: { message: "Previous response with id 'resp_1' not found.", code: 'previous_response_not_found' },
  },
  ...[false, true].map((stream): Fixture => ({
    rule: 'OR15',
    options: { contextTokens: 20 },
    refused: { ...says(user('x'.repeat(80))), stream },
    accepted: { ...says(user('x')), stream },
    status: stream ? 200 : 400,
    error: {
      message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
      param: 'input',
      code: 'context_length_exceeded',
    },
  })),
]

export const responsesUnjudged: Readonly<Record<string, string>> = {}
