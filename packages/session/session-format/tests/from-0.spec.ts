import type { JsonObject } from '@palimpsest/session'
import { describe, expect, it } from 'vitest'
import { SessionFormatUnsupportedMigration } from '../src/errors.ts'
import { edgeFrom0 } from '../src/edges/from-0.ts'
import { deepSeekHarnessPack } from '../src/packs/deepseek-harness.ts'
import { OldLog, assistantMessage, resultMessage, userMessage } from './fixtures.ts'
import { type ReadLog, collect, logOf, readOld, refusal } from './support.ts'

async function migrate(log: OldLog): Promise<ReadLog> {
  const source = await readOld(log)
  const context = { packs: [deepSeekHarnessPack], note: () => {} }
  const { header, events } = edgeFrom0.migrate(logOf(source), context)
  return { header, events: await collect(events), notes: source.notes }
}

describe('the edge from version 0 to 1', () => {
  it('gives a message without identity the one of its session and seq', async () => {
    const log = new OldLog({ id: 'past' })
    log.append('user/message', userMessage(undefined, 'hi'))
    log.append('assistant/message', { turn: 1, step: 1, message: assistantMessage(undefined, []) })
    log.append('tool/result', { turn: 1, step: 1, message: resultMessage(undefined, 'c', 'ok') })
    const { events } = await migrate(log)
    const ids = events.map(({ data }) => ((data['message'] ?? data) as JsonObject)['id'])
    expect(ids).toEqual(['legacy-message:past:0', 'legacy-message:past:1', 'legacy-message:past:2'])
  })

  it('changes nothing else: seqs, references and every other member stay', async () => {
    const log = new OldLog({ seedLength: 1, parentSession: 'p' })
    const first = log.user('hi')
    log.add('session/title', { title: 'hi', messageSeqs: [first] })
    log.append('user/message', { ...userMessage('', 'empty id'), extra: { kept: true } }, [first])
    const source = await readOld(log)
    const { header, events } = await migrate(log)
    expect(header).toEqual({ ...source.header, version: 1 })
    expect(events).toEqual(source.events)
  })

  it.each(['system/message', 'assistant/attempt', 'request/start', 'plugin/unheard', 'constructor'])(
    'refuses an event of a type that the version did not have: %s',
    async (type) => {
      const log = new OldLog()
      log.startTurn()
      log.add(type, {})
      const error = await refusal(migrate(log))
      expect(error).toBeInstanceOf(SessionFormatUnsupportedMigration)
      expect(error).toMatchObject({ code: 'format/unsupported', line: 3, seq: 1, eventType: type, from: 0 })
    },
  )

  it('keeps an ignorable event of an unknown type, unless it may name a seq that moves later', async () => {
    const harmless = new OldLog()
    harmless.add('plugin/unheard', { deep: [{ consequence: 1 }] }, { ignorable: true })
    expect((await migrate(harmless)).events).toHaveLength(1)
    const naming = new OldLog()
    naming.add('plugin/unheard', { deep: [{ messageSeq: 1 }] }, { ignorable: true })
    expect(await refusal(migrate(naming))).toMatchObject({ code: 'format/unsupported', seq: 0 })
    const citing = new OldLog()
    citing.user('hi')
    citing.add('plugin/unheard', {}, { ignorable: true, sourceEventSeqs: [0] })
    expect(await refusal(migrate(citing))).toMatchObject({ code: 'format/unsupported', seq: 1 })
  })
})
