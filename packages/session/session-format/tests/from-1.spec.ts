import type { Json, JsonObject } from '@palimpsest/session'
import { describe, expect, it } from 'vitest'
import { SessionFormatUnsupportedMigration } from '../src/errors.ts'
import { OldLog, assistantMessage, streamed, streamedCall, userMessage } from './fixtures.ts'
import { type ReadLog, migrateOld, refusal } from './support.ts'

const hello = streamed('text', ['hel', 'lo'])

function opened(header: Readonly<Record<string, Json>> = {}): OldLog {
  const log = new OldLog(header)
  log.startTurn()
  log.startStep()
  log.user('hi')
  return log
}

const streamOf = (message: JsonObject | undefined): unknown => (message?.['data'] as JsonObject | undefined)?.['stream']
const typesOf = ({ events }: ReadLog): string[] => events.map(({ type }) => type)
const ofType = ({ events }: ReadLog, type: string): JsonObject[] =>
  events.filter((event) => event.type === type) as unknown as JsonObject[]

describe('the edge from version 1 to 2', () => {
  it('moves chunks into the stream of the message that cites them, deltas and times as they were', async () => {
    const log = opened()
    log.answer([hello, streamedCall('c1', ['{', '', '}'])])
    const [message] = ofType(await migrateOld(log), 'assistant/message')
    const at = (seq: number): number => 2_000 + seq * 7
    expect(message).toMatchObject({ seq: 3, surfaceOp: 'append', time: at(13) })
    expect(message).not.toHaveProperty('sourceEventSeqs')
    expect(streamOf(message)).toEqual([
      { type: 'chunk', time: at(3), chunk: { type: 'block-start', index: 0, blockType: 'text' } },
      { type: 'text-chunks', time0: at(4), index: 0, dt: [7], texts: ['hel', 'lo'] },
      { type: 'chunk', time: at(6), chunk: { type: 'block-end', index: 0, block: hello.block } },
      { type: 'chunk', time: at(7), chunk: { type: 'block-start', index: 1, blockType: 'tool-call' } },
      { type: 'tool-call-chunks', time0: at(8), index: 1, dt: [7, 7], id: 'c1', name: 'run', args: ['{', '', '}'] },
      {
        type: 'chunk',
        time: at(11),
        chunk: { type: 'block-end', index: 1, block: { type: 'tool-call', id: 'c1', name: 'run', arguments: '{}' } },
      },
      { type: 'chunk', time: at(12), chunk: { type: 'finish', reason: { kind: 'stop' } } },
    ])
  })

  it('gives a message that cites nothing an empty stream', async () => {
    const log = opened()
    log.append('assistant/message', { ...log.here(), message: assistantMessage('a', []) })
    const [message] = ofType(await migrateOld(log), 'assistant/message')
    expect(message).toMatchObject({ data: { stream: [] } })
  })

  it('numbers the other events anew and moves every seq that they name', async () => {
    const log = opened()
    log.answer([hello])
    log.endStep()
    log.startStep()
    const question = log.user('and?')
    log.add('session/title', { title: 'hi', messageSeqs: [2, question] })
    const answer = log.answer([hello])
    log.add('compaction/summary', { shadowedRange: { start: question, end: answer }, shadowedSeqs: [question, answer] })
    const surfaceOp = { op: 'replace', start: question, end: answer }
    log.add('user/message', userMessage('s', 'sum'), { surfaceOp, sourceEventSeqs: [answer, question] })
    const { events } = await migrateOld(log)
    expect(events.map(({ seq, type }) => `${seq} ${type}`).slice(6)).toEqual([
      '6 user/message',
      '7 session/title',
      '8 assistant/message',
      '9 compaction/summary',
      '10 user/message',
    ])
    const [title, , summary, replacement] = events.slice(7)
    expect(title?.data).toEqual({ title: 'hi', messageSeqs: [2, 6] })
    expect(summary?.data).toEqual({ shadowedRange: { start: 6, end: 8 }, shadowedSeqs: [6, 8] })
    expect(replacement).toMatchObject({ surfaceOp: { op: 'replace', start: 6, end: 8 }, sourceEventSeqs: [8, 6] })
  })

  it('refuses a reference to a chunk, and does not redirect it to the message that took it', async () => {
    const places: readonly ((log: OldLog, chunk: number) => void)[] = [
      (log, chunk) => log.append('user/message', userMessage('u', 'x'), [chunk]),
      (log, chunk) => log.add('session/title', { title: 'x', messageSeqs: [2, chunk] }),
      (log, chunk) => log.add('compaction/prune', { shadowedRange: { start: chunk, end: 2 } }),
      (log, chunk) =>
        log.add('user/message', userMessage('u', 'x'), {
          surfaceOp: { op: 'replace', start: 2, end: chunk },
          sourceEventSeqs: [2],
        }),
    ]
    for (const place of places) {
      const log = opened()
      log.answer([hello])
      place(log, 4)
      const error = await refusal(migrateOld(log))
      expect(error).toBeInstanceOf(SessionFormatUnsupportedMigration)
      expect(error).toMatchObject({ code: 'format/unsupported', from: 1, seq: 9, line: 11 })
      expect(error.message).toContain('4')
    }
  })

  it.each<[string, Json]>([
    ['itself', 3],
    ['a later event', 4],
    ['no seq', 'first'],
    ['a list in a list', [2]],
    ['a fraction', 0.5],
  ])('refuses a payload that names %s where a seq belongs', async (_, seq) => {
    const log = opened()
    log.add('session/title', { title: 'x', messageSeqs: [seq] })
    log.endStep()
    expect(await refusal(migrateOld(log))).toMatchObject({ code: 'format/unsupported', seq: 3 })
  })

  it('leaves alone what text says and what watermarks count', async () => {
    const log = opened()
    log.answer([hello])
    log.append('user/message', userMessage('u', 'see event 3'))
    log.add('session-log-deepseek/delivery-accepted', { throughSeq: 8, seq: 4 })
    const { events } = await migrateOld(log)
    expect(events.at(-2)?.data).toEqual(userMessage('u', 'see event 3'))
    expect(events.at(-1)?.data).toEqual({ throughSeq: 8, seq: 4 })
  })
})

describe('an attempt that no message cites', () => {
  const failed = { kind: 'error', failure: { code: 'OVERLOADED', message: 'later' } }

  it('becomes an assistant/attempt at the place and time of its last chunk, with its failure', async () => {
    const log = opened()
    const chunks = log.stream([hello], failed)
    log.add('llm/retry', { attempt: 1 })
    log.answer([hello])
    log.endStep()
    const migrated = await migrateOld(log)
    expect(typesOf(migrated).slice(3)).toEqual(['assistant/attempt', 'llm/retry', 'assistant/message', 'step/end'])
    expect(migrated.events[3]).toMatchObject({
      seq: 3,
      time: 2_000 + (chunks.at(-1) as number) * 7,
      data: { turn: 1, step: 1, failure: failed.failure },
    })
    expect(migrated.events[3]).not.toHaveProperty('surfaceOp')
  })

  it('stands before what was logged after it, and behind what was logged while it streamed', async () => {
    const log = opened()
    log.stream([hello], { kind: 'stop' }, () => log.add('agent/inbox/spliced', {}))
    log.add('todo/write', {})
    log.endStep()
    expect(typesOf(await migrateOld(log)).slice(3)).toEqual([
      'agent/inbox/spliced',
      'assistant/attempt',
      'todo/write',
      'step/end',
    ])
  })

  it.each<[string, (log: OldLog) => void, number]>([
    ['its finish chunk', (log) => [0, 1].map(() => log.stream([hello], failed)), 2],
    ['a block that starts over', (log) => [0, 1].map(() => log.stream([hello], undefined)), 2],
    [
      'the end of its step',
      (log) => [log.stream([hello], undefined), log.endStep(), log.startStep(), log.stream([hello], undefined)],
      2,
    ],
    ['the end of the log', (log) => log.stream([hello, hello], undefined), 1],
    [
      'a message that cites the next chunks',
      (log) => [log.chunk({ type: 'usage', usage: {} }), log.answer([hello])],
      1,
    ],
    [
      'a message that cites none of it',
      (log) => [
        log.stream([hello], undefined),
        log.append('assistant/message', { ...log.here(), message: assistantMessage('a', []) }),
      ],
      1,
    ],
    [
      'the start of another lifetime',
      (log) => [log.stream([hello], undefined), log.add('session/end-seed', {}), log.stream([hello], undefined)],
      2,
    ],
  ])('ends with %s', async (_, write, attempts) => {
    const log = opened()
    write(log)
    expect(ofType(await migrateOld(log), 'assistant/attempt')).toHaveLength(attempts)
  })
})

describe('a message is refused', () => {
  it.each<[string, (log: OldLog) => readonly number[]]>([
    ['when it cites what is no chunk', () => [2]],
    ['when it cites a chunk twice', (log) => [...log.stream([hello], undefined), 4]],
    [
      'when it leaves out a chunk between two that it cites',
      (log) => log.stream([hello], undefined).filter((seq) => seq !== 4),
    ],
    [
      'when it cites a chunk of an earlier step',
      (log) => {
        const seqs = log.stream([hello], undefined)
        log.endStep()
        log.startStep()
        return seqs
      },
    ],
    [
      'when it cites a chunk that another message has',
      (log) => {
        log.answer([hello])
        return [3]
      },
    ],
    [
      'when it cites a chunk of another step that is still open',
      (log) => {
        const seqs = log.stream([hello], undefined)
        log.step += 1
        return seqs
      },
    ],
    ['when it cites a later event', () => [4]],
  ])('%s', async (_, write) => {
    const log = opened()
    const sources = write(log)
    const seq = log.append('assistant/message', { ...log.here(), message: assistantMessage('a', []) }, sources)
    log.endStep()
    expect(await refusal(migrateOld(log))).toMatchObject({ code: 'format/unsupported', seq, from: 1 })
  })

  it('when it has a stream already', async () => {
    const log = opened()
    log.append('assistant/message', { ...log.here(), message: assistantMessage('a', []), stream: [] })
    expect(await refusal(migrateOld(log))).toMatchObject({ code: 'format/unsupported', seq: 3 })
  })
})

describe('a chunk is refused when a stream would not give it back', () => {
  const chunk = { type: 'text-delta', index: 0, text: 'a' }
  const data = { turn: 1, step: 1, chunk }
  it.each<[string, JsonObject, JsonObject?]>([
    ['with more members', { ...data, more: 1 }],
    ['of no turn', { step: 1, chunk }],
    ['of step 0', { ...data, step: 0 }],
    ['without a type', { ...data, chunk: { index: 0 } }],
    ['that is no object', { ...data, chunk: 'a' }],
    ['with text that is none', { ...data, chunk: { ...chunk, text: 1 } }],
    ['without an index', { ...data, chunk: { type: 'text-delta', text: 'a' } }],
    ['with an index that is none', { ...data, chunk: { type: 'usage', index: -1 } }],
    ['of a call without an id', { ...data, chunk: { type: 'tool-call-delta', index: 0, argumentsDelta: '' } }],
    ['with a place on the surface', data, { surfaceOp: 'append' }],
    ['with sources', data, { sourceEventSeqs: [0] }],
  ])('%s', async (_, payload, metadata = {}) => {
    const log = opened()
    log.add('assistant/chunk', payload, metadata)
    expect(await refusal(migrateOld(log))).toMatchObject({ code: 'format/unsupported', seq: 3 })
  })
})

describe('the cut of an inherited history', () => {
  function forked(seedLength: number, hasMarker: boolean): OldLog {
    const log = opened({ parentSession: 'p', seedLength })
    log.answer([hello])
    log.endStep()
    log.endTurn()
    if (hasMarker) log.add('session/end-seed', {})
    log.startTurn()
    log.user('more')
    return log
  }
  const whole = 11

  it('is the end-seed at the seed length, tagged from now on', async () => {
    const migrated = await migrateOld(forked(whole, true))
    expect(migrated.header).toEqual({
      version: 2,
      id: 'old',
      createdAt: 1_000,
      delegationDepth: 0,
      parentSession: 'p',
      isSeeded: true,
    })
    expect(migrated.events[6]).toMatchObject({ type: 'session/end-seed', data: { inherited: true } })
    expect(migrated.notes).toEqual([])
  })

  it('is marked where the header alone says where it is, and noted', async () => {
    const migrated = await migrateOld(forked(whole, false))
    expect(migrated.events[6]).toMatchObject({
      type: 'session/end-seed',
      seq: 6,
      time: 1_000,
      data: { inherited: true },
    })
    expect(migrated.events.map(({ seq }) => seq)).toEqual(migrated.events.map((_, seq) => seq))
    expect(migrated.notes.map(({ code }) => code)).toEqual(['seed/marker'])
    const cut = new OldLog({ seedLength: 2 })
    cut.startTurn()
    cut.endTurn()
    expect(typesOf(await migrateOld(cut))).toEqual(['turn/start', 'turn/end', 'session/end-seed'])
  })

  it('ends an attempt: no message behind it can cite a chunk before it', async () => {
    const log = opened({ seedLength: 6 })
    log.stream([hello], undefined)
    log.stream([hello], undefined)
    expect(typesOf(await migrateOld(log)).slice(3)).toEqual([
      'assistant/attempt',
      'session/end-seed',
      'assistant/attempt',
    ])
    const refused = opened({ seedLength: 6 })
    refused.answer([hello])
    expect(await refusal(migrateOld(refused))).toMatchObject({ code: 'format/unsupported' })
  })

  it('is not there without inherited events, and other end-seeds stay untagged', async () => {
    for (const log of [forked(0, true), new OldLog()]) {
      const migrated = await migrateOld(log)
      expect(migrated.header).toMatchObject({ isSeeded: false })
      expect(migrated.header).not.toHaveProperty('seedLength')
      for (const marker of ofType(migrated, 'session/end-seed')) expect(marker).toMatchObject({ data: {} })
      expect(JSON.stringify(migrated.events)).not.toContain('inherited')
    }
  })

  it('is refused behind the end of the log, and where a marker claims to be tagged', async () => {
    expect(await refusal(migrateOld(forked(99, true)))).toMatchObject({ code: 'format/unsupported', line: 1 })
    const tagged = opened()
    tagged.add('session/end-seed', { inherited: true })
    expect(await refusal(migrateOld(tagged))).toMatchObject({ code: 'format/unsupported', seq: 3 })
  })
})
