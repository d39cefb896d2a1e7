import fc from 'fast-check'
import { expect } from 'vitest'
import { importMessages } from '../src/index.ts'
import { fuzz, seed } from './fuzz.ts'
import type { FuzzReport } from './fuzz.ts'
import { expectSoundSessions, linesOf } from './import-laws.ts'
import { chatRequests, claudeRequests, modelLists, responsesRequests } from './message-requests.ts'
import { importBytes } from './support.ts'
import { uiLists } from './ui-lists.ts'

/** Requests of every shape, an element on each line: as JSON lines, as an array, and as the body of a request. */
function filesOf(): string[][] {
  const sample = <Value>(values: fc.Arbitrary<Value>): Value[] => fc.sample(values, { seed, numRuns: 6 })
  const lists = [
    ...sample(chatRequests).map(({ messages }) => messages),
    ...sample(claudeRequests).map(({ messages }) => messages),
    ...sample(responsesRequests).map(({ input }) => input),
    ...sample(modelLists),
    ...sample(uiLists),
  ]
  return lists.flatMap((list): string[][] => {
    const lines = list.map((message) => JSON.stringify(message))
    const listed = lines.map((line, index) => (index < lines.length - 1 ? `${line},` : line))
    return [
      lines,
      ['[', ...listed, ']'],
      ['{"model":"m","messages":[', ...listed, ']}'],
      ['{"input":[', ...listed, ']}'],
    ]
  })
}

/** Mutations of requests: each is a sound session that accounts for every element. */
export function fuzzMessages(numRuns: number): Promise<FuzzReport> {
  return fuzz({
    files: filesOf(),
    run: (bytes) => importBytes(bytes, { importer: importMessages }),
    check: (imported) => {
      expectSoundSessions(imported)
      for (const { session, report } of imported) {
        expect(new Set(linesOf(session.events)).size).toBe(report.lines.total - report.lines.blank)
      }
    },
    numRuns,
  })
}
