import { describe, expect, it } from 'vitest'
import type { Message } from '@palimpsest/session'
import { toDeepSeek, validateDeepSeek } from '../src/index.ts'
import type { DeepSeekExportOptions } from '../src/index.ts'
import * as fixed from '../src/shared/fixed-texts.ts'
import { assistant, call, image, reasoning, result, system, text, thinking, user } from './fixtures/messages.ts'
import { refusal } from './fixtures/refusals.ts'

const source = { provider: 'deepseek.chat', model: 'deepseek-v4-pro' }
const thoughts = (list: readonly Message[], options?: DeepSeekExportOptions): unknown[] =>
  toDeepSeek(list, options).messages.flatMap((message) =>
    message.role === 'assistant' ? [message.reasoning_content] : [],
  )

describe('the messages of DeepSeek', () => {
  it('are those of a chat, with entry 0 as system, and reasoning on every assistant', () => {
    const list = [
      system('be brief'),
      user(),
      assistant([reasoning('hm'), text('let me'), call('a'), call('b')], source),
      result('b', 'x'),
      result('a', ''),
      assistant('done', source),
      system('be kind'),
    ]
    const { report, ...wire } = toDeepSeek(list)
    const run = { name: 'run', arguments: '{}' }
    expect(wire.messages).toEqual([
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'hello' },
      {
        role: 'assistant',
        content: 'let me',
        reasoning_content: 'hm',
        tool_calls: [
          { id: 'a', type: 'function', function: run },
          { id: 'b', type: 'function', function: run },
        ],
      },
      { role: 'tool', tool_call_id: 'b', content: 'x' },
      { role: 'tool', tool_call_id: 'a', content: fixed.EMPTY_RESULT_TEXT },
      { role: 'assistant', content: 'done', reasoning_content: '' },
      { role: 'user', content: fixed.framedSystemText('be kind') },
    ])
    expect(report.notes.map((note) => note.code)).toEqual(['result/placeholder', 'system/framed'])
    expect(validateDeepSeek({ model: 'deepseek-v4-pro', ...wire }, { profile: 'request' })).toEqual([])
  })

  it('have an empty text where an assistant only calls', () => {
    const { messages } = toDeepSeek([user(), assistant([call('a')]), result('a')])
    expect(messages[1]).toMatchObject({ content: '', reasoning_content: '' })
  })

  it('have images for a vision model only, those of results after the batch', () => {
    const list = [user([image()]), assistant([call('a')]), result('a', [image()])]
    const options = { image: () => 'AQID' }
    const part = { type: 'image_url', image_url: { url: 'data:image/png;base64,AQID' } }
    const blind = toDeepSeek(list, options)
    expect(blind.messages[0]?.content).toBe(fixed.UNSUPPORTED_IMAGE_TEXT)
    expect(blind.report.notes.map((note) => note.code)).toEqual(['image/unsupported', 'image/unsupported'])
    const seeing = toDeepSeek(list, { ...options, vision: true })
    expect(seeing.messages[0]?.content).toEqual([part])
    expect(seeing.messages[2]?.content).toBe(fixed.movedImageText(1))
    expect(seeing.messages[3]?.content).toEqual([{ type: 'text', text: fixed.MOVED_IMAGES_TEXT }, part])
  })

  it('can alternate: the thoughts of neighbours are joined like their texts', () => {
    const list = [
      user(),
      assistant([reasoning('a'), text('1')], source),
      assistant([reasoning('b'), text('2')], source),
    ]
    expect(toDeepSeek(list, { alternate: true }).messages[1]).toMatchObject({
      content: [
        { type: 'text', text: '1' },
        { type: 'text', text: '2' },
      ],
      reasoning_content: 'ab',
    })
  })
})

describe('reasoning for DeepSeek', () => {
  it('is what DeepSeek made, under any name of its family, and empty for what others made', () => {
    const own = assistant([reasoning('hm'), text('so')], { ...source, provider: 'deepseek' })
    expect(thoughts([user(), own, user(), thinking([text('so')])])).toEqual(['hm', ''])
    expect(thoughts([user(), own], { provider: 'acme.chat' })).toEqual([''])
    expect(thoughts([user(), assistant([reasoning('a'), text('b')], { provider: 'deepseeker' })])).toEqual([''])
    expect(toDeepSeek([user(), thinking([text('so')])]).report.notes.map((note) => note.code)).toEqual([
      'reasoning/dropped',
    ])
  })

  it('is left out where it could not go back as it came', () => {
    expect(thoughts([user(), assistant([reasoning('\ud800'), text('b')], source)])).toEqual([''])
  })

  it('stays away with thinking off, which the result says', () => {
    const list = [user(), assistant([reasoning('hm'), text('so')], source)]
    const off = toDeepSeek(list, { thinking: { type: 'disabled' } })
    expect(off.messages[1]).toEqual({ role: 'assistant', content: 'so' })
    expect(off.thinking).toEqual({ type: 'disabled' })
    expect(validateDeepSeek(off, { profile: 'transcript' })).toEqual([])
    expect(toDeepSeek(list)).not.toHaveProperty('thinking')
  })
})

it('a list that no session derives is refused', () => {
  expect(refusal(() => toDeepSeek([user(), assistant([call('a')])]))).toBe('messages/open-calls')
})
