import type { Json, JsonObject } from '@palimpsest/session'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OldLog, bytesOf, streamed, streamedCall } from './fixtures.ts'
import { read, readOld, refusal } from './support.ts'

const header = { type: 'session', version: 0, id: 'old', createdAt: 1_000 }
const turn = (seq: number): JsonObject => ({ type: 'turn/start', seq, time: 5, data: { turn: 1 } })
const reading = (...rows: Json[]): ReturnType<typeof read> => read(bytesOf([header, ...rows]))

function chatter(): OldLog {
  const log = new OldLog()
  log.startTurn()
  log.startStep()
  log.user('hi')
  log.answer(
    [streamed('reasoning', ['so', ' ', 'what']), streamed('text', ['', 'o', 'k']), streamedCall('c1', ['{', '}'])],
    () => log.add('agent/inbox/spliced', { target: 'next-turn' }),
  )
  log.callAndResult('c1', 'done')
  log.endStep()
  log.endTurn()
  return log
}

describe('a row', () => {
  it('is one event, with the line it stands in', async () => {
    const { events } = await reading(turn(0), { ...turn(1), ignorable: true })
    expect(events).toEqual([
      { ...turn(0), line: 2 },
      { ...turn(1), ignorable: true, line: 3 },
    ])
  })

  it('of a run of chunks is one event for each of them, as if they had not been packed', async () => {
    const log = chatter()
    const strip = ({ events }: Awaited<ReturnType<typeof read>>): unknown =>
      events.map(({ line: _, ...event }) => event)
    const single = await readOld(log)
    const packed = await readOld(log, { packed: true })
    expect(log.rows({ packed: true }).length).toBeLessThan(log.rows().length)
    expect(strip(packed)).toEqual(strip(single))
    expect(strip(single)).toEqual(log.events)
  })

  it('may cite runs of seqs as ranges, both ends inclusive', async () => {
    const log = chatter()
    expect(log.rows({ ranges: true })).not.toEqual(log.rows())
    expect(await readOld(log, { ranges: true })).toEqual(await readOld(log))
  })

  it('of a recorded fixture takes the seq that is due and the time of the header', async () => {
    const log = chatter()
    const { events, notes } = await readOld(log, { bare: true, packed: true })
    expect(events.map(({ seq }) => seq)).toEqual(log.events.map((_, seq) => seq))
    expect(events.every(({ time, type }) => time === 1_000 || type === 'assistant/chunk')).toBe(true)
    expect(notes.map(({ code }) => code)).toEqual(['placeholder/time'])
  })

  it('of a recorded fixture is read with leave only', async () => {
    const { seq: _, time: __, ...bare } = turn(0)
    expect(await refusal(reading(bare))).toMatchObject({ code: 'format/normalised', line: 2 })
  })

  const place = { seq0: 0, time0: 5 }
  const run = { turn: 1, step: 1, index: 0, dt: [1], texts: ['a', 'b'] }
  it.each<[string, Json]>([
    ['no type', { seq: 0, time: 5, data: {} }],
    ['an empty type', { ...turn(0), type: '' }],
    ['no data', { type: 'turn/start', seq: 0, time: 5 }],
    ['data that is a list', { ...turn(0), data: [] }],
    ['a member that events do not have', { ...turn(0), extra: 1 }],
    ['an own __proto__', JSON.parse('{"type":"turn/start","seq":0,"time":5,"data":{},"__proto__":{}}') as Json],
    ['no seq beside its time', { type: 'turn/start', time: 5, data: {} }],
    ['a time with a fraction', { ...turn(0), time: 0.5 }],
    ['ignorable: false', { ...turn(0), ignorable: false }],
    ['sources that are no list', { ...turn(0), sourceEventSeqs: 0 }],
    ['a packed run with a member that no stream keeps', { type: 'text-chunks', ...place, data: { ...run, more: 1 } }],
    ['a packed run without a step', { type: 'text-chunks', ...place, data: { ...run, step: undefined as never } }],
    ['a packed run with a gap too few', { type: 'text-chunks', ...place, data: { ...run, dt: [] } }],
    ['an empty packed run', { type: 'text-chunks', ...place, data: { ...run, dt: [], texts: [] } }],
    ['a packed run of numbers', { type: 'text-chunks', ...place, data: { ...run, texts: [1, 2] } }],
    ['a packed run without data', { type: 'text-chunks', ...place }],
    ['a packed run with a seq of its own', { type: 'text-chunks', seq: 0, ...place, data: run }],
  ])('is refused with its line when it has %s', async (_, row) => {
    expect(await refusal(reading(row))).toMatchObject({ code: 'format/row', line: 2 })
  })

  it.each([
    ['missing', 2],
    ['repeated', 0],
  ])('is refused when a seq is %s', async (_, seq) => {
    expect(await refusal(reading(turn(0), turn(seq)))).toMatchObject({ code: 'format/seq', line: 3, seq })
  })

  it.each<[string, Json]>([
    ['a negative seq', [-1]],
    ['a range that runs backwards', [[2, 0]]],
    ['a range that reaches itself', [[0, 3]]],
    ['a range of three', [[0, 1, 2]]],
    ['a range without an end', [[0]]],
    ['more than there is', [[0, 2], 0, 1]],
    ['a range as long as memory', [[0, Number.MAX_SAFE_INTEGER]]],
  ])('is refused, and nothing is expanded, when it cites %s', async (_, sourceEventSeqs) => {
    const error = await refusal(reading(turn(0), turn(1), turn(2), { ...turn(3), sourceEventSeqs }))
    expect(error).toMatchObject({ code: 'format/row', line: 5 })
  })

  it('cannot make a small file cite its whole log again and again', async () => {
    const rows = Array.from({ length: 3_000 }, (_, seq) =>
      seq < 2 ? turn(seq) : { ...turn(seq), sourceEventSeqs: [[0, seq - 1]] },
    )
    expect(await refusal(reading(...rows))).toMatchObject({ code: 'format/row' })
  })

  it('of any shape is an event or a refusal with a code and a line', async () => {
    const member = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.constantFrom<unknown[]>(0, 1, 'text-chunks', [[0, 1]], {}),
    )
    const row = fc.dictionary(
      fc.constantFrom('type', 'seq', 'time', 'seq0', 'time0', 'data', 'surfaceOp', 'sourceEventSeqs', 'ignorable'),
      member,
    )
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(row, fc.boolean(), async (value, normalised) => {
        const bytes = bytesOf([header, { type: 'turn/start', ...value }])
        const result = await read(bytes, { normalised }).catch((error: unknown) => error)
        if (result instanceof Error) {
          expect(result).toMatchObject({ code: expect.stringMatching(/^format\//) as string, line: 2 })
        } else accepted += 1
      }),
      { numRuns: 500, examples: [[{ seq: 0, time: 5, data: {} }, false]] },
    )
    expect(accepted).toBeGreaterThan(0)
  })
})

describe('a header', () => {
  it('keeps the members that nobody names, and those of its version', async () => {
    const full = {
      ...header,
      cwd: '/work',
      parentSession: 'p',
      seedLength: 0,
      origin: 'subagent',
      delegationDepth: 1,
      agentPreset: 'code',
      later: { a: 1 },
    }
    const { type: _, ...rest } = full
    expect((await read(bytesOf([full]))).header).toEqual(rest)
  })

  it.each<[string, Json]>([
    ['id', ''],
    ['createdAt', 0.5],
    ['cwd', 'relative'],
    ['parentSession', ''],
    ['seedLength', -1],
    ['origin', 'elsewhere'],
    ['delegationDepth', 'deep'],
    ['agentPreset', 1],
  ])('is refused when its %s is %j', async (member, value) => {
    const error = await refusal(read(bytesOf([{ ...header, [member]: value }])))
    expect(error).toMatchObject({ code: 'format/not-a-log', line: 1 })
    expect(error.message).toContain(member)
  })

  it('of a recorded fixture loses a placeholder where a path belongs, and keeps it where a name does', async () => {
    const fixture = { ...header, id: '{{session}}', cwd: '{{cwd}}/deep', parentSession: '{{parent}}' }
    const { header: kept, notes } = await read(bytesOf([fixture]), { normalised: true })
    expect(kept).toEqual({ version: 0, id: '{{session}}', createdAt: 1_000, parentSession: '{{parent}}' })
    expect(notes).toMatchObject([{ code: 'placeholder/left-out', line: 1 }])
    expect(await refusal(read(bytesOf([fixture])))).toMatchObject({ code: 'format/normalised', line: 1 })
    expect(await refusal(read(bytesOf([{ ...fixture, id: 'x' }])))).toMatchObject({ code: 'format/normalised' })
  })
})

describe('a request header of a recorded fixture', () => {
  const request = (members: JsonObject): JsonObject => {
    const data = { header: { config: { provider: 'acme', model: 'm-1' }, ...members }, reason: 'initial' }
    return { type: 'request/header', seq: 0, time: 5, data }
  }

  it('loses placeholders where lists and objects belong, and keeps them where text does', async () => {
    const row = request({ system: '{{system}}', tools: '{{tools}}', adapterDefaults: '{{defaults}}' })
    const { events, notes } = await read(bytesOf([header, row]), { normalised: true })
    expect(events[0]?.data).toEqual(request({ system: '{{system}}' })['data'])
    expect(notes.map(({ code, line }) => [code, line])).toEqual([
      ['placeholder/left-out', 2],
      ['placeholder/left-out', 2],
    ])
    expect(await refusal(read(bytesOf([header, row])))).toMatchObject({ code: 'format/normalised', line: 2 })
  })

  it('keeps every text that only looks like one', async () => {
    const row = request({ system: 'use {{name}} here', tools: [{ name: '{{tools}}' }] })
    const { events, notes } = await read(bytesOf([header, row]))
    expect(events[0]?.data).toEqual(row['data'])
    expect(notes).toEqual([])
  })
})
