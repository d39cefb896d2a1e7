import { deriveMessagesAt } from '@palimpsest/session'
import { isSampleAbsent, samplesOf } from '@palimpsest/testkit'
import { expect, test } from 'vitest'
import { importDeepSeekHarness } from '../src/index.ts'
import { expectSound, expectSoundSessions } from './import-laws.ts'
import { MemorySink, importBytes, sampleBytes } from './support.ts'
import type { ImportedSession } from '../src/index.ts'
import { type DshLog, dshLog } from './deepseek-harness-fixture.ts'

const importer = importDeepSeekHarness
const importText = (text: string): Promise<ImportedSession[]> =>
  importBytes(new TextEncoder().encode(text), { importer })

test('a log that the edges convert is taken event by event, with its own seqs and times', async () => {
  const [imported] = await importText(dshLog().text())
  expect(imported?.session.header).toMatchObject({
    id: 'd-1',
    format: 'palimpsest',
    importedFrom: { agent: 'deepseek-harness' },
  })
  expect(imported?.session.events.map(({ type }) => type)).toEqual(dshLog().types())
  expect(imported?.report).toMatchObject({ messages: 4, calls: 1, answered: 1, unmapped: [], warnings: [] })
})

test('a torn tail is kept raw, and what it leaves open is closed', async () => {
  const text = dshLog().text()
  const torn = text.slice(0, text.lastIndexOf('"tool/result"') + 8)
  const imported = await importText(torn)
  expectSoundSessions(imported)
  expect(imported[0]?.session.events.some(({ type }) => type === 'import/raw')).toBe(true)
  expect(imported[0]?.report).toMatchObject({ calls: 1, answered: 0, unmapped: [{ reason: 'line/torn' }] })
})

test('a log without the answer to a call is read line by line: the call is closed, and the report says what was refused', async () => {
  const log = dshLog()
  const at = log.rows.findIndex(({ type }) => type === 'tool/result')
  log.rows.splice(at, 1)
  const text = log.text()
  const imported = await importText(text)
  expectSound(imported, new TextEncoder().encode(text))
  expect(imported[0]?.report.warnings.map(({ code }) => code)).toContain('migration/refused')
  expect(imported[0]?.report).toMatchObject({ calls: 1, answered: 0 })
})

test('a replacement that was settled covers what it covered', async () => {
  const log = dshLog()
  log.replace('Looked at the files.', 2, 6)
  log.row('no/such-type', {})
  const text = log.text()
  const imported = await importText(text)
  expectSound(imported, new TextEncoder().encode(text))
  expect(imported[0]?.report).toMatchObject({ messages: 2 })
})

/** The text that the model sees at the end, message by message. */
const seen = ([imported]: readonly ImportedSession[]): string[] => {
  const messages = imported === undefined ? [] : deriveMessagesAt(imported.session.events, imported.report.events - 1)
  return messages.map(({ content }) => JSON.stringify(content.flatMap((block) => ('text' in block ? block.text : []))))
}
const codesOf = ([imported]: readonly ImportedSession[]): string[] =>
  imported?.report.warnings.map(({ code }) => code) ?? []
/** Imports what the edges refuse because of one row. */
async function settled(log: DshLog, change = (text: string): string => text): Promise<ImportedSession[]> {
  log.row('no/such-type', {})
  const text = change(log.text())
  const imported = await importText(text)
  expectSound(imported, new TextEncoder().encode(text))
  expect(codesOf(imported)).toContain('migration/refused')
  return imported
}

test('a summary covers what was settled before it, whatever became of the entries at its ends', async () => {
  const log = dshLog()
  // A pruner cuts the result, and a response with nothing in it is an entry of the source, though none here.
  const data = log.rows[6]?.data ?? {}
  const pruned = log.row(
    'tool/result',
    { ...data, meta: 'cut' },
    { surfaceOp: { op: 'replace', startSeq: 6, endSeq: 6 }, sourceEventSeqs: [6] },
  )
  log.user('More')
  const empty = log.model([])
  log.replace('All of it.', 3, empty)
  log.user('After')
  const imported = await settled(log)
  expect(seen(imported)).toEqual(['["All of it."]', '["After"]'])
  expect(imported[0]?.report.warnings).toContainEqual(
    expect.objectContaining({ code: 'replace/unsupported', line: pruned + 2 }),
  )
})

test('a summary of a summary covers that alone, and what stands behind stays', async () => {
  const log = dshLog()
  log.user('Kept')
  const first = log.replace('First.', 2, 7)
  const second = log.replace('Second.', first, first)
  log.user('After')
  expect(seen(await settled(log))).toEqual(['["Second."]', '["Kept"]', '["After"]'])
  expect(second).toBeGreaterThan(first)
})

test('a replacement of what is not there is appended, and the report says so', async () => {
  const log = dshLog()
  log.replace('Out of nowhere.', 99, 99)
  const imported = await settled(log)
  expect(seen(imported).at(-1)).toBe('["Out of nowhere."]')
  expect(codesOf(imported)).toContain('compaction/not-visible')
})

test('what would replace the head is appended, and is there for what replaces it', async () => {
  const log = dshLog()
  const over = log.replace('Over the head.', 2, 2)
  log.user('Between')
  log.replace('Instead.', over, over)
  const texts = seen(await settled(log))
  expect(texts.slice(-2)).toEqual(['["Instead."]', '["Between"]'])
  expect(texts).toHaveLength(6)
})

test('a row that was written twice is said once', async () => {
  const imported = await settled(dshLog(), (text) => {
    const lines = text.split('\n')
    return [...lines.slice(0, 5), lines[4], ...lines.slice(5)].join('\n')
  })
  expect(imported[0]?.report.unmapped).toContainEqual(expect.objectContaining({ line: 6, reason: 'line/repeated' }))
  expect(seen(imported).filter((text) => text.includes('List the files'))).toHaveLength(1)
})

test('a prompt that a header no longer has is cleared', async () => {
  const log = dshLog()
  log.rows.splice(2, 1, { type: 'request/header', data: { header: { system: 'Be brief.' } } })
  expect(seen(await settled(log))[0]).toBe('["Be brief."]')
  log.row('request/header', { header: {} })
  expect(seen(await settled(log))[0]).toBe('["List the files"]')
})

test('what a response cost is kept, and members without a place are named', async () => {
  const log = dshLog()
  const data = { ...log.rows[7]?.data, usage: { inputTokens: 3, odd: 'x' }, colour: 'red' }
  log.rows.splice(7, 1, { type: 'assistant/message', data, surfaceOp: 'append' })
  const [imported] = await settled(log)
  expect(imported?.report).toMatchObject({ leftOut: { 'data.colour': 1 }, leftOutLines: [9] })
  expect(imported?.session.events).toContainEqual(
    expect.objectContaining({ data: expect.objectContaining({ usage: { inputTokens: 3 } }) as unknown }),
  )
})

test('a log whose header has one wrong member is read line by line', async () => {
  const text = dshLog().text().replace('"isSeeded":false', '"isSeeded":7')
  const imported = await importText(text)
  expectSound(imported, new TextEncoder().encode(text))
  expect(imported[0]?.report).toMatchObject({ sessionId: 'd-1', messages: 4 })
})

test('a log of ours is no log to import', async () => {
  const text = dshLog().text().replace('"version":3', '"version":3,"format":"palimpsest"')
  await expect(importText(text)).rejects.toMatchObject({ code: 'format/ours' })
})

test('an event that nests deeper than a raw line may is an event and nothing else', async () => {
  const log = dshLog()
  log.row('todo/write', { todos: 7 })
  const text = log.text().replace('"todos":7', `"todos":${'['.repeat(950)}${']'.repeat(950)}`)
  expect((await importText(text))[0]?.report).toMatchObject({ unmapped: [], warnings: [], lines: { raw: 0 } })
})

test('a log that grows while it is read is the log that it was at first', async () => {
  const text = new TextEncoder().encode(dshLog().text())
  const half = text.subarray(0, text.length - 20)
  let readings = 0
  const source = {
    name: 'session.jsonl',
    async *bytes() {
      readings += 1
      yield readings === 1 ? half : text
    },
  }
  const { value } = await importDeepSeekHarness(source, { attachments: () => new MemorySink() }).next()
  expect((value as ImportedSession).report).toMatchObject({
    lines: { total: 11, mapped: 10, raw: 1 },
    unmapped: [{ line: 11, reason: 'line/torn' }],
  })
  const ends = (value as ImportedSession).session.events.filter(({ type }) => type === 'turn/end')
  expect(ends).toMatchObject([{ data: { reason: { kind: 'interrupted' } } }])
})

test('a recorded fixture is read only with leave', async () => {
  const text = dshLog()
    .text()
    .replaceAll(/"(seq|time)":\d+,/g, '')
  await expect(importText(text)).rejects.toMatchObject({ code: 'format/normalised' })
})

test.skipIf(samplesOf('deepseek-harness').some(isSampleAbsent))('every sample imports, sound', async () => {
  for (const name of samplesOf('deepseek-harness')) {
    const imported = await importBytes(sampleBytes(name), {
      name: name.replace(/^.*\//, ''),
      importer: (source, options) => importer(source, { ...options, normalised: true }),
    })
    expectSoundSessions(imported)
    expect(imported[0]?.report.warnings.filter(({ code }) => code === 'migration/refused')).toEqual([])
  }
})
