import { Session } from '@palimpsest/session'
import { toOpenAiResponses } from '@palimpsest/provider-messages'
import type { Message, StoredSession } from '@palimpsest/session'
import { expect, test } from 'vitest'
import { importCodex } from '../src/codex/import.ts'
import { importVocabulary } from '../src/index.ts'
import type { ImportedSession } from '../src/index.ts'
import { CodexFixture, said, tangledRollout } from './codex-fixture.ts'
import { expectSound } from './import-laws.ts'
import { importBytes } from './support.ts'

async function read(file: CodexFixture, name = 'rollout.jsonl'): Promise<ImportedSession> {
  const imported = await importBytes(file.bytes(), { importer: importCodex, name })
  expectSound(imported, file.bytes())
  const [only] = imported
  if (only === undefined || imported.length > 1) throw new Error('expected one session')
  return only
}

const listOf = (session: StoredSession): readonly Message[] =>
  Session.restore(structuredClone(session), { vocabulary: importVocabulary }).deriveMessages()

/** Messages in short: a letter for the role, then what they say. */
const short = ({ session }: ImportedSession): string[] =>
  listOf(session).map(({ role, content, source }) => {
    const texts = content.map((block) => {
      if (block.type === 'text' || block.type === 'reasoning') return block.text
      if (block.type === 'tool-call') return `${block.name}(${block.arguments})`
      return block.type === 'tool-result' ? `=${block.toolCallId}${block.isError === true ? '!' : ''}` : block.type
    })
    return `${source.kind === 'tool' ? 't' : (role[0] ?? '')}:${texts.join('|')}`
  })

const start = (): CodexFixture => new CodexFixture().meta().context()

test('the first session_meta names the session, later ones are those of parents', async () => {
  const { session } = await read(tangledRollout())
  expect(session.header).toMatchObject({
    id: 'thread-1',
    parentSession: 'thread-0',
    origin: 'subagent',
    cwd: '/home/user',
  })
})

test('items that follow each other are one response, which an output, a prompt, a context or a count of tokens ends', async () => {
  const file = start()
    .say('user', 'hi')
    .item('reasoning', { summary: [{ type: 'summary_text', text: 'r' }] })
  file.say('assistant', 'a').call('c1').call('c2').tokens(5).output('c2').output('c1').say('assistant', 'b').context()
  const imported = await read(file.say('assistant', 'c'))
  expect(short(imported)).toEqual([
    's:Be brief.',
    'u:hi',
    'a:r|a|shell({"cmd":"c1"})|shell({"cmd":"c2"})',
    't:=c2',
    't:=c1',
    'a:b',
    'a:c',
  ])
  const usages = imported.session.events.flatMap((event) =>
    event.type === 'assistant/message' ? [event.data.usage] : [],
  )
  expect(usages).toEqual([{ inputTokens: 5, cacheReadTokens: 1, outputTokens: 2 }, undefined, undefined])
})

test('a count of tokens before the items of its response, as older versions wrote it, is theirs', async () => {
  const file = start().say('user', 'hi').tokens(5).say('assistant', 'a').call('c1').output('c1').context().tokens(9)
  const { session } = await read(file.say('assistant', 'b'))
  const usages = session.events.flatMap((event) =>
    event.type === 'assistant/message' ? [event.data.usage?.inputTokens] : [],
  )
  expect(usages).toEqual([5, 9])
})

test('sealed reasoning with an id goes back as it came, and without an id it is kept and stays behind', async () => {
  const sealed = { summary: [{ type: 'summary_text', text: 'r' }], encrypted_content: 'sealed' }
  const given = async (members: object): Promise<unknown[]> => {
    const { session } = await read(
      start()
        .say('user', 'hi')
        .item('reasoning', { ...sealed, ...members })
        .say('assistant', 'a'),
    )
    const { input } = toOpenAiResponses(listOf(session), { model: 'gpt-5', intactThrough: 9 })
    return input.filter(({ type }) => type === 'reasoning')
  }
  expect(await given({ id: 'rs_1' })).toEqual([{ type: 'reasoning', id: 'rs_1', ...sealed }])
  expect(await given({})).toEqual([])
})

test('the input of a custom tool stands under `input` in JSON', async () => {
  const file = start()
    .say('user', 'hi')
    .item('custom_tool_call', { call_id: 'c', name: 'apply_patch', input: '*** "x"' })
  const list = short(await read(file.item('custom_tool_call_output', { call_id: 'c', output: 'Done' })))
  expect(list.slice(2)).toEqual(['a:apply_patch({"input":"*** \\"x\\""})', 't:=c'])
})

test('an output fails where its own exit code says so', async () => {
  const output = (code: number): string => JSON.stringify({ output: 'x', metadata: { exit_code: code } })
  const file = start().say('user', 'hi').call('c1').call('c2').output('c1', output(1)).output('c2', output(0))
  const imported = await read(file.say('assistant', 'a'))
  expect(short(imported).slice(3, 5)).toEqual(['t:=c1!', 't:=c2'])
  const metas = imported.session.events.flatMap((event) => (event.type === 'tool/result' ? [event.data.meta] : []))
  expect(metas).toEqual([{ exit_code: 1 }, { exit_code: 0 }])
})

test('a compaction with a history replaces all behind the head', async () => {
  const file = start().say('user', 'hi').say('assistant', 'a')
  const history = [said('user', 'hi'), said('developer', 'rules'), said('assistant', 'so far')]
  const imported = await read(file.line('compacted', { message: 'm', replacement_history: history }).say('user', 'on'))
  expect(short(imported)).toEqual(['s:Be brief.', 'u:hi', 'u:rules', 'a:so far', 'u:on'])
})

test('references of a compaction are looked up in the file; those that are not there are reported', async () => {
  const file = start().say('user', 'hi', { id: 'm1' }).say('assistant', 'a')
  const entries = [
    { type: 'reference', item_id: 'm1' },
    { type: 'reference', item_id: 'elsewhere' },
    { type: 'inline', item: said('user', 'inline') },
  ]
  const imported = await read(file.line('compacted', { message: '', replacement_history_entries: entries }))
  expect(short(imported)).toEqual(['s:Be brief.', 'u:hi', 'u:inline'])
  expect(imported.report.warnings).toContainEqual(expect.objectContaining({ code: 'compaction/reference', line: 5 }))
})

test('a compaction of an older version keeps every prompt, once, and its summary', async () => {
  const file = start()
    .say('user', '<environment_context>x</environment_context>')
    .say('user', 'one')
    .say('assistant', 'a')
  file
    .line('compacted', { message: 'first' })
    .say('user', 'two')
    .say('assistant', 'b')
    .line('compacted', { message: 'second' })
  const imported = await read(file.say('user', 'three'))
  expect(short(imported)).toEqual(['s:Be brief.', 'u:one', 'u:two', 'u:second', 'u:three'])
})

test('a rollback takes back the last prompts and the context put in before them', async () => {
  const file = start().say('user', 'one').say('assistant', 'a').say('developer', 'rules').say('user', 'two')
  file.say('assistant', 'b').say('user', 'three').say('assistant', 'c').event('thread_rolled_back', { num_turns: 2 })
  expect(short(await read(file.say('user', 'four')))).toEqual(['s:Be brief.', 'u:one', 'a:a', 'u:four'])
  const all = start().say('user', 'one').say('assistant', 'a').event('thread_rolled_back', { num_turns: 99 })
  expect(short(await read(all))).toEqual(['s:Be brief.'])
})

test('an aborted turn holds what was still written behind the abort', async () => {
  const file = start().event('task_started').say('user', 'one').say('assistant', 'a')
  file.event('turn_aborted', { reason: 'interrupted' }).call('c1').event('task_started').say('user', 'two')
  const { session } = await read(file)
  const types = session.events.map((event) => (event.type === 'turn/end' ? event.data.reason : event.type))
  const end = types.findIndex((type) => typeof type === 'object')
  expect(types[end]).toEqual({ kind: 'aborted', cause: 'interrupted' })
  expect(types.slice(0, end).filter((type) => type === 'tool/call' || type === 'tool/result')).toHaveLength(2)
})

test('lines without envelopes are items, alone and among others', async () => {
  const file = new CodexFixture().raw('{"id":"old-1","timestamp":"2025-06-01T00:00:00.000Z","instructions":"Be kind."}')
  file
    .raw('{"record_type":"state"}')
    .raw(JSON.stringify(said('user', 'hi')))
    .raw(JSON.stringify(said('assistant', 'a')))
  const imported = await read(file.say('user', 'on'))
  expect(imported.session.header).toMatchObject({ id: 'old-1', createdAt: Date.UTC(2025, 5, 1) })
  expect(short(imported)).toEqual(['s:Be kind.', 'u:hi', 'a:a', 'u:on'])
})

test('a session without a name takes that of its file', async () => {
  const id = '019c8a70-dda7-7f33-98ea-f30553347322'
  const { session } = await read(new CodexFixture().say('user', 'hi'), `rollout-2026-01-01T00-00-00-${id}.jsonl`)
  expect(session.header.id).toBe(id)
})
