import { Session } from '@palimpsest/session'
import type { Message, StoredSession } from '@palimpsest/session'
import { expect, test } from 'vitest'
import { importVocabulary } from '../src/index.ts'
import type { ImportedSession } from '../src/index.ts'
import { importPi } from '../src/pi/import.ts'
import { fuzz } from './fuzz.ts'
import { expectSound } from './import-laws.ts'
import { PiFixture, tangledPi } from './pi-fixture.ts'
import { contextsOf, kindsOf, parsedLines } from './pi-oracle.ts'
import { importBytes, MemorySink } from './support.ts'

async function imported(file: PiFixture, sink = new MemorySink()): Promise<ImportedSession> {
  const [first] = await importBytes(file.bytes(), { importer: importPi, sink })
  if (first === undefined) throw new Error('nothing was imported')
  expectSound([first], file.bytes())
  return first
}

const listOf = (session: StoredSession): readonly Message[] =>
  Session.restore(structuredClone(session), { vocabulary: importVocabulary }).deriveMessages()

const wordsOf = ({ session }: ImportedSession): string[] => kindsOf(listOf(session))

test('a file with everything in it is sound, and a model reads what pi gives it', async () => {
  const file = tangledPi()
  const { session, report } = await imported(file)
  expect(kindsOf(listOf(session))).toEqual(contextsOf(parsedLines(file.bytes())).at(-1)?.context)
  expect(report).toMatchObject({ calls: 4, answered: 3 })
  expect(report.unmapped.map(({ reason, type }) => `${reason} ${type ?? ''}`)).toEqual([
    'state title',
    'state session',
    'state model_change',
    'state thinking_level_change',
    'branch/left message',
    'branch/left message',
    'state custom',
    'state label',
    'state session_info',
    'message/empty message/assistant',
    'line/not-json ',
    'line/not-object ',
  ])
  expect(report.warnings.map(({ code }) => code)).toContain('block/as-text')
})

test('what a compaction keeps stays visible in order behind its summary, also where it covers nothing', async () => {
  const file = new PiFixture()
  const first = file.user('One')
  file.says('Two')
  file.entry('compaction', { summary: 'S1', firstKeptEntryId: first })
  expect(wordsOf(await imported(file))).toEqual(['summary S1', 'user', 'assistant stop'])
  file.user('Three')
  file.entry('compaction', { summary: 'S2', firstKeptEntryId: first })
  expect(wordsOf(await imported(file))).toEqual(['summary S2', 'user', 'assistant stop', 'user'])
  file.entry('compaction', { summary: 'S3' })
  expect(wordsOf(await imported(file))).toEqual(['summary S3'])
  file.entry('compaction', { summary: 'S4', firstKeptEntryId: first })
  expect(wordsOf(await imported(file))).toEqual(['summary S4', 'user', 'assistant stop', 'user'])
})

test('version 1 counts kept entries over all lines, the header’s included', async () => {
  const file = new PiFixture(1, { provider: 'anthropic', modelId: 'claude-x', thinkingLevel: 'low' })
  file.user('One')
  file.says('Two')
  file.user('Three')
  file.says('Four')
  file.entry('compaction', { summary: 'S', firstKeptEntryIndex: 3 })
  const { session } = await imported(file)
  expect(listOf(session).map(({ content }) => content)).toMatchObject([
    [{ text: 'S' }],
    [{ text: 'Three' }],
    [{ text: 'Four' }],
  ])
  const config = session.events.find(({ type }) => type === 'request/header')?.data
  expect(config).toMatchObject({ header: { config: { provider: 'anthropic', reasoningEffort: 'low' } } })
})

test('a parent that is not there is the entry before, with a warning; a second root begins anew', async () => {
  const file = new PiFixture()
  file.user('One')
  file.says('Two', { parentId: 'nowhere' })
  const { session, report } = await imported(file)
  expect(listOf(session)).toHaveLength(2)
  expect(report.warnings.map(({ code }) => code)).toContain('branch/dangling')
  file.user('Anew', { parentId: null })
  expect(wordsOf(await imported(file))).toEqual(['user'])
})

test('a response that was cut off keeps what it said and its calls; one that said nothing is an attempt', async () => {
  const { session } = await imported(tangledPi())
  const responses = session.events.flatMap((event) => (event.type === 'assistant/message' ? [event.data] : []))
  const cut = responses.find(({ interrupted }) => interrupted === true)
  expect(cut?.message.content).toMatchObject([{ text: 'I wr' }, { arguments: '{"path": "/ho' }])
  const ends = session.events.flatMap((event) => (event.type === 'turn/end' ? [event.data.reason.kind] : []))
  expect(ends).toContain('aborted')
  const attempt = session.events.find(({ type }) => type === 'assistant/attempt')
  expect(attempt?.data).toMatchObject({ failure: { errorMessage: 'overloaded', provider: 'anthropic' } })
  expect(responses[0]?.usage).toEqual({ inputTokens: 10, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 })
})

test('sealed reasoning goes where its maker’s exporter looks for it', async () => {
  const { session } = await imported(tangledPi())
  const sources = session.events.flatMap((event) =>
    event.type === 'assistant/message' ? [event.data.message.source] : [],
  )
  expect(sources[0]).toMatchObject({
    provider: 'anthropic',
    replayState: { blocks: [{ type: 'thinking', signature: 'c2ln' }, null] },
  })
  expect(sources.find(({ provider }) => provider === 'openai.responses')).toMatchObject({
    replayState: {
      response: { id: 'resp_1', stopReason: 'stop' },
      blocks: [
        { providerMetadata: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'ZW5j' } } },
        { providerMetadata: { openai: { itemId: 'msg_1', phase: 'final_answer' } } },
      ],
    },
  })
})

test('a command that the user ran is text, unless the model was not to see it', async () => {
  const file = new PiFixture()
  const run = { role: 'bashExecution', command: 'ls', output: '', exitCode: 2, cancelled: false, truncated: true }
  file.message(run)
  file.message({ ...run, excludeFromContext: true })
  const { session, report } = await imported(file)
  expect(listOf(session)).toMatchObject([
    {
      content: [{ text: 'The user ran a command:\nls\n\n(no output)\n\nExit code 2\n\nTruncated' }],
      source: { plugin: 'pi' },
    },
  ])
  expect(report.unmapped).toContainEqual({ line: 3, reason: 'message/transcript-only', type: 'message/bashExecution' })
})

test('images go to the sink, details to the event of the result', async () => {
  const sink = new MemorySink()
  const { session } = await imported(tangledPi(), sink)
  expect([...sink.stored.values()].map((bytes) => new TextDecoder().decode(bytes))).toEqual(['hello'])
  const [result] = session.events.flatMap((event) => (event.type === 'tool/result' ? [event.data] : []))
  expect(result).toMatchObject({ meta: { exitCode: 1 }, message: { content: [{ isError: true }] } })
})

test('mutations of lines crash nothing, hang nothing and lose nothing', async () => {
  const first = new PiFixture(1)
  first.user('One')
  first.calls('a')
  first.result('a')
  first.entry('compaction', { summary: 'S', firstKeptEntryIndex: 2 })
  await fuzz({
    files: [tangledPi().lines, first.lines],
    run: (bytes) => importBytes(bytes, { importer: importPi }),
    check: expectSound,
    numRuns: 150,
  })
})

test('compactions that bring back what others covered cost no more than the file', async () => {
  const file = new PiFixture()
  const first = file.user('One')
  for (let count = 0; count < 400; count += 1) {
    file.user('More')
    file.entry('compaction', { summary: 'none' })
    file.entry('compaction', { summary: 'all', firstKeptEntryId: first })
  }
  const { session, report } = await imported(file)
  expect(session.events.length).toBeLessThan(10 * file.lines.length)
  expect(report.warnings.map(({ code }) => code)).toContain('compaction/kept-hidden')
})
