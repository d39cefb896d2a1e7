import { type AssistantStreamRecord, type Json, type JsonObject, Session, expandStream } from '@palimpsest/session'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { edgeFrom0 } from '../src/edges/from-0.ts'
import { edgeFrom1 } from '../src/edges/from-1.ts'
import type { FormatEvent, FormatLog } from '../src/log.ts'
import { openAnyVersion } from '../src/open.ts'
import { deepSeekHarnessPack } from '../src/packs/deepseek-harness.ts'
import { anyOldLog } from './any-old-log.ts'
import { OldLog, type WrittenAs, bytesOf, streamed } from './fixtures.ts'
import { seen } from './oracle.ts'
import { collect, logOf, migrateOld, readOld, refusal } from './support.ts'

const writtenAs: fc.Arbitrary<WrittenAs> = fc.record({ packed: fc.boolean(), ranges: fc.boolean() })
const context = { packs: [deepSeekHarnessPack], note: () => {} }

/** Times tell events apart: each of a written log has its own. */
const timeAt = (log: OldLog, seq: Json | undefined): Json | undefined => log.events[seq as number]?.['time']

/** All that an event names, its place put in by `at`. */
function named(event: FormatEvent, at: (seq: Json | undefined) => Json | undefined): Json {
  const { surfaceOp, sourceEventSeqs, data } = event
  const list = (seqs: Json | undefined): Json[] => ((seqs ?? []) as readonly Json[]).map((seq) => at(seq) ?? null)
  const ends = (range: Json | undefined): Json => {
    const { start, end } = (typeof range === 'object' ? (range ?? {}) : {}) as JsonObject
    return [at(start) ?? null, at(end) ?? null]
  }
  return [
    ends(surfaceOp),
    list(sourceEventSeqs === undefined ? [] : [...sourceEventSeqs]),
    list(data['messageSeqs']),
    list(data['shadowedSeqs']),
    ends(data['shadowedRange']),
  ]
}

describe('a log of version 0', () => {
  it('is accepted by every rule of version 3, and derives the messages that its own surface held', async () => {
    let headed = 0
    await fc.assert(
      fc.asyncProperty(anyOldLog, writtenAs, async (log, as) => {
        const rows = log.rows(as)
        const opened = await openAnyVersion({ name: 'old.jsonl', bytes: () => bytesOf(rows) })
        expect(opened.inheritedEventCount === 0).toBe((log.header['seedLength'] ?? 0) === 0)
        const session = Session.restore(opened, { unknown: 'keep' })
        const { system, messages } = seen(rows.map((row) => JSON.stringify(row)).join('\n'))
        const derived = session.deriveMessages()
        const rest = derived.filter(({ role }) => role !== 'system')
        expect(rest).toEqual(messages)
        const prompts = derived.slice(0, derived.length - rest.length)
        expect(prompts.map(({ content }) => content)).toEqual(system === '' ? [] : [[{ type: 'text', text: system }]])
        headed += prompts.length
      }),
      { numRuns: 20 },
    )
    expect(headed).toBeGreaterThan(0)
  })

  it('becomes the same log however its rows were packed', async () => {
    await fc.assert(
      fc.asyncProperty(anyOldLog, writtenAs, async (log, as) => {
        const strip = (events: readonly FormatEvent[]): unknown => events.map(({ line: _, ...event }) => event)
        const [one, other] = [await migrateOld(log), await migrateOld(log, as)]
        expect(strip(other.events)).toEqual(strip(one.events))
        expect(other.header).toEqual(one.header)
      }),
      { numRuns: 20 },
    )
  })

  it('keeps every reference on the event that it pointed to', async () => {
    let references = 0
    await fc.assert(
      fc.asyncProperty(anyOldLog, async (log) => {
        const { events } = await migrateOld(log)
        const successors = new Map(events.map((event) => [`${event.type} ${event.time}`, event]))
        for (const source of log.events) {
          if (source['type'] === 'assistant/chunk' || source['type'] === 'assistant/message') continue
          const successor = successors.get(`${source['type'] as string} ${source['time'] as number}`)
          expect(successor).toBeDefined()
          const before = named(source as unknown as FormatEvent, (seq) => timeAt(log, seq))
          expect(named(successor as FormatEvent, (seq) => events[seq as number]?.time)).toEqual(before)
          references += JSON.stringify(before).match(/\d+/g)?.length ?? 0
        }
      }),
      { numRuns: 20 },
    )
    expect(references).toBeGreaterThan(0)
  })

  it('keeps every chunk with its time, once, in the order of the log', async () => {
    await fc.assert(
      fc.asyncProperty(anyOldLog, async (log) => {
        const { events } = await migrateOld(log)
        const chunks = events.flatMap(({ data: { stream } }) =>
          expandStream((stream ?? []) as unknown as AssistantStreamRecord[]),
        )
        const source = log.events.filter(({ type }) => type === 'assistant/chunk')
        expect(chunks).toEqual(source.map(({ time, data }) => ({ time, chunk: (data as JsonObject)['chunk'] })))
      }),
      { numRuns: 20 },
    )
  })

  it('is refused whole when an event names a chunk', async () => {
    let refused = 0
    await fc.assert(
      fc.asyncProperty(anyOldLog, fc.nat(), async (log, choice) => {
        const chunks = log.events.filter(({ type }) => type === 'assistant/chunk')
        fc.pre(chunks.length > 0)
        const chunk = chunks[choice % chunks.length]?.['seq'] as number
        const seq = log.add('session/title', { title: 't', messageSeqs: [chunk] })
        expect(await refusal(migrateOld(log))).toMatchObject({ code: 'format/unsupported', seq })
        refused += 1
      }),
      { numRuns: 20 },
    )
    expect(refused).toBeGreaterThan(0)
  })

  it('is not changed by its migration', async () => {
    await fc.assert(
      fc.asyncProperty(anyOldLog, async (log) => {
        const source = await readOld(log)
        for (const event of source.events) freezeDeeply(event)
        freezeDeeply(source.header)
        const before = JSON.stringify(source)
        await collect(edgeFrom1.migrate(edgeFrom0.migrate(logOf(source), context), context).events)
        expect(JSON.stringify(source)).toBe(before)
      }),
      { numRuns: 30 },
    )
  })

  it('streams: what is held is the step that is open', async () => {
    const log = new OldLog()
    log.startTurn()
    for (let step = 0; step < 50; step += 1) {
      log.startStep()
      log.answer([streamed('text', ['a', 'b', 'c'])])
      log.stream([streamed('text', ['a', 'b'])], undefined)
      log.endStep()
    }
    for (let delivery = 0; delivery < 50; delivery += 1) log.add('agent/inbox/spliced', {})
    const { header, events } = await readOld(log)
    let read = 0
    const source: FormatLog = {
      header,
      events: (async function* () {
        for (const event of events) {
          read += 1
          yield event
        }
      })(),
    }
    const step = 20
    for await (const { line } of edgeFrom1.migrate(edgeFrom0.migrate(source, context), context).events) {
      // The line of an event is that of its last row, and the header is line 1.
      expect(read - (line - 1)).toBeLessThan(step)
    }
    expect(read).toBe(events.length)
  })

  it('of a long conversation is migrated in linear time', async () => {
    const log = new OldLog()
    log.startTurn()
    log.startStep()
    for (let answer = 0; answer < 500; answer += 1) log.answer([streamed('text', ['a', 'b', 'c', 'd'])])
    log.answer([
      streamed(
        'text',
        Array.from({ length: 50_000 }, () => 'x'),
      ),
    ])
    const { events } = await migrateOld(log, { packed: true, ranges: true })
    expect(events).toHaveLength(503)
  })
})

function freezeDeeply(root: object): void {
  const pending: object[] = [root]
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    Object.freeze(value)
    for (const member of Object.values(value) as unknown[]) {
      if (typeof member === 'object' && member !== null) pending.push(member)
    }
  }
}
