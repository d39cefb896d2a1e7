import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Session } from '@palimpsest/session'
import type { Message } from '@palimpsest/session'
import { detectMessages, importMessageArray, importMessages, importVocabulary } from '../src/index.ts'
import type { ImportedSession, ImportMessageArrayOptions } from '../src/index.ts'
import { memberSpans } from '../src/messages/spans.ts'
import { expectSoundSessions } from './import-laws.ts'
import { importBytes, MemorySink } from './support.ts'

const read = (messages: unknown, options: Partial<ImportMessageArrayOptions> = {}): Promise<ImportedSession> =>
  importMessageArray(messages, { attachments: new MemorySink(), ...options })

const derived = ({ session }: ImportedSession): readonly Message[] =>
  Session.restore(structuredClone(session), { vocabulary: importVocabulary }).deriveMessages()

const said = (imported: ImportedSession): string[] =>
  derived(imported).map(({ role, content }) => `${role}: ${content.map((block) => JSON.stringify(block)).join(' ')}`)

const file = (value: unknown): Uint8Array =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))

const call = (id: string, name = 'bash', args = '{"a":1}'): object => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})

describe('items of Responses', () => {
  it('are none where a part of a message stands by itself: it is kept raw', async () => {
    const imported = await read([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
      { type: 'input_file', role: 'assistant', content: 'a' },
    ])
    expectSoundSessions([imported])
    expect(imported.report.unmapped).toMatchObject([{ line: 2, reason: 'block/unsupported', type: 'input_file' }])
  })
})

describe('messages of Chat Completions', () => {
  it('become prompts, responses and their answers', async () => {
    const imported = await read([
      { role: 'system', content: 'Be brief' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, tool_calls: [call('c1'), call('c2')] },
      { role: 'tool', tool_call_id: 'c2', content: 'two' },
      { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'one' }] },
      { role: 'assistant', content: 'Done' },
    ])
    expectSoundSessions([imported])
    expect(derived(imported).map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
      'user',
      'assistant',
    ])
    expect(imported.report).toMatchObject({ calls: 2, answered: 2, warnings: [], leftOut: {} })
    expect(imported.session.header.createdAt).toBe(0)
  })

  it('pair the older functions, which have no ids, with their answers', async () => {
    const imported = await read([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
      { role: 'function', name: 'f', content: 'one' },
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
      { role: 'function', name: 'f', content: 'two' },
    ])
    expectSoundSessions([imported])
    expect(imported.report).toMatchObject({ calls: 2, answered: 2, unmapped: [] })
  })

  it('keep what a log has no block for as a text that other providers read', async () => {
    const imported = await read([
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } }],
      },
      { role: 'assistant', content: null, refusal: 'No' },
      {
        role: 'user',
        content: [{ type: 'input_audio', input_audio: { format: 'wav', data: 'AAAA' } }, { type: 'hologram' }],
      },
      { role: 'critic', content: 'x' },
      'no message',
    ])
    expectSoundSessions([imported])
    const list = said(imported)
    expect(list[0]).toContain('[image at https://example.com/a.png]')
    expect(list[1]).toContain('"No"')
    expect(list[2]).toContain('"document"')
    expect(imported.report.unmapped).toEqual([
      { line: 3, reason: 'block/unsupported', type: 'hologram' },
      { line: 4, reason: 'message/malformed', type: 'critic' },
      { line: 5, reason: 'line/not-object' },
    ])
  })

  it('close a call that nothing answers', async () => {
    const imported = await read([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'x', tool_calls: [call('c1')] },
    ])
    expectSoundSessions([imported])
    expect(imported.report.warnings.map(({ code }) => code)).toEqual(['call/unanswered-tail'])
  })
})

describe('messages of Anthropic', () => {
  it('read neighbours of the assistant as one response, and results before what else was said', async () => {
    const imported = await read({
      model: 'claude-sonnet-4-5',
      max_tokens: 100,
      system: [{ type: 'text', text: 'Be brief', cache_control: { type: 'ephemeral' } }],
      tools: [],
      messages: [
        { role: 'user', content: 'Hi' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 's' },
            { type: 'tool_use', id: 'c1', name: 'bash', input: { a: 1 } },
          ],
        },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c2', name: 'bash', input: {} }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c1', content: 'bad', is_error: true },
            { type: 'tool_result', tool_use_id: 'c2' },
            { type: 'text', text: 'go on' },
          ],
        },
      ],
    })
    expectSoundSessions([imported])
    expect(derived(imported).map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user', 'user', 'user'])
    expect(derived(imported)[2]?.source).toMatchObject({
      provider: 'anthropic',
      model: 'claude-sonnet-4-5',
      lines: [2, 3],
      replayState: { blocks: [{ type: 'thinking', signature: 's' }, null, null] },
    })
    expect(imported.report.warnings).toEqual([
      { line: 0, code: 'request/left-out', message: 'members of the request that a session has no place for: tools' },
    ])
    expect(imported.session.events.find(({ type }) => type === 'request/header')?.data).toMatchObject({
      header: { config: { maxTokens: 100 } },
    })
  })
})

describe('items of Responses', () => {
  it('make one response of what the model put out before an answer', async () => {
    const imported = await read({
      model: 'gpt-5',
      instructions: 'Be brief',
      input: [
        { role: 'user', content: 'Hi' },
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'e' },
        {
          type: 'message',
          id: 'msg_1',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'a', annotations: [] }],
        },
        { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'bash', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'ok' },
        { type: 'web_search_call', id: 'ws_1', status: 'completed' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'b' }] },
      ],
    })
    expectSoundSessions([imported])
    expect(derived(imported).map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user', 'assistant'])
    expect(imported.report.leftOut).toEqual({ id: 2, status: 1, annotations: 1 })
  })
})

describe('messages of the AI SDK', () => {
  it('split the one message of a turn into steps, and its tool parts into calls and results', async () => {
    const imported = await read([
      { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
      {
        id: 'a1',
        role: 'assistant',
        parts: [
          { type: 'step-start' },
          { type: 'text', text: 'look' },
          { type: 'tool-bash', toolCallId: 'c1', state: 'output-available', input: { a: 1 }, output: { b: 2 } },
          { type: 'dynamic-tool', toolName: 'x', toolCallId: 'c2', state: 'output-error', input: {}, errorText: 'bad' },
          {
            type: 'tool-y',
            toolCallId: 'c3',
            state: 'output-denied',
            input: {},
            approval: { id: 'p', approved: false, reason: 'no' },
          },
          { type: 'tool-z', toolCallId: 'c4', state: 'output-available', preliminary: true, input: {}, output: 1 },
          { type: 'step-start' },
          { type: 'data-note', data: 1 },
          { type: 'text', text: 'done' },
        ],
      },
    ])
    expectSoundSessions([imported])
    expect(imported.report).toMatchObject({ calls: 4, answered: 3 })
    expect(imported.report.unmapped).toEqual([{ line: 2, reason: 'result/preliminary', type: 'tool-z' }])
    expect(derived(imported).map(({ id }) => id)).toEqual([
      'u1',
      'a1',
      'line-2',
      'line-2~2',
      'line-2~3',
      expect.stringMatching(/interrupted/),
      'a1~2',
    ])
  })

  it('read version 4, where calls stand beside the text', async () => {
    const imported = await read([
      { id: 'u1', role: 'user', content: 'Hi' },
      {
        id: 'a1',
        role: 'assistant',
        createdAt: '2026-01-01T00:00:00.000Z',
        content: 'done',
        toolInvocations: [
          { state: 'result', step: 0, toolCallId: 'c1', toolName: 'f', args: {}, result: 'r' },
          { state: 'result', step: 1, toolCallId: 'c2', toolName: 'f', args: {}, result: 'r' },
        ],
      },
    ])
    expectSoundSessions([imported])
    expect(derived(imported).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
      'assistant',
    ])
    expect(imported.session.header.createdAt).toBe(Date.UTC(2026, 0, 1))
  })

  it('read model messages, the older ones with args and result too, and bytes in memory', async () => {
    const imported = await read([
      { role: 'system', content: 'Be brief' },
      { role: 'user', content: [{ type: 'image', image: new Uint8Array([1, 2, 3]) }] },
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'f', args: { a: 1 } }] },
      {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'f', result: { b: 1 }, isError: true }],
      },
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c2', toolName: 'f', input: {} }] },
      {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: 'c2', toolName: 'f', output: { type: 'text', value: 'ok' } }],
      },
    ])
    expectSoundSessions([imported])
    expect(imported.report).toMatchObject({ calls: 2, answered: 2, unmapped: [] })
    expect(said(imported)[1]).toContain('"image"')
    expect(said(imported)[3]).toContain('"isError":true')
  })
})

describe('files of messages', () => {
  const pair = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hello' },
  ]

  it('give one session for an array, for a request, and for one message on each line', async () => {
    for (const bytes of [
      file(pair),
      file({ messages: pair }),
      file(pair.map((message) => JSON.stringify(message)).join('\n')),
    ]) {
      const imported = await importBytes(bytes, { name: 'chat.v1.json', importer: importMessages })
      expectSoundSessions(imported)
      expect(imported.map(({ session }) => session.header.id)).toEqual(['chat.v1'])
      expect(imported[0]?.report).toMatchObject({ messages: 2, lines: { total: 2, mapped: 2, raw: 0 } })
    }
  })

  it('give one session for each request on a line', async () => {
    const line = JSON.stringify({ messages: pair })
    const imported = await importBytes(file(`${line}\n\n${line}\n`), { name: 'tune.jsonl', importer: importMessages })
    expectSoundSessions(imported)
    expect(imported.map(({ session }) => session.header.id)).toEqual(['tune.1', 'tune.3'])
  })

  it('keep every line of a file that is no JSON', async () => {
    const imported = await importBytes(file('[{"role":"user",\n"content":'), { importer: importMessages })
    expect(imported[0]?.report.unmapped.map(({ line }) => line)).toEqual([1, 2])
  })

  it('place elements by their byte offset, and keep those that are no message with their own text', async () => {
    const text = '\uFEFF[ {"role":"user","content":"é"} , [1, "]"],\n 5 ]'
    const [imported] = await importBytes(file(text), { importer: importMessages })
    const raws = imported?.session.events.flatMap(({ type, data }) => (type === 'import/raw' ? [data] : []))
    expect(raws).toMatchObject([
      { line: 2, text: '[1, "]"]' },
      { line: 3, text: '5' },
    ])
    for (const raw of raws ?? []) {
      expect(
        Buffer.from(text)
          .subarray(raw.offset, raw.offset + Buffer.byteLength(raw.text))
          .toString(),
      ).toBe(raw.text)
    }
  })

  it('are told apart by the first mark that only one shape has', () => {
    expect(detectMessages(pair)).toBe('openai-chat')
    expect(detectMessages({ system: 'x', messages: pair })).toBe('anthropic')
    expect(detectMessages([...pair, { role: 'assistant', content: [{ type: 'tool_use' }] }])).toBe('anthropic')
    expect(detectMessages([...pair, { role: 'tool', tool_call_id: 'c' }])).toBe('openai-chat')
    expect(detectMessages([...pair, { role: 'assistant', content: [{ type: 'tool-call' }] }])).toBe('model-messages')
    expect(detectMessages([{ role: 'user', parts: [] }])).toBe('ui-messages')
    expect(detectMessages([...pair, { type: 'function_call' }])).toBe('openai-responses')
    expect(detectMessages({ input: 'Hi' })).toBe('openai-responses')
    expect(detectMessages([1, 'x'])).toBeUndefined()
    expect(detectMessages({ a: 1 })).toBeUndefined()
  })

  it('are cut into the members that the parser finds', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue())),
        fc.nat(2),
        (value, indent) => {
          const text = JSON.stringify(value, undefined, indent)
          const spans = memberSpans(text, 0)
          const found = spans.map(({ start, end }) => JSON.parse(text.slice(start, end)) as unknown)
          expect(found).toEqual(Object.values(JSON.parse(text) as object))
        },
      ),
    )
  })
})
