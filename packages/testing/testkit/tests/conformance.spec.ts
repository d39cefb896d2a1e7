import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

/** The collected reports. They stand beside the repository and may be absent: what needs them is skipped then. */
const corpus = fileURLToPath(new URL('../../../../../shared/corpus/cases.json', import.meta.url))
const page = readFileSync(new URL('../../../../docs/conformance.md', import.meta.url), 'utf8')

interface CorpusCase {
  readonly id: string
  readonly kind: string
  readonly url: string
  readonly set: string
  readonly check?: string
}

interface Row {
  readonly id: string
  readonly kind: string
  readonly url: string
  readonly status: string
}

function rows(): Row[] {
  return page.split('\n').flatMap((line) => {
    const [, id, url, kind, status] =
      /^\| \[([^\]]+)\]\(([^)]+)\): .* \| ([\w-]+) \| .* \| ([\w ]+) \|$/.exec(line) ?? []
    if (id === undefined || url === undefined || kind === undefined || status === undefined) return []
    return [{ id, kind, url, status }]
  })
}

describe.skipIf(!existsSync(corpus))('docs/conformance.md', () => {
  const cases = (): CorpusCase[] => JSON.parse(readFileSync(corpus, 'utf8')) as CorpusCase[]
  const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : 1)

  it('lists every case of the corpus once, with its kind and its report', () => {
    const listed = rows().map(({ id, kind, url }) => ({ id, kind, url }))
    const collected = cases().map(({ id, kind, url }) => ({ id, kind, url }))
    expect(listed.toSorted(byId)).toEqual(collected.toSorted(byId))
  })

  it('has a test by id for every case that says what to check, and for every open one', () => {
    const tested = new Set(rows().flatMap(({ id, status }) => (status === 'tested by id' ? [id] : [])))
    const demanded = cases().filter(({ set, check }) => set === 'open' || check !== undefined)
    expect(demanded.length).toBeGreaterThan(0)
    expect(demanded.map(({ id }) => id).filter((id) => !tested.has(id))).toEqual([])
  })
})
