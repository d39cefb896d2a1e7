import { type Json, type JsonObject, deriveMessagesAt } from '@palimpsest/session'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SessionFormatUnsupportedMigration } from '../src/errors.ts'
import { openAnyVersion } from '../src/index.ts'
import type { OpenedFormat } from '../src/open.ts'
import { assistantMessage, bytesOf, resultMessage, userMessage } from './fixtures.ts'
import { refusal } from './support.ts'

const place = { turn: 1, step: 1 }
const append = { surfaceOp: 'append' }

type Row = JsonObject & { readonly type: string }

const row = (type: string, data: JsonObject, rest: JsonObject = {}): Row => ({ type, data, ...rest })
const turn = row('turn/start', { turn: 1 })
const step = row('step/start', place)
const said = (text: string, rest: JsonObject = append): Row => row('user/message', userMessage(text, text), rest)
const config = { provider: 'acme', model: 'm-1' }
const header = (system?: Json, more: JsonObject = {}): Row =>
  row('request/header', { header: { config, ...(system === undefined ? {} : { system }), ...more }, reason: 'change' })
const prompted = (text: string, rest: JsonObject = append): Row => {
  const source = { kind: 'plugin', plugin: 'prompts' }
  return row(
    'system/message',
    { ...place, message: { id: text, role: 'system', content: [{ type: 'text', text }], source } },
    rest,
  )
}
const called = row(
  'assistant/message',
  {
    ...place,
    message: assistantMessage('a', [{ type: 'tool-call', id: 'c', name: 'run', arguments: '{}' }]),
    stream: [],
  },
  append,
)
const result = (members: JsonObject, isError?: boolean): Row => {
  const message = resultMessage('r', 'c', 'done')
  const [block] = message['content'] as readonly JsonObject[]
  const { isError: _, ...plain } = block ?? {}
  const content = [isError === undefined ? plain : { ...plain, isError }]
  return row('tool/result', { ...place, message: { ...message, content }, ...members }, append)
}

const rowsOf = (rows: readonly Row[], members: JsonObject, version: number): readonly JsonObject[] => [
  { type: 'session', version, id: 's', createdAt: 1, isSeeded: false, delegationDepth: 0, ...members },
  ...rows.map((each, seq) => ({ ...each, seq, time: 100 + seq })),
]
const open = (rows: readonly Row[], members: JsonObject = {}, version = 2): Promise<OpenedFormat> =>
  openAnyVersion({ name: 's.jsonl', bytes: () => bytesOf(rowsOf(rows, members, version)) })

const typesOf = ({ events }: OpenedFormat): readonly string[] => events.map(({ type }) => type)
/** Ids of what the model sees after each request header. */
const promptsOf = ({ events }: OpenedFormat): readonly string[] =>
  events
    .filter(({ type }) => type === 'request/header')
    .map(({ seq }) => {
      const [first] = deriveMessagesAt(events, seq)
      return first?.role === 'system' ? first.content.map((block) => ('text' in block ? block.text : '')).join('') : ''
    })

describe('the edge from version 2', () => {
  it('puts an empty head right after the first step/start, and the prompt in its place before the header', async () => {
    const opened = await open([turn, step, said('one'), header('P')])
    expect(typesOf(opened)).toEqual([
      'turn/start',
      'step/start',
      'system/message',
      'user/message',
      'system/message',
      'request/header',
    ])
    expect(opened.events[2]).toMatchObject({
      surfaceOp: 'append',
      time: 101,
      data: { ...place, message: { content: [] } },
    })
    expect(opened.events[4]).toMatchObject({
      surfaceOp: { op: 'replace', startSeq: 2, endSeq: 2 },
      sourceEventSeqs: [2],
      data: { message: { content: [{ type: 'text', text: 'P' }] } },
    })
    expect(opened.events[5]?.data).toEqual({ header: { config }, reason: 'change' })
  })

  it('replaces the head before each header whose prompt differs, clears included, and before no other', async () => {
    const opened = await open([turn, step, said('one'), header('P'), header('P'), header('Q'), header(), header('Q')])
    expect(promptsOf(opened)).toEqual(['P', 'P', 'Q', '', 'Q'])
    expect(typesOf(opened).filter((type) => type === 'system/message')).toHaveLength(5)
  })

  it('puts the head before a surface event that comes before any step, since nothing can be put there later', async () => {
    const opened = await open([turn, said('one'), step, header('P')])
    expect(typesOf(opened).slice(0, 3)).toEqual(['turn/start', 'system/message', 'user/message'])
    expect(promptsOf(opened)).toEqual(['P'])
  })

  it('makes no head where the log has its prompts on the surface already', async () => {
    const opened = await open([turn, step, prompted('P'), said('one'), header()])
    expect(typesOf(opened)).toEqual(['turn/start', 'step/start', 'system/message', 'user/message', 'request/header'])
    expect(promptsOf(opened)).toEqual(['P'])
  })

  it('moves every seq that an event names', async () => {
    const opened = await open([
      turn,
      step,
      said('one'),
      said('two'),
      row('session/title', { title: 'T', messageSeqs: [2, 3], source: { kind: 'fallback' } }),
      row('compaction/prune', { shadowedRange: { start: 2, end: 3 }, shadowedSeqs: [2, 3], shadowedTokenCount: 1 }),
      row('command/done', { commandId: 'c', kind: 'success', sourceEventSeq: 3 }),
      row('session-log-deepseek/delivery-accepted', { sessionId: 's', throughSeq: 3 }),
      row('compaction/prune', { shadowedRange: { startSeq: 2, endSeq: 3 } }),
      row('request/start', { ...place, attempt: 1, throughSeq: 3 }),
      row('assistant/attempt', { ...place, stream: [], requestSeq: 9 }),
      said('both', { surfaceOp: { op: 'replace', start: 2, end: 3 }, sourceEventSeqs: [2, 3, 5] }),
    ])
    expect(opened.events.slice(5).map(({ data }) => data)).toMatchObject([
      { messageSeqs: [3, 4] },
      { shadowedRange: { start: 3, end: 4 }, shadowedSeqs: [3, 4] },
      { sourceEventSeq: 4 },
      { throughSeq: 3 },
      { shadowedRange: { startSeq: 3, endSeq: 4 } },
      { throughSeq: 4 },
      { requestSeq: 10 },
      {},
    ])
    expect(opened.events.at(-1)).toMatchObject({
      surfaceOp: { op: 'replace', startSeq: 3, endSeq: 4 },
      sourceEventSeqs: [3, 4, 6],
    })
  })

  it('moves the cut of inherited history', async () => {
    const rows = [turn, step, said('one'), row('session/end-seed', { inherited: true }), said('two')]
    expect(await open(rows, { isSeeded: true, parentSession: 'p' })).toMatchObject({ inheritedEventCount: 4 })
    expect(await refusal(open(rows))).toMatchObject({ code: 'format/row' })
    expect(await refusal(open(rows.slice(0, 3), { isSeeded: true }))).toMatchObject({ code: 'format/row' })
  })

  it('leaves empty tools and adapterDefaults out, and says so', async () => {
    const opened = await open([turn, step, header(undefined, { tools: [], adapterDefaults: {} })])
    expect(opened.events.at(-1)?.data).toEqual({ header: { config }, reason: 'change' })
    expect(opened.notes).toMatchObject([
      { code: 'header/empty', line: 4 },
      { code: 'header/empty', line: 4 },
    ])
  })

  it('renames code dispatches and the preset of them', async () => {
    const dispatch = { rootCallId: 'r', parentCallId: 'r', subCallId: 's', name: 'read', arguments: {} }
    const rows = [
      row('tool/code-dispatch-start', dispatch),
      row('tool/code-dispatch', dispatch),
      row('agent-preset/selected', { agentPreset: 'code' }),
    ]
    const opened = await open(rows, { agentPreset: 'code' })
    expect(typesOf(opened)).toEqual(['tool/ptc-dispatch-start', 'tool/ptc-dispatch', 'agent-preset/selected'])
    expect([opened.header.agentPreset, opened.events[2]?.data]).toEqual(['ptc', { agentPreset: 'ptc' }])
  })

  const before = [turn, step, said('one')]
  const error = { error: { name: 'E', code: 'FAILED' } }
  const opaque = { type: 'acme/thing', data: {}, ignorable: true } as const
  it.each<[string, readonly Row[]]>([
    ['a surface event without a place', [...before, said('two', {})]],
    [
      'an extra key in a replacement',
      [...before, said('two', { surfaceOp: { op: 'replace', start: 2, end: 2, by: 'x' }, sourceEventSeqs: [2] })],
    ],
    [
      'the names of version 3',
      [...before, said('two', { surfaceOp: { op: 'replace', startSeq: 2, endSeq: 2 }, sourceEventSeqs: [2] })],
    ],
    ['a place of what is no surface event', [...before, row('todo/write', { todos: [] }, append)]],
    ['sources of an assistant message', [...before, { ...called, sourceEventSeqs: [2] }]],
    ['an error whose result says that it is none', [...before, called, result(error, false)]],
    ['an error whose result says nothing', [...before, called, result(error)]],
    ['a seq that names no earlier event', [...before, row('session/title', { messageSeqs: [3] })]],
    ['a type that no pack lists', [...before, row('acme/thing', {})]],
    ['a range of a shape that would not move', [...before, row('compaction/prune', { shadowedRange: [1, 1] })]],
    [
      'an ignorable event of unknown type that names a range of seqs',
      [...before, { ...opaque, data: { shadowedRange: { start: 1, end: 1 } } }],
    ],
    ['an ignorable event of unknown type that names seqs', [...before, { ...opaque, data: { atSeq: 1 } }]],
    ['a prompt on the surface where headers had it', [...before, header('P'), prompted('Q')]],
    ['a prompt in a header where the surface had it', [turn, step, prompted('P'), header('Q')]],
    ['a prompt that is no text', [...before, header(['P'])]],
  ])('refuses %s, and names the event', async (_, rows) => {
    const seq = rows.length - 1
    const refused = await refusal(open(rows))
    expect(refused).toBeInstanceOf(SessionFormatUnsupportedMigration)
    expect(refused).toMatchObject({
      code: 'format/unsupported',
      from: 2,
      seq,
      line: seq + 2,
      eventType: rows[seq]?.type,
    })
  })

  it('takes an error whose result says so, and an ignorable event of unknown type as it stands', async () => {
    expect(await open([...before, called, result(error, true), opaque])).toMatchObject({ from: 2 })
  })

  it('gives a log in which the model sees under every header what the old one sent, however prompts and messages mix', async () => {
    const anyRow = fc.oneof(
      fc.constantFrom<Json | undefined>(undefined, '', 'P', 'Q').map((system) => header(system)),
      fc.string({ minLength: 1 }).map((text) => said(text)),
      fc.constant(row('todo/write', { todos: [] })),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(anyRow, { maxLength: 20 }), fc.boolean(), async (rows, isStepFirst) => {
        const opened = await open(isStepFirst ? [turn, step, ...rows] : [turn, ...rows, step])
        const wanted = rows.filter(({ type }) => type === 'request/header')
        const systems = wanted.map(({ data }) => ((data as JsonObject)['header'] as JsonObject)['system'] ?? '')
        expect(promptsOf(opened)).toEqual(systems)
        const texts = rows.flatMap(({ type, data }) => (type === 'user/message' ? [(data as JsonObject)['id']] : []))
        const derived = deriveMessagesAt(opened.events, opened.events.length - 1)
        expect(derived.filter(({ role }) => role === 'user').map(({ id }) => id)).toEqual(texts)
      }),
      { numRuns: 60 },
    )
  })
})

describe('version 3 of deepseek-harness', () => {
  it('is taken with the names of a replacement that builds before its release gave', async () => {
    const rows = [
      turn,
      step,
      said('one'),
      said('two', { surfaceOp: { op: 'replace', start: 2, end: 2 }, sourceEventSeqs: [2] }),
    ]
    const released = rows.with(
      3,
      said('two', { surfaceOp: { op: 'replace', startSeq: 2, endSeq: 2 }, sourceEventSeqs: [2] }),
    )
    expect((await open(rows, {}, 3)).events).toEqual((await open(released, {}, 3)).events)
  })

  it.each<[string, readonly Row[], string]>([
    ['a prompt in a header', [header('P')], 'payload/header'],
    ['a result of no call', [result({})], 'pairing/unknown-call'],
    ['a type that no pack lists', [row('acme/thing', {})], 'vocabulary/unknown'],
    ['a message without identity', [row('user/message', userMessage(undefined, 'x'), append)], 'payload/invalid'],
  ])('is held to the rules of acceptance: %s', async (_, rows, code) => {
    const refused = await refusal(open(rows, {}, 3))
    expect(refused).toMatchObject({ code: 'format/refused', line: 2, seq: 0, cause: { code } })
    expect(refused.message).toContain(code)
  })
})
