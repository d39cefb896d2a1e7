import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sessionSeq } from '@palimpsest/session'
import { anyText } from '@palimpsest/testkit'
import { type FileRecord, type InstructionFile, defaultFileNames, planContext } from '@palimpsest/workspace-context'
import { digestOf, quotationsIn } from './quotations.ts'
import { runs } from './runs.ts'

const anyPath = fc
  .tuple(fc.constantFrom('', 'a/', 'a/b/', 'a/c/', 'z/'), fc.constantFrom(...defaultFileNames))
  .map((parts) => parts.join(''))
const anyContent = fc
  .tuple(fc.array(anyText, { maxLength: 4 }), fc.nat({ max: 99 }))
  .map(([parts, n]) => `${Buffer.from(parts.join('')).toString()}#${n}`)
const anyFile: fc.Arbitrary<InstructionFile> = fc.oneof(
  {
    weight: 6,
    arbitrary: anyContent.map((text) => ({
      kind: 'text' as const,
      text,
      bytes: Buffer.byteLength(text),
      digest: digestOf(text),
    })),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'refused' as const, reason: 'not-text' as const }) },
)
const anyFiles = fc
  .uniqueArray(fc.tuple(anyPath, anyFile), { selector: ([path]) => path, maxLength: 12 })
  .map((entries) => new Map(entries))

const depthOf = (path: string): number => path.split('/').length
const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
/** Whether `a` says more about a place than `b`, where the spec has a say: deeper, or an overlay of the same directory. */
function isMoreSpecific(a: string, b: string): boolean {
  if (depthOf(a) !== depthOf(b)) return depthOf(a) > depthOf(b)
  const sameDirectory = a.slice(0, a.lastIndexOf('/') + 1) === b.slice(0, b.lastIndexOf('/') + 1)
  return sameDirectory && defaultFileNames.indexOf(nameOf(a)) > defaultFileNames.indexOf(nameOf(b))
}

function planned(
  files: ReadonlyMap<string, InstructionFile>,
  maxBytes: number,
): { records: readonly FileRecord[]; text: string } {
  const { inject } = planContext({ messages: [], told: new Map() }, files, { maxBytes, fileNames: defaultFileNames })
  return { records: inject?.files ?? [], text: inject?.text ?? '' }
}
const bytesOf = (files: ReadonlyMap<string, InstructionFile>, path: string): number => {
  const file = files.get(path)
  return file?.kind === 'text' ? file.bytes : 0
}

describe('the budget', () => {
  it('is held in bytes of what is quoted, and every file is told of once', () => {
    fc.assert(
      fc.property(anyFiles, fc.nat({ max: 120 }), (files, maxBytes) => {
        const { records, text } = planned(files, maxBytes)
        expect(records.map(({ path }) => path).toSorted()).toEqual([...files.keys()].toSorted())
        const quoted = quotationsIn(text)
        expect(quoted.map(({ path }) => path)).toEqual(
          records.flatMap((record) => (record.status === 'quoted' ? [record.path] : [])),
        )
        expect(quoted.reduce((sum, quotation) => sum + Buffer.byteLength(quotation.text), 0)).toBeLessThanOrEqual(
          maxBytes,
        )
        expect(quoted.reduce((sum, { path }) => sum + bytesOf(files, path), 0)).toBeLessThanOrEqual(maxBytes)
      }),
      runs(300),
    )
  })

  it('goes to the most specific files first: one is left out only where those before it leave no room', () => {
    let leftOut = 0
    fc.assert(
      fc.property(anyFiles, fc.nat({ max: 120 }), (files, maxBytes) => {
        const { records } = planned(files, maxBytes)
        for (const record of records) {
          if (record.status !== 'left-out' || record.reason !== 'over-budget') continue
          leftOut += 1
          const rivals = records.filter(({ path, status }) => status === 'quoted' && !isMoreSpecific(record.path, path))
          const taken = rivals.reduce((sum, { path }) => sum + bytesOf(files, path), 0)
          expect(taken + bytesOf(files, record.path)).toBeGreaterThan(maxBytes)
        }
      }),
      runs(300),
    )
    expect(leftOut).toBeGreaterThan(0)
  })

  it('names what it leaves out', () => {
    const file = (text: string): InstructionFile => ({ kind: 'text', text, bytes: text.length, digest: digestOf(text) })
    const { text } = planned(
      new Map([
        ['AGENTS.md', file('r'.repeat(20))],
        ['a/AGENTS.md', file('d'.repeat(20))],
      ]),
      30,
    )
    expect(text).toContain('"AGENTS.md" is left out: the more specific files leave no room for it')
    expect(text).toContain('d'.repeat(20))
    expect(text).not.toContain('r'.repeat(20))
  })
})

it('of two messages that tell of one file the first that is right stays as it is, and the other retires', () => {
  const text = 'Be kind.'
  const file: InstructionFile = { kind: 'text', text, bytes: text.length, digest: digestOf(text) }
  const right: FileRecord = { path: 'AGENTS.md', status: 'quoted', digest: file.digest }
  const stale: FileRecord = { ...right, digest: digestOf('Be brief.') }
  const messages = [stale, right, { ...right }].map((record, at) => ({ seq: sessionSeq(at), files: [record] }))
  const state = { messages, told: new Map([[right.path, right]]) }
  const { replace, inject } = planContext(state, new Map([[right.path, file]]), {
    maxBytes: 99,
    fileNames: defaultFileNames,
  })
  expect(replace.map(({ seq, files }) => [seq, files])).toEqual([
    [0, []],
    [2, []],
  ])
  expect(inject).toBeUndefined()
})
