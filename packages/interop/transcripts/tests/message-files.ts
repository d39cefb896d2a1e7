import fc from 'fast-check'
import { seed } from './fuzz.ts'
import { chatRequests, claudeRequests, modelLists, responsesRequests } from './message-requests.ts'
import { uiLists } from './ui-lists.ts'

/** Requests of every shape, an element on each line: as JSON lines, as an array, and as the body of a request. */
export function messageFiles(): string[][] {
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
