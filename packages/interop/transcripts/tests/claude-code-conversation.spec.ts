import { Session, explain, traceFindings } from '@palimpsest/session'
import type { Message } from '@palimpsest/session'
import { expect, test } from 'vitest'
import { importVocabulary } from '../src/index.ts'
import type { ImportedSession } from '../src/index.ts'
import { Fixture, tangled } from './fixture.ts'
import { importBytes } from './support.ts'

async function imported(file: Fixture): Promise<ImportedSession> {
  const [first] = await importBytes(file.bytes())
  if (first === undefined) throw new Error('nothing was imported')
  Session.restore(structuredClone(first.session), { vocabulary: importVocabulary })
  expect(traceFindings(first.session.events)).toEqual([])
  return first
}

function derived({ session }: ImportedSession): readonly Message[] {
  return Session.restore(structuredClone(session), { vocabulary: importVocabulary }).deriveMessages()
}

/** A message in short: its role and what it says, calls and answers. */
function short(message: Message): string {
  const parts = message.content.map((block) => {
    if (block.type === 'text') return block.text
    if (block.type === 'tool-call') return `call ${block.id}`
    if (block.type === 'tool-result') return `${block.isError === true ? 'error' : 'result'} ${block.toolCallId}`
    return block.type
  })
  return `${message.role}: ${parts.join(', ')}`
}

const shortly = (session: ImportedSession): string[] => derived(session).map(short)
const codes = ({ report }: ImportedSession): string[] => report.warnings.map(({ code }) => code)
const reasons = ({ report }: ImportedSession): string[] =>
  report.unmapped.map(({ line, reason }) => `${line} ${reason}`)

test('a tangled file imports as what the model saw', async () => {
  const session = await imported(tangled())
  expect(shortly(session)).toEqual([
    'user: So far: two files and a picture.',
    'user: Go on',
    'assistant: call c4, call c5',
    'user: result c4',
    'user: error c5',
    'user: [Request interrupted by user for tool use]',
    'user: Never mind, say hello',
    'assistant: Hello.',
  ])
  expect(session.report).toMatchObject({ sessionId: 's-1', messages: 8, calls: 5, answered: 4 })
})

test('answers that hang off their own calls are all kept', async () => {
  const file = new Fixture()
  file.user('Go')
  const one = file.call('m1', 'c1')
  const two = file.call('m1', 'c2')
  const three = file.call('m1', 'c3')
  file.result('c2', { parentUuid: two })
  file.result('c3', { parentUuid: three })
  file.result('c1', { parentUuid: one })
  file.text('m2', 'Done')
  const session = await imported(file)
  expect(shortly(session)).toEqual([
    'user: Go',
    'assistant: call c1, call c2, call c3',
    'user: result c2',
    'user: result c3',
    'user: result c1',
    'assistant: Done',
  ])
})

test('lines of one response are one message, also where answers stand between them', async () => {
  const file = new Fixture()
  file.user('Go')
  file.call('m1', 'c1')
  file.result('c1')
  file.call('m1', 'c2')
  file.result('c2')
  file.text('m2', 'Done')
  const session = await imported(file)
  expect(shortly(session)).toEqual([
    'user: Go',
    'assistant: call c1, call c2',
    'user: result c1',
    'user: result c2',
    'assistant: Done',
  ])
  const message = session.session.events.find((event) => event.type === 'assistant/message')
  expect(message?.data).toMatchObject({
    usage: { inputTokens: 10, outputTokens: 3, cacheReadTokens: 3, cacheWriteTokens: 2 },
    message: { source: { lines: [2, 4] } },
  })
})

test('user text between calls and answers stands after the batch and is reported', async () => {
  const file = new Fixture()
  file.user('Go')
  file.call('m1', 'c1')
  file.user('By the way')
  file.result('c1')
  file.text('m2', 'Done')
  const session = await imported(file)
  expect(shortly(session)).toEqual([
    'user: Go',
    'assistant: call c1',
    'user: result c1',
    'user: By the way',
    'assistant: Done',
  ])
  expect(session.report.warnings).toContainEqual(expect.objectContaining({ line: 3, code: 'order/after-batch' }))
})

test('a rewound prompt and what followed it are off the surface and kept raw', async () => {
  const file = new Fixture()
  const start = file.user('Start')
  file.user('Wrong way')
  file.text('m1', 'Lost')
  file.user('Right way', { parentUuid: start })
  const session = await imported(file)
  expect(shortly(session)).toEqual(['user: Start', 'user: Right way'])
  expect(reasons(session)).toEqual(['2 branch/left', '3 branch/left'])
})

test('a history written again under new uuids after an upgrade is imported once', async () => {
  const file = new Fixture()
  for (const copy of ['a', 'b']) {
    file.user('Go', { parentUuid: null, uuid: `${copy}1` })
    file.call('m1', 'c1', { uuid: `${copy}2` })
    file.result('c1', { uuid: `${copy}3` })
  }
  file.text('m2', 'Done')
  const session = await imported(file)
  expect(shortly(session)).toEqual(['user: Go', 'assistant: call c1', 'user: result c1', 'assistant: Done'])
  expect(reasons(session)).toEqual(['1 branch/other-root', '2 branch/other-root', '3 branch/other-root'])
})

test('a repeated uuid: the last line wins', async () => {
  const file = new Fixture()
  file.user('First wording', { uuid: 'x' })
  file.user('Second wording', { uuid: 'x', parentUuid: null })
  file.text('m1', 'Yes')
  const session = await imported(file)
  expect(shortly(session)).toEqual(['user: Second wording', 'assistant: Yes'])
  expect(reasons(session)).toEqual(['1 line/repeated'])
})

test('lines that name each other in a circle end the path', async () => {
  const file = new Fixture()
  file.user('One', { uuid: 'a', parentUuid: 'b' })
  file.text('m1', 'Two', { uuid: 'b', parentUuid: 'a' })
  expect(shortly(await imported(file))).toEqual(['user: One', 'assistant: Two'])
})

test('a file whose lines name no other line is taken in file order', async () => {
  const file = new Fixture()
  file.user('One', { parentUuid: null })
  file.text('m1', 'Two', { parentUuid: null })
  const session = await imported(file)
  expect(shortly(session)).toEqual(['user: One', 'assistant: Two'])
  expect(codes(session)).toContain('order/file')
})

test('a conversation whose beginning is in another file says so', async () => {
  const file = new Fixture()
  file.user('Go on', { parentUuid: 'elsewhere' })
  file.text('m1', 'Yes')
  expect(codes(await imported(file))).toContain('branch/dangling')
})

test('a later last-prompt record moves the end of the conversation to another branch', async () => {
  const file = new Fixture()
  const start = file.user('Start')
  const left = file.text('m1', 'Left')
  file.text('m2', 'Right', { parentUuid: start })
  file.raw(JSON.stringify({ type: 'last-prompt', lastPrompt: 'Start', leafUuid: left, sessionId: 's-1' }))
  expect(shortly(await imported(file))).toEqual(['user: Start', 'assistant: Left'])
})

test('retracted, synthetic and transcript-only lines are off the surface', async () => {
  const file = new Fixture()
  file.user('Go')
  const gone = file.text('m1', 'Refused')
  file.line('assistant', {
    message: { id: 'e', model: '<synthetic>', role: 'assistant', content: [{ type: 'text', text: 'API Error' }] },
    isApiErrorMessage: true,
  })
  file.user('for the eye', { isVisibleInTranscriptOnly: true })
  file.text('m2', 'Fine', { supersedesUuids: [gone] })
  const session = await imported(file)
  expect(shortly(session)).toEqual(['user: Go', 'assistant: Fine'])
  expect(reasons(session)).toEqual(['2 message/retracted', '3 message/synthetic', '4 message/transcript-only'])
})

test('an unanswered call in the middle is closed where it stands, at the end by the closers of a crash', async () => {
  const file = new Fixture()
  file.user('Go')
  file.call('m1', 'c1')
  file.user('Still there?')
  file.call('m2', 'c2')
  const session = await imported(file)
  expect(shortly(session)).toEqual([
    'user: Go',
    'assistant: call c1',
    'user: error c1',
    'user: Still there?',
    'assistant: call c2',
    'user: error c2',
  ])
  expect(session.report).toMatchObject({ calls: 2, answered: 0 })
  expect(codes(session)).toEqual(['call/unanswered', 'call/unanswered-tail'])
  const closers = session.session.events.filter((event) => event.type === 'tool/result')
  expect(closers.map((event) => event.data.error?.code)).toEqual(['TOOL_OUTCOME_UNKNOWN', 'TOOL_OUTCOME_UNKNOWN'])
})

test('empty and repeated call ids are minted anew and kept for the provider', async () => {
  const file = new Fixture()
  file.user('Go')
  const one = file.call('m1', 'c1')
  const two = file.call('m1', 'c1')
  file.call('m1', '')
  file.result('c1', { sourceToolAssistantUUID: two })
  file.result('c1', { sourceToolAssistantUUID: one })
  file.result('')
  file.result('c1')
  file.result('unheard of')
  file.call('m2', 'c1')
  file.result('c1')
  const session = await imported(file)
  expect(shortly(session)).toEqual([
    'user: Go',
    'assistant: call c1, call c1~2, call ~2',
    'user: result c1~2',
    'user: result c1',
    'user: result ~2',
    'assistant: call c1',
    'user: result c1',
  ])
  const first = derived(session)[1]
  expect(first?.source).toMatchObject({
    replayState: { blocks: [null, { type: 'tool_use', id: 'c1' }, { type: 'tool_use', id: '' }] },
  })
  expect(reasons(session)).toEqual(['8 result/duplicate', '9 result/no-call'])
})

test('turns begin at real prompts, steps hold one response and its tools, and the head comes first', async () => {
  const file = new Fixture()
  file.user('Caveat', { isMeta: true })
  file.user('One')
  file.call('m1', 'c1')
  file.result('c1')
  file.text('m2', 'Done')
  file.user('<local-command-stdout>ok</local-command-stdout>')
  file.user('Two')
  file.text('m3', 'Half')
  file.user('[Request interrupted by user]')
  file.user('Three')
  file.text('m4', 'Whole', {
    message: {
      id: 'm4',
      role: 'assistant',
      model: 'claude-y',
      content: [{ type: 'text', text: 'Whole' }],
      stop_reason: 'max_tokens',
    },
  })
  file.user('Four')
  const { session } = await imported(file)
  const outline = session.events.map((event) => {
    if (event.type === 'turn/start') return `turn ${event.data.turn}`
    if (event.type === 'turn/end') return `end ${event.data.turn} ${event.data.reason.kind}`
    if (event.type === 'step/start') return `step ${event.data.turn}.${event.data.step}`
    if (event.type === 'request/header') return `header ${event.data.reason} ${event.data.header.config.model}`
    return event.type
  })
  expect(outline.join('; ')).toBe(
    'turn 1; step 1.1; system/message; user/message; user/message; header initial claude-x; assistant/message; ' +
      'tool/call; tool/result; step/end; step 1.2; assistant/message; step/end; end 1 completed; user/message; ' +
      'turn 2; step 2.1; user/message; assistant/message; step/end; user/message; end 2 aborted; ' +
      'turn 3; step 3.1; user/message; header change claude-y; assistant/message; step/end; end 3 max-tokens; ' +
      'turn 4; step 4.1; user/message; step/end; end 4 interrupted',
  )
  expect(session.events.find((event) => event.surfaceOp !== undefined)?.type).toBe('system/message')
})

test('each result cites its call, times are the source’s, and explain leads to the lines', async () => {
  const { session } = await imported(tangled())
  const results = session.events.filter((event) => event.type === 'tool/result')
  for (const result of results) {
    const call = session.events[result.sourceEventSeqs?.[0] ?? -1]
    expect(call?.type === 'tool/call' && call.data.callId).toBe(result.data.message.source.callId)
  }
  const late = results.find((event) => event.data.message.source.callId === 'c1')
  expect(late?.time).toBe(Date.parse('2026-01-01T00:00:07.000Z'))
  expect(late?.data.message.source).toMatchObject({ lines: [10] })
  expect(late?.data.meta).toEqual({ toolUseResult: { stdout: 'out c1' } })
  const summary = session.events.find((event) => event.type === 'user/message' && event.surfaceOp !== 'append')
  expect(explain(session.events, summary?.seq ?? -1).origins).toContain(late?.seq)
})

test('one id for every response, as some gateways give, does not fuse responses across prompts', async () => {
  const file = new Fixture()
  file.user('One')
  file.text('same', 'First')
  file.user('Two')
  file.text('same', 'Second')
  const session = await imported(file)
  expect(shortly(session)).toEqual(['user: One', 'assistant: First', 'user: Two', 'assistant: Second'])
  expect(new Set(derived(session).map(({ id }) => id)).size).toBe(4)
})

test('a model that a hook nudges on goes on in the same turn', async () => {
  const file = new Fixture()
  file.user('Go')
  file.text('m1', 'Done')
  file.user('Stop hook feedback: tests fail', { isMeta: true })
  file.text('m2', 'Mended')
  const { session } = await imported(file)
  const ends = session.events.flatMap((event) => (event.type === 'turn/end' ? [event.data] : []))
  expect(ends).toEqual([{ turn: 1, reason: { kind: 'completed' } }])
})
