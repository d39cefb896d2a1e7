import { Session, explain, traceFindings } from '@palimpsest/session'
import { claudeCodeSamples, isSampleAbsent } from '@palimpsest/testkit'
import { expect, test } from 'vitest'
import { importVocabulary } from '../src/index.ts'
import { countIndependently } from './oracle.ts'
import { violations } from './providers.ts'
import { importBytes, sampleBytes } from './support.ts'

for (const name of claudeCodeSamples) {
  const isAbsent = isSampleAbsent(name)

  test.skipIf(isAbsent)(
    `${name}: each imported session restores, traces clean, suits both providers and accounts for its lines`,
    async () => {
      const imported = await importBytes(sampleBytes(name), { name })
      const lines = imported.flatMap(({ session, report }) => {
        const restored = Session.restore(structuredClone(session), { vocabulary: importVocabulary })
        expect(restored.deriveMessages()).toHaveLength(report.messages)
        expect(violations(restored.deriveMessages())).toEqual([])
        expect(traceFindings(session.events)).toEqual([])
        expect(report.events).toBe(session.events.length)
        const kept = session.events.flatMap((event) => (event.type === 'import/raw' ? [event.data.line] : []))
        expect(kept).toEqual(report.unmapped.map(({ line }) => line))
        return [...new Set([...kept, ...mappedLines(session.events)])]
      })
      const total = new TextDecoder()
        .decode(sampleBytes(name))
        .split('\n')
        .flatMap((line, at) => (line.trim() === '' ? [] : [at + 1]))
      expect(lines.sort((a, b) => a - b)).toEqual(total)
    },
  )

  test.skipIf(isAbsent)(`${name}: calls and answers are those that an independent script counts`, async () => {
    const [first] = await importBytes(sampleBytes(name), { name })
    const counted = countIndependently(new TextDecoder().decode(sampleBytes(name)))
    expect({ calls: first?.report.calls, answered: first?.report.answered }).toEqual(counted)
  })
}

test.skipIf(claudeCodeSamples.some(isSampleAbsent))('what is known of the samples holds', async () => {
  const facts = async (name: string) => {
    const imported = await importBytes(sampleBytes(name), { name })
    return imported.map(({ report }) => [report.calls, report.answered])
  }
  expect(await facts('ccl-29ccd257.agent-a2271d1.jsonl')).toEqual([[24, 24]])
  expect(await facts('ccl-ef958aa1.jsonl')).toEqual([[40, 40]])
  expect(await facts('ac-full-session-askuserquestion.jsonl')).toEqual([[3, 2]])
  expect(await facts('ccv-5c0375b4.jsonl')).toHaveLength(3)
})

test.skipIf(isSampleAbsent('fh-main.jsonl'))(
  'the one compaction of fh-main covers all before it, with two roots',
  async () => {
    const [main] = await importBytes(sampleBytes('fh-main.jsonl'), { name: 'fh-main.jsonl' })
    const events = main?.session.events ?? []
    const summary = events.find((event) => event.type === 'user/message' && event.surfaceOp !== 'append')
    expect(summary?.type === 'user/message' && summary.data.source).toMatchObject({
      kind: 'plugin',
      plugin: 'claude-code',
      lines: [60],
    })
    const { origins } = explain(events, summary?.seq ?? -1)
    const before = events.filter((event) => event.surfaceOp === 'append' && event.seq < (summary?.seq ?? 0))
    expect(origins).toEqual(before.filter((event) => event.type !== 'system/message').map((event) => event.seq))
    expect(main?.report).toMatchObject({ messages: 4, calls: 10, answered: 10 })
  },
)

test.skipIf(isSampleAbsent('ccl-0d3a8e6f.jsonl'))(
  'a line of a megabyte with an image becomes a short event and an attachment',
  async () => {
    const [main] = await importBytes(sampleBytes('ccl-0d3a8e6f.jsonl'), { name: 'ccl-0d3a8e6f.jsonl', pieceSize: 4096 })
    const images =
      main?.session.events.flatMap((event) => (event.type === 'user/message' ? event.data.content : [])) ?? []
    expect(images.filter((block) => block.type === 'image')).toHaveLength(1)
    expect(JSON.stringify(main?.session).length).toBeLessThan(300_000)
  },
)

function mappedLines(events: readonly { readonly data: unknown }[]): number[] {
  return events.flatMap(({ data }) => {
    const { source, message } = data as { source?: { lines?: number[] }; message?: { source?: { lines?: number[] } } }
    return source?.lines ?? message?.source?.lines ?? []
  })
}
