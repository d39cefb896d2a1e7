import { describe, expect, it } from 'vitest'
import type { Json, Message } from '@palimpsest/session'
import { toOpenAiResponses, validateOpenAiResponses } from '../src/index.ts'
import type { OpenAiResponsesExportOptions } from '../src/index.ts'
import * as fixed from '../src/shared/fixed-texts.ts'
import { assistant, call, image, reasoning, result, sealed, system, text, user } from './fixtures/messages.ts'
import { batch, refusal } from './fixtures/refusals.ts'

const bytes = (): Uint8Array => new Uint8Array([1, 2, 3])
const png = { type: 'input_image', image_url: 'data:image/png;base64,AQID' }
const input = (value: string): unknown => ({ type: 'input_text', text: value })
const said = (...values: string[]): unknown => ({
  type: 'message',
  role: 'assistant',
  content: values.map((value) => ({ type: 'output_text', text: value })),
})
const asked = (...content: unknown[]): unknown => ({ type: 'message', role: 'user', content })

const own = { model: 'gpt-5', intactThrough: 99 } satisfies OpenAiResponsesExportOptions
const source = { provider: 'openai.responses', model: 'gpt-5-2025-08-07' }
const item = (itemId: string, reasoningEncryptedContent: Json = 'bytes', more = {}): Json => ({
  providerMetadata: { openai: { itemId, reasoningEncryptedContent, ...more } },
})
const made = (content: Parameters<typeof assistant>[0], blocks: Json[], more = {}): Message =>
  assistant(content, { ...source, replayState: { blocks }, ...more })
const thoughtful = (id = 'rs_1', more = {}): Message => made([reasoning('hm'), text('so')], [item(id), null], more)
const types = (list: readonly Message[], options: OpenAiResponsesExportOptions = own): string[] =>
  toOpenAiResponses(list, options).input.map((entry) => entry.type)

describe('the input of Responses', () => {
  it('begins with entry 0 as its one system message; a later system entry becomes user text in a frame', () => {
    const list = [system([text('be brief'), text('be kind')]), user(), system('be quick')]
    expect(toOpenAiResponses(list).input).toEqual([
      { type: 'message', role: 'system', content: [input('be brief'), input('be kind')] },
      asked(input('hello')),
      asked(input(fixed.framedSystemText('be quick'))),
    ])
    expect(types([system(' '), user()])).toEqual(['message'])
  })

  it('has one item for each run of texts, each call and each result, in the order of the log', () => {
    const list = [
      user([text('see'), image()]),
      assistant([text('one'), text('two'), call('a'), text('three'), call('b', '[]')]),
      result('b', 'no', true),
      result('a', [text('x'), image()]),
    ]
    expect(toOpenAiResponses(list, { image: bytes }).input).toEqual([
      asked(input('see'), png),
      said('one', 'two'),
      { type: 'function_call', call_id: 'a', name: 'run', arguments: '{}' },
      said('three'),
      { type: 'function_call', call_id: 'b', name: 'run', arguments: '{"palimpsest_invalid_arguments":"[]"}' },
      { type: 'function_call_output', call_id: 'b', output: 'no' },
      { type: 'function_call_output', call_id: 'a', output: [input('x'), png] },
    ])
  })

  it('has the images of an error result in a user message after the batch', () => {
    const list = [user(), assistant([call('a')]), result('a', [image()], true)]
    expect(toOpenAiResponses(list, { image: bytes }).input.slice(2)).toEqual([
      { type: 'function_call_output', call_id: 'a', output: fixed.movedImageText(1) },
      asked(input(fixed.MOVED_IMAGES_TEXT), png),
    ])
  })

  it('has call ids of at most 64 characters, each once', () => {
    const long = 'i'.repeat(70)
    const list = [user(), assistant([call(long), call('a.b')]), result('a.b'), result(long)]
    const ids = toOpenAiResponses([...list, ...list]).input.flatMap((entry) =>
      'call_id' in entry ? entry.call_id : [],
    )
    expect(ids.slice(0, 4)).toEqual(['i'.repeat(64), 'a_b', 'a_b', 'i'.repeat(64)])
    expect(new Set(ids).size).toBe(4)
  })

  it('stores nothing, and asks for the bytes of reasoning where the model reasons', () => {
    expect(toOpenAiResponses([user()], own)).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] })
    expect(toOpenAiResponses([user()], { model: 'gpt-4.1' })).not.toHaveProperty('include')
    expect(toOpenAiResponses([user()])).not.toHaveProperty('include')
  })

  it('marks what the model itself marked as commentary, for that model only', () => {
    const note = (phase: string): Json => item('msg_1', null, { phase })
    const list = [user(), made([text('wait'), text('so')], [note('commentary'), note('final_answer')])]
    expect(toOpenAiResponses(list, own).input.slice(1)).toMatchObject([
      { phase: 'commentary', content: [{ text: 'wait' }] },
      { phase: 'final_answer', content: [{ text: 'so' }] },
    ])
    expect(toOpenAiResponses(list, { model: 'gpt-4.1' }).input.slice(1)).toEqual([said('wait', 'so')])
  })
})

describe('reasoning items', () => {
  it('go back exactly as they came: summaries of one item joined, its last bytes taken, calls without their ids', () => {
    const list = [
      user(),
      made(
        [reasoning('one'), reasoning('two'), text('so'), reasoning(''), call('a')],
        [item('rs_1', 'early'), item('rs_1', 'final'), item('msg_1', null), item('rs_2', 'b'), item('fc_1', null)],
      ),
      result('a'),
    ]
    const wire = toOpenAiResponses(list, own)
    expect(wire.input.slice(1, 5)).toEqual([
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [
          { type: 'summary_text', text: 'one' },
          { type: 'summary_text', text: 'two' },
        ],
        encrypted_content: 'final',
      },
      said('so'),
      { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'b' },
      { type: 'function_call', call_id: 'a', name: 'run', arguments: '{}' },
    ])
    expect(wire.report.notes).toEqual([])
    const { report: _, ...body } = wire
    expect(validateOpenAiResponses({ model: 'gpt-5', ...body }, { profile: 'request' })).toEqual([])
  })

  it('keep the bytes that came first where later parts bring none', () => {
    const list = [
      user(),
      made([reasoning('a'), reasoning('b'), text('so')], [item('rs_1', 'x'), item('rs_1', null), null]),
    ]
    expect(toOpenAiResponses(list, own).input[1]).toMatchObject({ encrypted_content: 'x' })
  })

  it('go back to their very provider and model only, and only while the prefix is intact', () => {
    const list = [user(), thoughtful()]
    expect(types(list)).toEqual(['message', 'reasoning', 'message'])
    const not = ['message', 'message']
    expect(types(list, { ...own, intactThrough: 1 })).toEqual(not)
    expect(types(list, { model: 'gpt-5' })).toEqual(not)
    expect(types(list, { intactThrough: 99 })).toEqual(not)
    expect(types(list, { ...own, model: 'gpt-5-mini' })).toEqual(not)
    expect(types(list, { ...own, provider: 'azure.responses' })).toEqual(not)
    expect(types([user(), thoughtful('rs_1', { provider: 'openai.chat' })])).toEqual(not)
    const azure = [item('rs_1')].map((entry) => JSON.parse(JSON.stringify(entry).replace('openai', 'azure')) as Json)
    const there = made([reasoning('hm'), text('so')], azure, { provider: 'azure.responses' })
    expect(types([user(), there], { ...own, provider: 'azure.responses' })).toContain('reasoning')
  })

  it.each<[string, Message]>([
    ['without its bytes', made([reasoning('a'), text('b')], [item('rs_1', null), null])],
    ['without its item', made([reasoning('a'), text('b')], [null, null])],
    ['of another form', made([reasoning('a'), text('b')], [sealed('sig'), null])],
    ['with one part that has no item', made([reasoning('a'), reasoning('b'), text('c')], [item('rs_1'), null, null])],
    ['under an id of another form', made([reasoning('a'), text('b')], [item('rs_1:0'), null])],
    ['whose text is not well-formed', made([reasoning('\ud800'), text('b')], [item('rs_1'), null])],
    ['without what followed it', made([text('b'), reasoning('a')], [null, item('rs_1')])],
    ['with nothing visible after it', made([text('b'), reasoning('a'), text(' ')], [null, item('rs_1'), null])],
  ])('stay behind as a whole %s', (_, message) => {
    const { input: items, report } = toOpenAiResponses([user(), message], own)
    expect(items.map((entry) => entry.type)).not.toContain('reasoning')
    expect(report.notes).toEqual([{ code: 'reasoning/dropped', messageId: message.id }])
  })

  it('go back once, and the first time', () => {
    const list = [user(), thoughtful(), user(), thoughtful(), user(), thoughtful('rs_2')]
    const sent = toOpenAiResponses(list, own).input.flatMap((entry) => (entry.type === 'reasoning' ? entry.id : []))
    expect(sent).toEqual(['rs_1', 'rs_2'])
  })
})

it('a list that no session derives and one over budget are refused', () => {
  expect(refusal(() => toOpenAiResponses([user(), assistant([call('a')])]))).toBe('messages/open-calls')
  expect(refusal(() => toOpenAiResponses([user('é'.repeat(99))], { limits: { bytes: 200 } }))).toBe('budget/bytes')
  const pictures = [user([image(), image()])]
  expect(refusal(() => toOpenAiResponses(pictures, { image: bytes, limits: { images: 1 } }))).toBe('budget/images')
  expect(refusal(() => toOpenAiResponses(batch(129)))).toBeUndefined()
})
