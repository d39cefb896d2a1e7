import { expect, test } from 'vitest'
import { importClaudeCode } from '../src/index.ts'
import { Fixture } from './fixture.ts'
import { MemorySink, importBytes } from './support.ts'

const side = { isSidechain: true }

test('each inline sidechain is its own session, by agent or by root, with its lineage', async () => {
  const file = new Fixture()
  file.user('Go')
  file.call('m1', 'c1')
  const one = file.user('Search A', { ...side, parentUuid: null, uuid: '11111111-2222-3333-4444-555555555555' })
  const two = file.user('Search B', { ...side, parentUuid: null })
  file.text('a1', 'A', { ...side, parentUuid: one })
  file.text('b1', 'B', { ...side, parentUuid: two })
  file.user('Search C', { ...side, parentUuid: null, agentId: 'ccc' })
  file.text('m2', 'C', { ...side, agentId: 'ccc' })
  file.result('c1', { parentUuid: 'u2' })
  const imported = await importBytes(file.bytes(), { name: 'main.jsonl' })
  expect(imported.map(({ session: { header } }) => header)).toMatchObject([
    {
      id: 's-1',
      delegationDepth: 0,
      isSeeded: false,
      importedFrom: { agent: 'claude-code', source: 'main.jsonl' },
      cwd: '/home/user',
    },
    { id: 's-1.agent-11111111', parentSession: 's-1', origin: 'subagent', delegationDepth: 1 },
    { id: `s-1.agent-${two}`, parentSession: 's-1', origin: 'subagent', delegationDepth: 1 },
    { id: 's-1.agent-ccc', parentSession: 's-1', origin: 'subagent', delegationDepth: 1 },
  ])
  expect(imported.map(({ report }) => report.messages)).toEqual([3, 2, 2, 2])
})

test('a file that is one sidechain is one session, and keeps its other lines', async () => {
  const file = new Fixture()
  file.raw('{"type":"file-history-snapshot","messageId":"x"}')
  file.user('Search', { ...side, parentUuid: null, agentId: 'a1' })
  file.text('m1', 'Found', { ...side, agentId: 'a1' })
  const imported = await importBytes(file.bytes(), { name: 'agent-a1.jsonl' })
  expect(imported.map(({ report }) => [report.sessionId, report.lines])).toEqual([
    ['s-1.agent-a1', { total: 3, mapped: 2, raw: 1, blank: 0 }],
  ])
})

test('the session id is the one the file is named after, else that of its last line, else the file name', async () => {
  const file = new Fixture()
  file.user('One', { sessionId: 'old' })
  file.text('m1', 'Two', { sessionId: 'new' })
  const idFor = async (fixture: Fixture, name: string) =>
    (await importBytes(fixture.bytes(), { name }))[0]?.session.header.id
  expect(await idFor(file, 'old.jsonl')).toBe('old')
  expect(await idFor(file, '/some/where/other.jsonl')).toBe('new')
  expect(await idFor(new Fixture().raw('{"type":"summary","leafUuid":"x"}'), '/a/nameless.jsonl')).toBe('nameless')
})

test('the same file imports to the same sessions, in pieces of any size', async () => {
  const file = new Fixture()
  file.user('Gö')
  file.text('m1', 'Yes')
  file.user('Search', { ...side, parentUuid: null })
  const whole = await importBytes(file.bytes())
  for (const size of [1, 7, 100]) expect(await importBytes(file.bytes(), { pieceSize: size })).toEqual(whole)
})

test('sidechains whose roots begin alike keep ids of their own', async () => {
  const file = new Fixture()
  for (const end of ['1', '2']) {
    file.user('Search', { ...side, parentUuid: null, uuid: `11111111-2222-3333-4444-55555555555${end}` })
  }
  const ids = (await importBytes(file.bytes())).map(({ session }) => session.header.id)
  expect(ids).toEqual(['s-1.agent-11111111', 's-1.agent-11111111-2222-3333-4444-555555555552'])
})

test('a reader that hands over one buffer again and again is read as it was', async () => {
  const file = new Fixture()
  file.user('One')
  file.text('m1', 'Two')
  const source = {
    name: 'session.jsonl',
    async *bytes() {
      const buffer = new Uint8Array(16)
      for (let at = 0; at < file.bytes().length; at += 16) {
        const piece = file.bytes().subarray(at, at + 16)
        buffer.set(piece)
        yield buffer.subarray(0, piece.length)
      }
    },
  }
  const { value } = await importClaudeCode(source, { attachments: () => new MemorySink() }).next()
  expect([value]).toEqual(await importBytes(file.bytes()))
})

test('an empty file holds no session', async () => {
  expect(await importBytes(new Uint8Array())).toEqual([])
})
