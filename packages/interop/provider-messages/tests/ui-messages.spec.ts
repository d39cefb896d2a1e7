import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toUiMessages, uiMessageRules, validateUiMessages } from '../src/index.ts'
import type { UiMessage } from '../src/index.ts'
import { anyEntries } from './fixtures/derived-lists.ts'
import { assistant, call, result, user } from './fixtures/messages.ts'

const profile = 'transcript'
const bytes = (): Uint8Array => new Uint8Array([1, 2, 3])

describe('messages for a page', () => {
  it('hold a turn of several responses as one message, a call and its result as one part', () => {
    const { messages, report } = toUiMessages([
      user('hi'),
      assistant([call('a'), call('b')]),
      result('b', 'two'),
      result('a', 'one'),
      assistant([{ type: 'text', text: 'done' }]),
      user('more'),
    ])
    expect(report.notes).toEqual([])
    expect(messages.map(({ role, parts }) => [role, ...parts.map(({ type }) => type)])).toEqual([
      ['user', 'text'],
      [
        'assistant',
        'step-start',
        expect.stringMatching(/^tool-/),
        expect.stringMatching(/^tool-/),
        'step-start',
        'text',
      ],
      ['user', 'text'],
    ])
    expect(messages[1]?.parts.slice(1, 3)).toMatchObject([
      { toolCallId: 'a', state: 'output-available', output: 'one' },
      { toolCallId: 'b', state: 'output-available', output: 'two' },
    ])
  })

  it('show calls that still run, and refuse results whose calls are not there', () => {
    const { messages } = toUiMessages([user('hi'), assistant([call('a')])])
    expect(messages[1]?.parts.at(-1)).toMatchObject({ state: 'input-available' })
    expect(() => toUiMessages([result('a', 'x')])).toThrow(expect.objectContaining({ code: 'messages/unknown-call' }))
  })

  it('break none of their rules, whatever list a session derives', () => {
    fc.assert(
      fc.property(anyEntries, fc.boolean(), (entries, hasBytes) => {
        const list = entries
          .flat()
          .map((message, index) => ({ ...message, id: `${message.id}-${index}` as typeof message.id }))
        const { messages } = toUiMessages(list, hasBytes ? { image: bytes } : {})
        expect(validateUiMessages(messages, { profile })).toEqual([])
        expect(messages.every(({ role }, index) => role !== 'assistant' || messages[index - 1]?.role !== role)).toBe(
          true,
        )
      }),
    )
  })
})

describe('the rules of messages for a page', () => {
  const message = (parts: unknown, more: object = {}): object => ({ id: 'm', role: 'assistant', parts, ...more })
  const tool = (more: object): object => ({ type: 'tool-x', toolCallId: 'a', ...more })
  const cases: [rule: string, refused: unknown, accepted: unknown][] = [
    ['UI1', {}, []],
    ['UI1', [null], [message([])]],
    ['UI1', [message([], { role: 'tool' })], [message([], { role: 'user' })]],
    ['UI1', [message(undefined)], [message([])]],
    ['UI2', [message([{ type: 'x' }])], [message([{ type: 'step-start' }])]],
    ['UI2', [message([{ type: 'text' }])], [message([{ type: 'text', text: '' }])]],
    ['UI2', [message([{ type: 'data-x' }])], [message([{ type: 'data-x', data: null }])]],
    [
      'UI2',
      [message([{ type: 'step-start' }], { role: 'system' })],
      [message([{ type: 'text', text: 'x' }], { role: 'system' })],
    ],
    ['UI3', [message([tool({ state: 'x' })])], [message([tool({ state: 'input-streaming' })])]],
    [
      'UI3',
      [message([tool({ state: 'output-available', input: {} })])],
      [message([tool({ state: 'output-available', input: {}, output: null })])],
    ],
    ['UI3', [message([tool({ state: 'input-streaming' })], { role: 'user' })], []],
    ['UI4', [message([]), message([])], [message([]), message([], { id: 'n' })]],
  ]
  it.each(cases)('%s', (rule, refused, accepted) => {
    expect(validateUiMessages(refused, { profile }).map((found) => found.rule)).toContain(rule)
    expect(validateUiMessages(accepted, { profile })).toEqual([])
    expect(uiMessageRules.map(({ id }) => id)).toContain(rule)
  })

  it('never throw', () => {
    fc.assert(fc.property(fc.anything(), (value) => Array.isArray(validateUiMessages(value)) as unknown as void))
    expect(validateUiMessages([] satisfies UiMessage[])).toEqual([])
  })
})
