import { describe, expect, it } from 'vitest'
import type { ContentBlock, Message } from '@palimpsest/session'
import { toAnthropic, toOpenAiChat, validateAnthropic } from '../src/index.ts'
import type {
  AnthropicExport,
  AnthropicExportOptions,
  OpenAiChatExport,
  ProviderMessagesErrorCode,
} from '../src/index.ts'
import * as fixed from '../src/shared/fixed-texts.ts'
import { assistant, call, image, reasoning, result, sealed, system, text, thinking, user } from './fixtures/messages.ts'
import { batch, refusal } from './fixtures/refusals.ts'

const bytes = (): Uint8Array => new Uint8Array([1, 2, 3])
const png = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AQID' } }
const txt = (value: string): unknown => ({ type: 'text', text: value })

function codes({ report }: AnthropicExport | OpenAiChatExport): string[] {
  return report.notes.map((note) => note.code)
}

describe('the system slot', () => {
  it('takes entry 0 only; a later system entry becomes user text in a frame', () => {
    const list = [system('be brief'), user(), assistant(), system('be kind')]
    const anthropic = toAnthropic(list)
    expect(anthropic.system).toEqual([txt('be brief')])
    expect(anthropic.messages.at(-1)).toEqual({ role: 'user', content: [txt(fixed.framedSystemText('be kind'))] })
    const chat = toOpenAiChat(list)
    expect(chat.messages[0]).toEqual({ role: 'system', content: 'be brief' })
    expect(chat.messages.at(-1)).toEqual({ role: 'user', content: fixed.framedSystemText('be kind') })
    expect(codes(anthropic)).toEqual(['system/framed'])
  })

  it('stays away when entry 0 has nothing to say', () => {
    expect(toAnthropic([system(' '), user()])).not.toHaveProperty('system')
    expect(toOpenAiChat([system(' '), user()]).messages.map((message) => message.role)).toEqual(['user'])
  })
})

describe('what a provider would refuse to read', () => {
  it('a list that would begin with an assistant gets an opening user text', () => {
    const list = [system(), assistant()]
    expect(toAnthropic(list).messages[0]).toEqual({ role: 'user', content: [txt(fixed.OPENING_TEXT)] })
    expect(toOpenAiChat(list).messages[1]).toEqual({ role: 'user', content: fixed.OPENING_TEXT })
    expect(codes(toAnthropic(list))).toEqual(['opening/added'])
  })

  it('a user entry with nothing sendable becomes a placeholder; what was left out is named', () => {
    const odd = { type: 'acme/note' } as unknown as ContentBlock
    const list = [user([text(' '), odd])]
    expect(toOpenAiChat(list).messages).toEqual([{ role: 'user', content: fixed.EMPTY_USER_TEXT }])
    expect(toAnthropic(list).report.notes).toEqual([
      { code: 'block/left-out', messageId: list[0]?.id, detail: 'acme/note' },
      { code: 'user/placeholder', messageId: list[0]?.id },
    ])
  })

  it('blank arguments are no arguments, and well-formed arguments keep the bytes of the model', () => {
    const raw = '{ "n": 12345678901234567890, "a": 1, "a": 2 }'
    const list = [user(), assistant([call('a', ' '), call('b', raw)]), result('b'), result('a')]
    expect(toOpenAiChat(list).messages[1]).toMatchObject({
      tool_calls: [{ function: { arguments: '{}' } }, { function: { arguments: raw } }],
    })
    expect(toAnthropic(list).messages[1]?.content[0]).toMatchObject({ input: {} })
  })

  it.each(['[]', 'null', '7', '{"a":1e999}', `${'{"a":'.repeat(101)}1${'}'.repeat(101)}`, '{"a":'.repeat(50_000)])(
    'arguments that no provider takes as an object are marked: %.20s',
    (raw) => {
      const list = [user(), assistant([call('a', raw)]), result('a')]
      expect(toAnthropic(list).messages[1]?.content[0]).toMatchObject({ input: { [fixed.INVALID_ARGUMENTS]: raw } })
      expect(codes(toOpenAiChat(list))).toEqual(['arguments/marked'])
    },
  )

  it('a call id comes into the pattern, within 40 characters for OpenAI', () => {
    const long = 'i'.repeat(50)
    const list = [user(), assistant([call('a.b'), call('a_b'), call(long)]), result(long), result('a_b'), result('a.b')]
    const ids = (wire: OpenAiChatExport): unknown[] =>
      wire.messages.map((message) => ('tool_call_id' in message ? message.tool_call_id : ''))
    expect(ids(toOpenAiChat(list)).slice(2)).toEqual(['i'.repeat(40), 'a_b_2', 'a_b'])
    expect(
      toAnthropic(list).messages.flatMap((message) => message.content.map((block) => ('id' in block ? block.id : ''))),
    ).toContain(long)
    expect(codes(toAnthropic(list))).toEqual(['call-id/rewritten', 'call-id/rewritten'])
  })

  it('tool names map one to one, the same in every list, and the map is in the report', () => {
    const list = [
      user(),
      assistant([call('1', '{}', 'a.b'), call('2', '{}', 'a/b'), call('3', '{}', 'a_b')]),
      ...['1', '2', '3'].map((id) => result(id)),
    ]
    const { toolNames } = toOpenAiChat(list, { tools: ['z', 'a/b'] }).report
    expect(toolNames.map((tool) => tool.name)).toEqual(['z', 'a/b', 'a.b', 'a_b'])
    expect(new Set(toolNames.map((tool) => tool.wire)).size).toBe(4)
    const alone = toOpenAiChat([], { tools: ['a.b'] }).report.toolNames
    expect(toolNames).toContainEqual(alone[0])
    // A tool whose own name is what another one became.
    const imitator = alone[0]?.wire ?? ''
    const names = toOpenAiChat([], { tools: ['a.b', imitator] }).report.toolNames.map((tool) => tool.wire)
    expect(new Set(names).size).toBe(2)
  })
})

describe('images', () => {
  it('go where they stand when the provider takes them', () => {
    const list = [user([text('see'), image()]), assistant([call('a')]), result('a', [image()])]
    const anthropic = toAnthropic(list, { image: bytes })
    expect(anthropic.messages[0]?.content).toEqual([txt('see'), png])
    expect(anthropic.messages[2]?.content).toEqual([{ type: 'tool_result', tool_use_id: 'a', content: [png] }])
    expect(toOpenAiChat(list, { image: () => 'AQID' }).messages[0]).toEqual({
      role: 'user',
      content: [txt('see'), { type: 'image_url', image_url: { url: 'data:image/png;base64,AQID' } }],
    })
  })

  it('of tool messages move to one user message after the whole batch', () => {
    const list = [
      user(),
      assistant([call('a'), call('b')]),
      result('b', [text('b:'), image()]),
      result('a', [image()]),
      user(),
    ]
    const part = { type: 'image_url', image_url: { url: 'data:image/png;base64,AQID' } }
    const chat = toOpenAiChat(list, { image: bytes })
    expect(chat.messages.slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'b', content: [txt('b:'), txt(fixed.movedImageText(1))] },
      { role: 'tool', tool_call_id: 'a', content: fixed.movedImageText(2) },
      { role: 'user', content: [txt(fixed.MOVED_IMAGES_TEXT), part, part] },
      { role: 'user', content: 'hello' },
    ])
    expect(codes(chat)).toEqual(['image/moved', 'image/moved'])
  })

  it('of error results move for Anthropic, and so do images of the assistant', () => {
    const list = [user(), assistant([image(), call('a')]), result('a', [image()], true), assistant([image()])]
    const { messages } = toAnthropic(list, { image: bytes })
    expect(messages.slice(1)).toEqual([
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'run', input: {} }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'a', content: [txt(fixed.movedImageText(2))], is_error: true }],
      },
      { role: 'user', content: [txt(fixed.MOVED_IMAGES_TEXT), png, png] },
      { role: 'user', content: [txt(fixed.MOVED_IMAGES_TEXT), png] },
    ])
  })

  it('without bytes, or of a type that is not taken, become fixed texts', () => {
    const list = [user([image(), image({ mediaType: 'image/svg+xml' })])]
    const wire = toAnthropic(list, { image: (ref) => (ref.mediaType === 'image/png' ? undefined : bytes()) })
    expect(wire.messages[0]?.content).toEqual([txt(fixed.MISSING_IMAGE_TEXT), txt(fixed.UNSUPPORTED_IMAGE_TEXT)])
    expect(codes(wire)).toEqual(['image/missing', 'image/unsupported'])
  })

  it('of any length come out as their base64', () => {
    for (const length of [1, 2, 3, 24_575, 24_576, 24_577, 60_000]) {
      const raw = Uint8Array.from({ length }, (_, index) => (index * 7) % 256)
      const { messages } = toAnthropic([user([image()])], { image: () => raw })
      expect(messages[0]?.content[0]).toMatchObject({ source: { data: Buffer.from(raw).toString('base64') } })
    }
  })
})

describe('signed reasoning', () => {
  const signed = { model: 'claude-sonnet-4-5', intactThrough: 99 } satisfies AnthropicExportOptions
  const kept = (list: readonly Message[], options: AnthropicExportOptions = signed): boolean => {
    return JSON.stringify(toAnthropic(list, options).messages).includes('thinking')
  }

  it('goes back exactly as it came', () => {
    const list = [user(), thinking([text('so')]), user()]
    expect(toAnthropic(list, signed).messages[1]?.content).toEqual([
      { type: 'thinking', thinking: 'let me see', signature: 'sig' },
      txt('so'),
    ])
    const redacted = thinking([text('so')], {}, { type: 'redacted_thinking', data: 'd' })
    expect(toAnthropic([user(), redacted], signed).messages[1]?.content[0]).toEqual({
      type: 'redacted_thinking',
      data: 'd',
    })
  })

  it('goes back to its provider and model family only, and only with an intact prefix', () => {
    const list = [user(), thinking([text('so')]), user()]
    expect(kept(list)).toBe(true)
    expect(kept(list, { ...signed, intactThrough: 2 })).toBe(true)
    expect(kept(list, { ...signed, intactThrough: 1 })).toBe(false)
    expect(kept(list, { intactThrough: 99 })).toBe(false)
    expect(kept(list, { model: signed.model })).toBe(false)
    expect(kept(list, { ...signed, model: 'claude-opus-4-5' })).toBe(false)
    expect(kept(list, { ...signed, provider: 'bedrock' })).toBe(false)
    expect(kept(list, { ...signed, thinking: { type: 'disabled' } })).toBe(false)
    expect(kept([user(), thinking([text('so')], { provider: 'bedrock' })], { ...signed, provider: 'bedrock' })).toBe(
      true,
    )
  })

  it('goes back whole or not at all: every block sealed and well-formed, visible content after the last', () => {
    const blocks = [reasoning('a'), text('b'), reasoning('c')]
    const both = [sealed('1'), null, sealed('2')]
    expect(kept([user(), assistant([...blocks, text('d')], { replayState: { blocks: both } })])).toBe(true)
    expect(kept([user(), assistant([...blocks, text(' ')], { replayState: { blocks: both } })])).toBe(false)
    expect(kept([user(), assistant([...blocks, text('d')], { replayState: { blocks: [sealed('1')] } })])).toBe(false)
    expect(
      kept([user(), assistant([reasoning('\ud800'), text('d')], { replayState: { blocks: [sealed('1')] } })]),
    ).toBe(false)
    expect(kept([user(), thinking([text('so')], { replayState: 'odd' })])).toBe(false)
    expect(codes(toAnthropic([user(), assistant([reasoning('a'), text('b')])], signed))).toEqual(['reasoning/dropped'])
  })

  it('stays behind where something before a later block would not go back as it came', () => {
    const list = (between: ContentBlock): Message[] => {
      const replayState = { blocks: [sealed('1'), null, sealed('2')] }
      const message = assistant([reasoning('a'), between, reasoning('c'), text('d')], { replayState })
      return [user(), message, ...(between.type === 'tool-call' ? [result(between.id)] : [])]
    }
    for (const between of [text('b'), text(''), call('t'), call('t', '')]) expect(kept(list(between))).toBe(true)
    for (const between of [text('\n'), text('b\ud800'), call('t', '[1]'), call('t', '{"a":"\\ud800"}'), call('t~2')])
      expect(kept(list(between))).toBe(false)
    // What stands behind the last block is bound to by nobody yet.
    const replayState = { blocks: [sealed('1')] }
    expect(kept([user(), assistant([reasoning('a'), text('b\ud800')], { replayState })])).toBe(true)
  })

  it('is dropped for OpenAI', () => {
    const chat = toOpenAiChat([user(), thinking([text('so')])])
    expect(chat.messages[1]).toEqual({ role: 'assistant', content: 'so' })
    expect(codes(chat)).toEqual(['reasoning/dropped'])
  })
})

describe('an open tool turn', () => {
  const manual = {
    model: 'claude-sonnet-4-5',
    intactThrough: 99,
    thinking: { type: 'enabled', budget_tokens: 9 },
  } as const
  const adaptive = { ...manual, model: 'claude-opus-4-8', thinking: { type: 'adaptive' } } as const

  it('goes on thinking while its first assistant starts with signed reasoning', () => {
    const list = [user(), thinking([call('a')]), result('a'), assistant([call('b')]), result('b')]
    const { report, ...wire } = toAnthropic(list, manual)
    expect(report.thinkingOff).toBe(false)
    expect(validateAnthropic({ model: manual.model, max_tokens: 9, ...wire }, { profile: 'request' })).toEqual([])
  })

  it('without a usable signature goes out with thinking off, without any signed reasoning, and says so', () => {
    const list = [user(), thinking([text('so')]), user(), assistant([reasoning('x'), call('a')]), result('a')]
    const { report, ...wire } = toAnthropic(list, manual)
    expect(report.thinkingOff).toBe(true)
    expect(report.notes).toContainEqual({ code: 'thinking/off', messageId: list.at(-1)?.id })
    expect(wire.thinking).toEqual({ type: 'disabled' })
    expect(JSON.stringify(wire.messages)).not.toContain('thinking')
    expect(validateAnthropic({ model: manual.model, max_tokens: 9, ...wire }, { profile: 'request' })).toEqual([])
  })

  it('is over with the next user message: thinking is as asked, and earlier reasoning is back', () => {
    const list = [user(), thinking([text('so')]), user(), assistant([call('a')]), result('a'), assistant(), user()]
    const wire = toAnthropic(list, manual)
    expect(wire.thinking).toEqual(manual.thinking)
    expect(JSON.stringify(wire.messages)).toContain('signature')
  })

  it('with adaptive thinking goes off only when reasoning of that turn was dropped and none is left', () => {
    const open = (...steps: Message[]): boolean =>
      toAnthropic([user(), ...steps, result('a')], adaptive).report.thinkingOff
    const own = { model: 'claude-opus-4-8' }
    expect(open(assistant([call('a')], own))).toBe(false)
    expect(open(assistant([reasoning('x'), call('a')], own))).toBe(true)
    expect(open(thinking([text('so')], own), assistant([reasoning('x'), call('a')], own))).toBe(false)
  })

  it('of a model that cannot turn thinking off is only reported', () => {
    const wire = toAnthropic([user(), assistant([reasoning('x'), call('a')]), result('a')], {
      ...adaptive,
      model: 'claude-fable-5-1',
    })
    expect(wire.report.thinkingOff).toBe(false)
    expect(wire.thinking).toEqual({ type: 'adaptive' })
    expect(codes(wire)).toEqual(['reasoning/dropped', 'thinking/kept'])
  })
})

describe('a list that no session derives is refused', () => {
  const odd = (message: Message, ...content: ContentBlock[]): Message => ({ ...message, content })
  const calling = assistant([call('a')])
  const cases: [ProviderMessagesErrorCode, string, Message[]][] = [
    ['messages/open-calls', 'that ends while a call is open', [user(), calling]],
    ['messages/open-calls', 'that goes on while a call is open', [user(), calling, user(), result('a')]],
    ['messages/unknown-call', 'with a result of no call', [user(), result('a')]],
    ['messages/unknown-call', 'with two results of one call', [user(), calling, result('a'), result('a')]],
    ['messages/duplicate-call', 'with a call that is open twice', [user(), assistant([call('a'), call('a')])]],
    ['messages/invalid', 'with a call of the user', [odd(user(), text('x'), call('a'))]],
    ['messages/invalid', 'with an image of the system', [odd(system(), image())]],
    ['messages/invalid', 'with a result of the assistant', [odd(assistant(), ...result('a').content)]],
    [
      'messages/invalid',
      'with two results in one',
      [user(), calling, odd(result('a'), ...result('a').content, text('x'))],
    ],
    ['messages/invalid', 'with a call inside a result', [user(), calling, result('a', [call('b')])]],
  ]
  it.each(cases)('%s: %s', (code, _, list) => {
    expect(refusal(() => toAnthropic(list))).toBe(code)
    expect(refusal(() => toOpenAiChat(list))).toBe(code)
  })
})

describe('an export over budget is refused, never cut', () => {
  const pictures = (count: number, more = {}): Message[] => [user(Array.from({ length: count }, () => image(more)))]
  it.each<[ProviderMessagesErrorCode, () => unknown, () => unknown]>([
    [
      'budget/images',
      () => toAnthropic(pictures(101), { image: bytes }),
      () => toAnthropic(pictures(100), { image: bytes }),
    ],
    [
      'budget/image-bytes',
      () => toAnthropic(pictures(1), { image: bytes, limits: { imageBytes: 3 } }),
      () => toAnthropic(pictures(1), { image: bytes, limits: { imageBytes: 4 } }),
    ],
    [
      'budget/image-side',
      () => toAnthropic(pictures(1, { width: 8001 }), { image: bytes }),
      () => toAnthropic(pictures(1, { width: 8000 }), { image: bytes }),
    ],
    [
      'budget/image-side',
      () => toAnthropic(pictures(21, { height: 2001 }), { image: bytes }),
      () => toAnthropic(pictures(20, { height: 2001 }), { image: bytes }),
    ],
    [
      'budget/messages',
      () => toAnthropic([user(), user()], { limits: { messages: 1 } }),
      () => toAnthropic([user(), user()], { limits: { messages: 2 } }),
    ],
    [
      'budget/bytes',
      () => toAnthropic([user('é'.repeat(99))], { limits: { bytes: 200 } }),
      () => toAnthropic([user()], { limits: { bytes: 200 } }),
    ],
    [
      'budget/bytes',
      () => toOpenAiChat([user('é'.repeat(99))], { limits: { bytes: 200 } }),
      () => toOpenAiChat([user()], { limits: { bytes: 200 } }),
    ],
    [
      'budget/images',
      () => toOpenAiChat(pictures(2), { image: bytes, limits: { images: 1 } }),
      () => toOpenAiChat(pictures(1), { image: bytes, limits: { images: 1 } }),
    ],
    ['budget/tool-calls', () => toOpenAiChat(batch(129)), () => toOpenAiChat(batch(128))],
    [
      'options/invalid',
      () => toAnthropic(pictures(1), { image: () => 'no base64!' }),
      () => toAnthropic(pictures(1), { image: () => 'AQID' }),
    ],
  ])('%s', (code, over, within) => {
    expect(refusal(over)).toBe(code)
    expect(refusal(within)).toBeUndefined()
  })
})
