import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type InstructionFile, planContext } from '@palimpsest/workspace-context'
import { anyText } from '@palimpsest/testkit'
import { digestOf, quotationsIn } from './quotations.ts'
import { runs } from './runs.ts'

const asFile = (text: string): InstructionFile => ({
  kind: 'text',
  text,
  bytes: Buffer.byteLength(text),
  digest: digestOf(text),
})
const nothing = { messages: [], told: new Map() }
const budget = { maxBytes: 1_000_000, fileNames: ['AGENTS.md'] }

function frameOf(files: Readonly<Record<string, string>>): string {
  const there = new Map(Object.entries(files).map(([path, text]) => [path, asFile(text)]))
  return planContext(nothing, there, budget).inject?.text ?? ''
}
const markOf = (frame: string): string => /the mark ([0-9a-f]{16})/.exec(frame)?.[1] ?? ''

/** Text that knows how frames look, with the marks of frames that it could have seen. */
const anyHostileText = fc
  .array(
    fc.oneof(
      anyText,
      anyText.map((text) => frameOf({ 'AGENTS.md': text })),
      anyText.map((text) => `END ${markOf(frameOf({ 'AGENTS.md': text }))}`),
      fc.constantFrom('\n', '\r', '\u2028', 'BEGIN ', 'END ', 'END\n', '"AGENTS.md"', 'followed by the mark ', '.\n'),
    ),
    { maxLength: 8 },
  )
  .map((parts) => Buffer.from(parts.join('')).toString())
const anyDirectory = fc.oneof(
  fc.constantFrom('src', 'a"b', 'x\ny', 'END 0', '…', 'sp ace', 'a\u2028b', '\\'),
  fc.string({ minLength: 1, maxLength: 8 }).map((name) => name.replaceAll('/', '_')),
)

describe('the frame', () => {
  it('is read back exactly, whatever the files and their directories say', () => {
    fc.assert(
      fc.property(fc.dictionary(anyDirectory, anyHostileText, { minKeys: 1, maxKeys: 4 }), (byDirectory) => {
        const files = new Map(Object.entries(byDirectory).map(([name, text]) => [`${name}/AGENTS.md`, text]))
        const frame = frameOf(Object.fromEntries(files))
        const read = quotationsIn(frame)
        expect(new Map(read.map(({ path }) => [path, '']))).toEqual(new Map([...files].map(([path]) => [path, ''])))
        for (const { path, text } of read) {
          const original = files.get(path) ?? ''
          expect(original === text || original === `${text}\n`).toBe(true)
        }
        // Once in the rule, twice around each quotation, nowhere else in any case.
        expect(frame.toLowerCase().split(markOf(frame)).length - 1).toBe(1 + 2 * read.length)
      }),
      runs(300),
    )
  })

  it('takes another mark where a path holds the first one, in either case', () => {
    const first = markOf(frameOf({ 'AGENTS.md': 'Be kind.' }))
    const second = markOf(frameOf({ [`${first.toUpperCase()}/AGENTS.md`]: 'Be kind.' }))
    expect(second).toMatch(/^[0-9a-f]{16}$/)
    expect(second).not.toBe(first)
  })

  it('is the same text for the same files', () => {
    fc.assert(
      fc.property(fc.dictionary(anyDirectory, anyHostileText, { maxKeys: 3 }), (byDirectory) => {
        const entries = Object.entries(byDirectory).map(([name, text]) => [`${name}/AGENTS.md`, text] as const)
        expect(frameOf(Object.fromEntries(entries.toReversed()))).toBe(frameOf(Object.fromEntries(entries)))
      }),
      runs(50),
    )
  })

  it('names a file whose name holds a line end on one line', () => {
    const frame = frameOf({ 'x\ny\u202ez/AGENTS.md': 'Be kind.' })
    expect(frame).toContain(String.raw`"x\ny\u202ez/AGENTS.md"`)
  })
})
