import { explain, surfaceAt } from '@palimpsest/session'
import type { Message, SessionEvent } from '@palimpsest/session'
import { isSampleAbsent, samplesOf } from '@palimpsest/testkit'
import { describe, expect, test } from 'vitest'
import { importPi } from '../src/pi/import.ts'
import type { ImportedSession } from '../src/index.ts'
import { expectSound } from './import-laws.ts'
import { contextsOf, countCalls, kindsOf, parsedLines } from './pi-oracle.ts'
import { importBytes, sampleBytes } from './support.ts'

async function imported(name: string): Promise<ImportedSession> {
  const [session] = await importBytes(sampleBytes(name), { name, importer: importPi, pieceSize: 4096 })
  if (session === undefined) throw new Error('nothing was imported')
  return session
}

describe.each(samplesOf('pi'))('%s', (name) => {
  test('it restores, traces clean, suits every provider, and each line is accounted for', async () => {
    expectSound([await imported(name)], sampleBytes(name))
  })

  test('calls and answers are those that an independent script counts', async () => {
    const { report } = await imported(name)
    expect({ calls: report.calls, answered: report.answered }).toEqual(countCalls(parsedLines(sampleBytes(name))))
  })

  test('at the end, and right behind each compaction, a model reads what pi gives it', async () => {
    const { session } = await imported(name)
    for (const { line, context } of contextsOf(parsedLines(sampleBytes(name)))) {
      expect(kindsOf(messagesBehind(session.events, line))).toEqual(context)
    }
  })
})

/** What is visible when everything of a line and of those before it is written; of the whole log for line Infinity. */
function messagesBehind(events: readonly SessionEvent[], line: number): readonly Message[] {
  const from = events.findIndex((event) => firstLine(event) > line)
  const seqs = surfaceAt(events, (from === -1 ? events.length : from) - 1)
  return seqs.flatMap((seq) => messageOf(events[seq]) ?? [])
}

function messageOf(event: SessionEvent | undefined): Message | undefined {
  if (event?.type === 'user/message') return event.data
  if (event?.type === 'assistant/message' || event?.type === 'tool/result') return event.data.message
  return undefined
}

function firstLine(event: SessionEvent): number {
  return (messageOf(event)?.source as { lines?: number[] } | undefined)?.lines?.[0] ?? 0
}

const large = 'pi/pim-before-compaction.jsonl'
test.skipIf(isSampleAbsent(large))(
  `${large}: both compactions replace what they cover, and what they cover can still be read`,
  async () => {
    const { session, report } = await imported(large)
    expect(report).toMatchObject({ calls: 454, answered: 448, lines: { total: 1003 } })
    const summaries = session.events.filter(({ type, surfaceOp }) => type === 'user/message' && surfaceOp !== 'append')
    expect(summaries.map(firstLine)).toEqual([360, 629])
    for (const { seq } of summaries) {
      const { origins } = explain(session.events, seq)
      expect(origins.length).toBeGreaterThan(200)
      const before = surfaceAt(session.events, seq - 1)
      const after = new Set(surfaceAt(session.events, seq))
      expect(before.filter((node) => !after.has(node)).length).toBeGreaterThan(200)
      expect(origins.every((origin) => messageOf(session.events[origin]) !== undefined)).toBe(true)
    }
  },
)

const foreign = 'pi/av-session.jsonl'
test.skipIf(isSampleAbsent(foreign))(`${foreign}: the line that is no JSON is kept and reported`, async () => {
  const { report } = await imported(foreign)
  expect(report.unmapped).toContainEqual({ line: 10, reason: 'line/not-json' })
  expect(report.unmapped).toContainEqual({ line: 11, reason: 'line/unknown-type', type: 'unknown_future_entry_type' })
})
