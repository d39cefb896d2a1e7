import { isSampleAbsent, samplesOf } from '@palimpsest/testkit'
import { expect, test } from 'vitest'
import { importCodex } from '../src/codex/import.ts'
import { countCodex } from './codex-oracle.ts'
import { expectSound } from './import-laws.ts'
import { importBytes, sampleBytes } from './support.ts'

for (const name of samplesOf('codex')) {
  test(`${name}: it restores, traces clean, suits every provider, and no line is lost`, async () => {
    const bytes = sampleBytes(name)
    expectSound(await importBytes(bytes, { importer: importCodex, name }), bytes)
  })

  test(`${name}: calls, answers and prompts are those that an independent script counts`, async () => {
    const [main] = await importBytes(sampleBytes(name), { importer: importCodex, name })
    const counted = countCodex(new TextDecoder().decode(sampleBytes(name)))
    const { calls, answered } = main?.report ?? {}
    const events = main?.session.events ?? []
    const users = events.filter((event) => {
      if (event.type !== 'user/message') return false
      const { source } = event.data
      return !('compaction' in source) && !('author' in source)
    })
    const compactions = new Set(
      events.flatMap((event) => {
        const source = event.type === 'user/message' ? event.data.source : {}
        return Object.hasOwn(source, 'compaction') ? [JSON.stringify(Reflect.get(source, 'lines'))] : []
      }),
    )
    expect({ calls, answered, users: users.length, compactions: compactions.size }).toEqual(counted)
  })
}

const cut = 'codex/lp-rollout-2026-02-23T13-19-38.jsonl'
test.skipIf(isSampleAbsent(cut))('a file that ends on a call has it closed, and says so', async () => {
  const [main] = await importBytes(sampleBytes(cut), { importer: importCodex, name: cut })
  expect(main?.report.lines.total).toBe(19)
  expect(main?.report).toMatchObject({ calls: 1, answered: 0 })
  expect(main?.report.warnings.map(({ code }) => code)).toContain('call/unanswered-tail')
  expect(main?.session.header).toMatchObject({ importedFrom: { agent: 'codex' }, delegationDepth: 0 })
})
