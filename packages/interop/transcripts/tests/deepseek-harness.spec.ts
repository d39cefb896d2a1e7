import { isSampleAbsent, samplesOf } from '@palimpsest/testkit'
import { expect, test } from 'vitest'
import { importDeepSeekHarness } from '../src/index.ts'
import { expectSound, expectSoundSessions } from './import-laws.ts'
import { importBytes, sampleBytes } from './support.ts'
import type { ImportedSession } from '../src/index.ts'
import { dshLog } from './deepseek-harness-fixture.ts'

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
