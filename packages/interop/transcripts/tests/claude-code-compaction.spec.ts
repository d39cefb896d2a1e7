import { Session, explain, traceFindings } from '@palimpsest/session'
import { expect, test } from 'vitest'
import { importVocabulary } from '../src/index.ts'
import type { ImportedSession } from '../src/index.ts'
import { Fixture } from './fixture.ts'
import { importBytes } from './support.ts'

async function imported(file: Fixture): Promise<ImportedSession & { shown: string[] }> {
  const [first] = await importBytes(file.bytes())
  if (first === undefined) throw new Error('nothing was imported')
  expect(traceFindings(first.session.events)).toEqual([])
  const restored = Session.restore(structuredClone(first.session), { vocabulary: importVocabulary })
  const shown = restored.deriveMessages().map(({ content: [block] }) => {
    if (block?.type === 'text') return block.text
    return block?.type === 'tool-result'
      ? `result ${block.toolCallId}`
      : block?.type === 'tool-call'
        ? `call ${block.id}`
        : ''
  })
  return { ...first, shown }
}

const codes = ({ report }: ImportedSession): string[] => report.warnings.map(({ code }) => code)

function boundary(file: Fixture, tail: string | undefined, metadata: Readonly<Record<string, unknown>> = {}): string {
  const compactMetadata = { trigger: 'auto', preTokens: 100, ...metadata }
  return file.line('system', {
    subtype: 'compact_boundary',
    parentUuid: null,
    logicalParentUuid: tail,
    compactMetadata,
  })
}

const summary = (file: Fixture, text = 'Summary', members: Readonly<Record<string, unknown>> = {}): string =>
  file.user(text, { isCompactSummary: true, isVisibleInTranscriptOnly: true, ...members })

function opening(file: Fixture): string {
  file.user('One')
  file.call('m1', 'c1')
  file.result('c1')
  return file.text('m2', 'Two')
}

test('a summary replaces exactly what stood before it, not the head, and cites it all', async () => {
  const file = new Fixture()
  boundary(file, opening(file))
  summary(file)
  file.user('Three')
  const { shown, session, report } = await imported(file)
  expect(shown).toEqual(['Summary', 'Three'])
  const replacement = session.events.find((event) => event.type === 'user/message' && event.surfaceOp !== 'append')
  const covered = session.events
    .filter((event) => event.surfaceOp === 'append' && event.type !== 'system/message')
    .slice(0, 4)
  expect(replacement?.sourceEventSeqs).toEqual(covered.map((event) => event.seq))
  expect(report.unmapped).toEqual([{ line: 5, reason: 'compaction/boundary', type: 'system/compact_boundary' }])
})

test('a second compaction covers the first summary', async () => {
  const file = new Fixture()
  boundary(file, opening(file))
  summary(file, 'First')
  const tail = file.user('Three')
  boundary(file, tail)
  summary(file, 'Second')
  file.user('Four')
  const { shown, session } = await imported(file)
  expect(shown).toEqual(['Second', 'Four'])
  const last = session.events.findLast((event) => event.type === 'user/message' && event.surfaceOp !== 'append')
  expect(explain(session.events, last?.seq ?? -1)).toMatchObject({
    shadows: expect.objectContaining({ length: 2 }),
    origins: expect.objectContaining({ length: 5 }),
  })
})

test('messages that a compaction keeps stay visible after its summary', async () => {
  for (const where of ['segment', 'list'] as const) {
    const file = new Fixture()
    opening(file)
    const head = file.user('Kept question')
    const tail = file.text('m3', 'Kept answer')
    const anchor = 'anchor'
    boundary(
      file,
      tail,
      where === 'segment'
        ? { preservedSegment: { headUuid: head, tailUuid: tail, anchorUuid: anchor } }
        : { preservedMessages: { anchorUuid: anchor, uuids: [head, tail] } },
    )
    summary(file, 'Summary', { uuid: anchor })
    file.user('Next', { parentUuid: tail })
    expect((await imported(file)).shown).toEqual(['Summary', 'Kept question', 'Kept answer', 'Next'])
  }
})

test('kept messages that are written again below the summary are on the surface once', async () => {
  const file = new Fixture()
  opening(file)
  const head = file.user('Kept question')
  const tail = file.text('m3', 'Kept answer')
  boundary(file, tail, { preservedSegment: { headUuid: head, tailUuid: tail, anchorUuid: 'anchor' } })
  summary(file, 'Summary', { uuid: 'anchor' })
  file.user('Kept question', { uuid: head, parentUuid: 'anchor' })
  file.text('m3', 'Kept answer', { uuid: tail })
  file.user('Next')
  const { shown, report } = await imported(file)
  expect(shown).toEqual(['Summary', 'Kept question', 'Kept answer', 'Next'])
  expect(report.unmapped.filter(({ reason }) => reason === 'line/repeated').map(({ line }) => line)).toEqual([9, 10])
})

test('kept messages whose history is missing are taken from where they are written again', async () => {
  const file = new Fixture()
  boundary(file, 'elsewhere', { preservedMessages: { anchorUuid: 'anchor', uuids: ['k1'] } })
  summary(file, 'Summary', { uuid: 'anchor' })
  file.user('Kept', { uuid: 'k1' })
  const session = await imported(file)
  expect(session.shown).toEqual(['Summary', 'Kept'])
  expect(codes(session)).toContain('compaction/history-missing')
})

test('a cut between a call and its answer moves to before the call', async () => {
  const file = new Fixture()
  file.user('One')
  file.call('m1', 'c1')
  const kept = file.result('c1')
  boundary(file, kept, { preservedMessages: { anchorUuid: 'anchor', uuids: [kept] } })
  summary(file, 'Summary', { uuid: 'anchor' })
  file.text('m2', 'Two', { parentUuid: kept })
  const session = await imported(file)
  expect(session.shown).toEqual(['Summary', 'call c1', 'result c1', 'Two'])
  expect(codes(session)).toContain('compaction/cut-moved')
})

test('a message between kept ones stays visible rather than vanish', async () => {
  const file = new Fixture()
  const kept = file.user('Kept')
  file.text('m1', 'Not kept')
  const tail = file.user('Kept too')
  boundary(file, tail, { preservedMessages: { anchorUuid: 'anchor', uuids: [kept, tail] } })
  summary(file, 'Summary', { uuid: 'anchor' })
  const session = await imported(file)
  expect(codes(session)).toEqual(expect.arrayContaining(['compaction/extra-visible', 'compaction/nothing-covered']))
  expect(session.shown).toEqual(['Kept', 'Not kept', 'Kept too', 'Summary'])
})

test('a call still open at the boundary is closed before the summary', async () => {
  const file = new Fixture()
  file.user('One')
  boundary(file, file.call('m1', 'c1'))
  summary(file)
  file.text('m2', 'Two')
  const session = await imported(file)
  expect(session.shown).toEqual(['Summary', 'Two'])
  expect(codes(session)).toContain('call/unanswered')
})

test('an old summary without a boundary covers what it follows, or the lines before it', async () => {
  for (const parentUuid of ['own', null] as const) {
    const file = new Fixture()
    const tail = opening(file)
    summary(file, 'Summary', { parentUuid: parentUuid === 'own' ? tail : null })
    file.user('Three')
    expect((await imported(file)).shown).toEqual(['Summary', 'Three'])
  }
})

test('attachments between boundary and summary change nothing', async () => {
  const file = new Fixture()
  boundary(file, opening(file))
  file.line('attachment', { attachment: { type: 'file' } })
  summary(file)
  file.user('Three')
  expect((await imported(file)).shown).toEqual(['Summary', 'Three'])
})

test('a boundary without a summary hides nothing and is reported', async () => {
  const file = new Fixture()
  boundary(file, opening(file))
  file.user('Three')
  const session = await imported(file)
  expect(session.shown).toEqual(['One', 'call c1', 'result c1', 'Two', 'Three'])
  expect(codes(session)).toContain('compaction/no-summary')
})

test('a history that the file does not hold is reported', async () => {
  const file = new Fixture()
  opening(file)
  boundary(file, 'elsewhere')
  summary(file)
  file.text('m3', 'Three')
  const session = await imported(file)
  expect(session.shown).toEqual(['Summary', 'Three'])
  expect(codes(session)).toContain('compaction/history-missing')
  expect(session.report.unmapped.map(({ line }) => line)).toEqual([1, 2, 3, 4, 5])
})
