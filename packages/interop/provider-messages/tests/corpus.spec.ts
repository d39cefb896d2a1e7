import { describe, expect, it } from 'vitest'
import type { Message } from '@palimpsest/session'
import { toAnthropic, toOpenAiChat, validateAnthropic, validateOpenAiChat } from '../src/index.ts'
import { EMPTY_RESULT_TEXT, INVALID_ARGUMENTS } from '../src/shared/fixed-texts.ts'
import { assistant, call, image, reasoning, result, sealed, text, thinking, user } from './fixtures/messages.ts'

// The exporter half of cases in which other systems failed; the log's half is tested with the core.

/** Both exports, each accepted by its provider as a request. */
function exportBoth(
  list: readonly Message[],
  alternate = false,
): {
  anthropic: ReturnType<typeof toAnthropic>
  chat: ReturnType<typeof toOpenAiChat>
} {
  const before = JSON.stringify(list)
  const anthropic = toAnthropic(list, { alternate })
  const chat = toOpenAiChat(list, { alternate })
  expect(JSON.stringify(list)).toBe(before)
  const { messages } = anthropic
  expect(validateAnthropic({ model: 'claude-opus-4-8', max_tokens: 9, messages }, { profile: 'request' })).toEqual([])
  expect(validateOpenAiChat({ model: 'gpt-4.1', messages: chat.messages }, { profile: 'request' })).toEqual([])
  return { anthropic, chat }
}

describe('corpus', () => {
  it('DU-02: calls that share one id keep their three results, in order, under distinct ids', () => {
    const turns = ['1', '2', '3'].flatMap((output) => [assistant([call('x')]), result('x', output)])
    const { anthropic, chat } = exportBoth([user(), ...turns])

    const blocks = anthropic.messages.flatMap((message) => [...message.content])
    const uses = blocks.filter((block) => block.type === 'tool_use')
    const results = blocks.filter((block) => block.type === 'tool_result')
    expect(uses.map((block) => block.id)).toEqual(['x', 'x_2', 'x_3'])
    expect(results.map((block) => [block.tool_use_id, block.content])).toEqual([
      ['x', [{ type: 'text', text: '1' }]],
      ['x_2', [{ type: 'text', text: '2' }]],
      ['x_3', [{ type: 'text', text: '3' }]],
    ])
    expect(chat.messages.filter((message) => message.role === 'tool')).toEqual([
      { role: 'tool', tool_call_id: 'x', content: '1' },
      { role: 'tool', tool_call_id: 'x_2', content: '2' },
      { role: 'tool', tool_call_id: 'x_3', content: '3' },
    ])
  })

  it('EM-01: a turn of reasoning alone is left out, an empty result becomes a placeholder and stays paired', () => {
    const silent = assistant([reasoning('hm')])
    const list = [user('one'), silent, user('two'), assistant([text(''), call('a')]), result('a', ''), user('three')]
    const { anthropic, chat } = exportBoth(list)

    expect(anthropic.messages.map((message) => message.role)).toEqual(['user', 'user', 'assistant', 'user', 'user'])
    expect(anthropic.messages[3]?.content).toEqual([
      { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: EMPTY_RESULT_TEXT }] },
    ])
    expect(chat.messages[3]).toEqual({ role: 'tool', tool_call_id: 'a', content: EMPTY_RESULT_TEXT })
    for (const { report } of [anthropic, chat]) {
      expect(report.notes).toContainEqual({ code: 'assistant/left-out', messageId: silent.id })
      expect(report.notes.map((note) => note.code)).toContain('result/placeholder')
    }
  })

  it('EN-02: no lone surrogate reaches a provider, in nested arguments and in object keys', () => {
    const args = '{"text":"cut \\ud99c","deep":[{"\\udc00":"\\ud83d\\ude00"}],"\\ufffd":1,"\\ud800":2,"\\udfff":3}'
    const list = [user('half \ud83d'), assistant([call('a', args)]), result('a', '\ude00 other half'), user()]
    const { anthropic, chat } = exportBoth(list)

    const clean = { text: 'cut \ufffd', deep: [{ '\ufffd': '😀' }], '\ufffd': 1, '\ufffd_2': 2, '\ufffd_3': 3 }
    expect(anthropic.messages[1]?.content[0]).toMatchObject({ input: clean })
    const [, message] = chat.messages
    const sent = message?.role === 'assistant' ? message.tool_calls?.[0] : undefined
    expect(sent?.type === 'function' && JSON.parse(sent.function.arguments)).toEqual(clean)
    expect(JSON.stringify([anthropic.messages, chat.messages])).not.toMatch(/\\\\?ud[89a-f]/i)
  })

  it('MA-01: arguments cut off in the middle go out as an object that says so, with their result', () => {
    const { anthropic, chat } = exportBoth([
      user(),
      assistant([call('a', '{"cmd":"x')]),
      result('a', 'parse error', true),
      user(),
    ])

    const marked = { [INVALID_ARGUMENTS]: '{"cmd":"x' }
    expect(anthropic.messages[1]?.content).toEqual([{ type: 'tool_use', id: 'a', name: 'run', input: marked }])
    expect(chat.messages[1]).toMatchObject({
      tool_calls: [{ id: 'a', function: { arguments: JSON.stringify(marked) } }],
    })
    for (const { report } of [anthropic, chat])
      expect(report.notes.map((note) => note.code)).toContain('arguments/marked')
  })

  it('OC-03: a closed call and the prompt of the resume are one turn for a provider that wants alternation', () => {
    const list = [
      user('go'),
      assistant([call('a')]),
      result('a', 'first'),
      assistant([call('b')]),
      result('b', 'The outcome of this call is unknown.', true),
      user('are you there?'),
    ]
    const { anthropic, chat } = exportBoth(list, true)

    expect(anthropic.messages.map((message) => message.role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
    ])
    expect(anthropic.messages[4]?.content.map((block) => block.type)).toEqual(['tool_result', 'text'])
    expect(chat.messages.map((message) => message.role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'tool',
      'user',
    ])
  })

  it('EM-04: what has no text is sent where it says something: an image alone, signed reasoning before a call', () => {
    const signed = { model: 'claude-sonnet-4-5', intactThrough: 99, image: () => new Uint8Array([1, 2, 3]) }
    const list = [user([image()]), thinking([call('a')]), result('a', [image()]), user()]
    const { messages } = toAnthropic(list, signed)
    expect(messages.map(({ content }) => content.map(({ type }) => type))).toEqual([
      ['image'],
      ['thinking', 'tool_use'],
      ['tool_result'],
      ['text'],
    ])
    expect(messages[2]?.content).toMatchObject([{ content: [{ type: 'image' }] }])
    expect(toOpenAiChat(list, signed).messages[0]?.content).toMatchObject([{ type: 'image_url' }])
  })

  it('TH-03: two thoughts around a text stay two, each where it stood', () => {
    const content = [reasoning('one'), text('so'), reasoning('two'), call('a')]
    const replayState = { blocks: [sealed('1'), null, sealed('2'), null] }
    const list = [user(), assistant(content, { replayState }), result('a')]
    const { messages } = toAnthropic(list, { model: 'claude-sonnet-4-5', intactThrough: 99 })
    expect(messages[1]?.content).toEqual([
      { type: 'thinking', thinking: 'one', signature: '1' },
      { type: 'text', text: 'so' },
      { type: 'thinking', thinking: 'two', signature: '2' },
      { type: 'tool_use', id: 'a', name: 'run', input: {} },
    ])
  })
})
