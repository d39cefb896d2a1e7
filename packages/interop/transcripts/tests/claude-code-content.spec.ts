import { expect, test } from 'vitest'
import { Session } from '@palimpsest/session'
import { importVocabulary } from '../src/index.ts'
import { Fixture } from './fixture.ts'
import { MemorySink, importBytes } from './support.ts'

const png = 'aGVsbG8='
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }

async function imported(file: Fixture, sink = new MemorySink()) {
  const [first] = await importBytes(file.bytes(), { name: 'x.jsonl', pieceSize: 64, sink })
  if (first === undefined) throw new Error('nothing was imported')
  const messages = Session.restore(structuredClone(first.session), { vocabulary: importVocabulary }).deriveMessages()
  return { ...first, messages }
}

test('thinking keeps its text and its seal, redacted thinking its data', async () => {
  const file = new Fixture()
  file.user('Go')
  file.model('m1', { type: 'thinking', thinking: 'Hm.', signature: 'seal' })
  file.model('m1', { type: 'redacted_thinking', data: 'dark' })
  file.model('m1', { type: 'thinking', thinking: 'Unsigned.' })
  file.text('m1', 'Yes')
  const { messages } = await imported(file)
  expect(messages[1]?.content).toEqual([
    { type: 'reasoning', text: 'Hm.' },
    { type: 'reasoning', text: '' },
    { type: 'reasoning', text: 'Unsigned.' },
    { type: 'text', text: 'Yes' },
  ])
  expect(messages[1]).toMatchObject({
    id: 'm1',
    source: {
      kind: 'model',
      provider: 'anthropic',
      model: 'claude-x',
      replayState: {
        response: { id: 'm1', requestId: 'req-m1' },
        blocks: [{ type: 'thinking', signature: 'seal' }, { type: 'redacted_thinking', data: 'dark' }, null, null],
      },
    },
  })
})

test('arguments of a call are the JSON text of its input', async () => {
  const file = new Fixture()
  file.user('Go')
  file.model('m1', { type: 'tool_use', id: 'c1', name: 'Edit', input: { path: 'ä', n: 1 } })
  file.model('m1', { type: 'tool_use', id: 'c2', name: 'Nothing' })
  const { messages } = await imported(file)
  expect(messages[1]?.content).toEqual([
    { type: 'tool-call', id: 'c1', name: 'Edit', arguments: '{"path":"ä","n":1}' },
    { type: 'tool-call', id: 'c2', name: 'Nothing', arguments: '{}' },
  ])
})

test('images and documents are attachments, stored once, and nowhere in the log', async () => {
  const sink = new MemorySink()
  const file = new Fixture()
  file.user([
    image,
    { type: 'text', text: 'See' },
    { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'cGRm' } },
  ])
  file.call('m1', 'c1')
  file.user([{ type: 'tool_result', tool_use_id: 'c1', content: [image, { type: 'text', text: 'shot' }] }], {
    toolUseResult: { file: { base64: png, size: -0 } },
  })
  const { session, messages } = await imported(file, sink)
  expect(messages[0]?.content).toMatchObject([
    { type: 'image', attachment: { mediaType: 'image/png', bytes: 5 } },
    { type: 'text', text: 'See' },
    { type: 'document', attachment: { mediaType: 'application/pdf', bytes: 3 } },
  ])
  expect(messages[2]?.content).toMatchObject([
    { type: 'tool-result', content: [{ type: 'image' }, { type: 'text', text: 'shot' }] },
  ])
  expect([...sink.stored.values()].map((bytes) => new TextDecoder().decode(bytes))).toEqual(['hello', 'pdf'])
  expect(JSON.stringify(session)).not.toContain(png)
})

test('bytes are stored before any event cites them', async () => {
  const file = new Fixture()
  file.user([image])
  const refusing = { put: () => Promise.reject(new Error('disk full')) }
  await expect(imported(file, refusing as unknown as MemorySink)).rejects.toThrow('disk full')
})

test('blocks that no message can hold keep their line raw and are reported, the rest of the line is mapped', async () => {
  const file = new Fixture()
  file.user('Go')
  file.model('m1', { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} })
  file.text('m1', 'Found')
  file.user([
    { type: 'text', text: 'And' },
    { type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } },
  ])
  const { messages, report, session } = await imported(file)
  expect(messages.map(({ content }) => content.length)).toEqual([1, 1, 1])
  expect(report.unmapped).toMatchObject([
    { line: 2, reason: 'block/unsupported' },
    { line: 4, reason: 'block/unsupported' },
  ])
  const raw = session.events.find((event) => event.type === 'import/raw')
  expect(raw).toMatchObject({ ignorable: true, data: { line: 2, text: file.lines[1] } })
})

test('a block of a result that is neither text nor image stands as its JSON text', async () => {
  const file = new Fixture()
  file.user('Go')
  file.call('m1', 'c1')
  file.user([
    { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'tool_reference', tool_name: 'X' }], is_error: true },
  ])
  const { messages, report } = await imported(file)
  expect(messages[2]?.content).toEqual([
    {
      type: 'tool-result',
      toolCallId: 'c1',
      isError: true,
      content: [{ type: 'text', text: '{"type":"tool_reference","tool_name":"X"}' }],
    },
  ])
  expect(report.warnings).toMatchObject([{ line: 3, code: 'block/as-text' }])
})

test('lines that are not UTF-8, not JSON, not objects, torn or too deep are kept as they stand', async () => {
  const file = new Fixture()
  file.user('Go')
  file
    .raw('{broken')
    .raw('42')
    .raw('')
    .raw(`{"type":"user","message":${'['.repeat(2000)}${']'.repeat(2000)}}`)
  const head = file.bytes()
  const bytes = new Uint8Array([...head, 0xff, 0x41, 10, ...new TextEncoder().encode('{"type":"us')])
  const [first] = await importBytes(bytes)
  const raws = first?.session.events.flatMap((event) => (event.type === 'import/raw' ? [event.data] : [])) ?? []
  expect(raws.map(({ line, reason }) => `${line} ${reason}`)).toEqual([
    '2 line/not-json',
    '3 line/not-object',
    '5 line/too-deep',
    '6 line/not-utf8',
    '7 line/torn',
  ])
  expect(raws[3]).toMatchObject({ encoding: 'base64', text: '/0E=', offset: head.length })
  expect(first?.report.lines).toEqual({ total: 7, mapped: 1, raw: 5, blank: 1 })
})

test('a byte order mark, CRLF and line separators inside a line change nothing', async () => {
  const file = new Fixture()
  file.user('Line\u2028separator')
  file.text('m1', 'Yes')
  const bytes = new TextEncoder().encode(`\uFEFF${file.lines.join('\r\n')}\r\n`)
  const [first] = await importBytes(bytes)
  expect(first?.report).toMatchObject({ messages: 2, unmapped: [] })
})

test('what a mapped line holds beside its message is counted by name, and its lines are listed', async () => {
  const file = new Fixture()
  file.user('Go', { gitBranch: 'main', todos: [] })
  file.text('m1', 'Yes')
  file.user('And?', { gitBranch: 'main' })
  expect((await imported(file)).report).toMatchObject({ leftOut: { gitBranch: 2, todos: 1 }, leftOutLines: [1, 3] })
})
