import { providerRules, type ProviderKind } from '@palimpsest/testkit'
import { describe, expect, it } from 'vitest'
import { anthropicFixtures, anthropicUnjudged } from './anthropic-fixtures.ts'
import { chatFixtures, chatUnjudged, compatibleFixtures } from './chat-fixtures.ts'
import { deepseekFixtures, deepseekUnjudged } from './deepseek-fixtures.ts'
import { expectAnswer, expectRefusal, type Fixture } from './fixtures.ts'
import { responsesFixtures, responsesUnjudged } from './responses-fixtures.ts'

interface Table {
  readonly fixtures: readonly Fixture[]
  readonly unjudged: Readonly<Record<string, string>>
  /** Rows of the provider's table are this with 1…`rows` behind it. */
  readonly row: string
  readonly rows: number
}

const tables: Readonly<Record<ProviderKind, Table>> = {
  anthropic: { fixtures: anthropicFixtures, unjudged: anthropicUnjudged, row: 'A', rows: 34 },
  'openai-chat': { fixtures: chatFixtures, unjudged: chatUnjudged, row: 'OC', rows: 14 },
  'openai-responses': { fixtures: responsesFixtures, unjudged: responsesUnjudged, row: 'OR', rows: 15 },
  deepseek: { fixtures: deepseekFixtures, unjudged: deepseekUnjudged, row: 'DS', rows: 9 },
  compatible: {
    fixtures: compatibleFixtures,
    unjudged: {
      ...chatUnjudged,
      OC10: 'a model of OpenAI alone',
      OC11: 'models of OpenAI alone',
    },
    row: 'OC',
    rows: 14,
  },
}
/** Rules of no row: what is no request at all. */
const outside = new Set(['json', 'model', 'messages'])

describe.each(Object.entries(tables) as [ProviderKind, Table][])('the %s server', (kind, table) => {
  it('judges every row of its table, or says why not', () => {
    const rows = Array.from({ length: table.rows }, (_, at) => `${table.row}${at + 1}`)
    const judged = new Set(providerRules[kind].map(({ id }) => id.split('.', 1).join('')))
    expect(rows.filter((row) => !judged.has(row)).sort()).toEqual(Object.keys(table.unjudged).sort())
  })

  it('has a refused and an accepted request for every rule', () => {
    const shown = new Set(table.fixtures.map(({ rule }) => rule))
    const rules = providerRules[kind].map(({ id }) => id).filter((id) => !outside.has(id))
    expect(rules.filter((id) => !shown.has(id))).toEqual([])
    expect(new Set(rules).size).toBe(rules.length)
  })

  describe.each(table.fixtures.map((fixture, at) => [`${fixture.rule} (${at})`, fixture] as const))(
    '%s',
    (_, fixture) => {
      it('is refused in the words of the provider', () => expectRefusal(kind, fixture))

      it('is not refused without the rule', async () => {
        await expect(expectRefusal(kind, fixture, [fixture.rule])).rejects.toThrow()
      })

      it('has an accepted neighbour', () => expectAnswer(kind, fixture))

      const rule = providerRules[kind].find(({ id }) => id === fixture.rule)
      if (rule?.level !== 'portable') return
      it('is accepted unless strict', async () => {
        const { strict: _strict, ...options } = fixture.options ?? {}
        await expectAnswer(kind, { ...fixture, options, accepted: fixture.refused })
      })
    },
  )
})
