import fc from 'fast-check'
import { expect } from 'vitest'
import type { ImportedSession } from '../src/index.ts'

/** Printed with the test; set it to see a run again. */
export const seed: number = Number(process.env['PALIMPSEST_SEED'] ?? Date.now() % 1_000_000_000)

/** Milliseconds of processor time that one input may take. */
const hangs = 1_000

/** A change to the lines of a file, in place. */
export type Edit = (lines: string[]) => void

const anyPlace = fc.nat(10_000)
const place = (lines: readonly string[], at: number): number => (lines.length === 0 ? 0 : at % lines.length)
const lineAt = (lines: readonly string[], at: number): string => lines[place(lines, at)] ?? ''

/** A string between quotes in a line, the `at`-th of them. */
function stringIn(line: string, at: number): { readonly text: string; readonly start: number } | undefined {
  const found = [...line.matchAll(/"(?:[^"\\]|\\.){0,60}"/g)]
  const match = found[found.length === 0 ? 0 : at % found.length]
  return match === undefined ? undefined : { text: match[0], start: match.index }
}

function withString(line: string, at: number, text: string): string {
  const found = stringIn(line, at)
  return found === undefined
    ? line
    : `${line.slice(0, found.start)}${text}${line.slice(found.start + found.text.length)}`
}

/** Cuts, swaps and splices of lines, and values of one line in the place of those of another. */
const lineEdit: fc.Arbitrary<Edit> = fc.oneof(
  anyPlace.map(
    (at): Edit =>
      (lines) =>
        void lines.splice(place(lines, at), 1),
  ),
  fc.tuple(anyPlace, anyPlace).map(
    ([from, to]): Edit =>
      (lines) =>
        void lines.splice(place(lines, to), 0, lineAt(lines, from)),
  ),
  fc.tuple(anyPlace, anyPlace).map(
    ([from, to]): Edit =>
      (lines) =>
        void lines.splice(place(lines, to), 0, ...lines.splice(place(lines, from), 1)),
  ),
  fc.tuple(anyPlace, fc.nat(600)).map(
    ([at, end]): Edit =>
      (lines) =>
        void (lines[place(lines, at)] = lineAt(lines, at).slice(0, end)),
  ),
  fc.tuple(anyPlace, anyPlace, fc.nat(300), fc.nat(300)).map(
    ([left, right, end, start]): Edit =>
      (lines) =>
        void (lines[place(lines, left)] = lineAt(lines, left).slice(0, end) + lineAt(lines, right).slice(start)),
  ),
  fc.tuple(anyPlace, fc.json()).map(
    ([at, json]): Edit =>
      (lines) =>
        void lines.splice(place(lines, at), 0, json),
  ),
  fc
    .tuple(anyPlace, anyPlace, fc.constantFrom('null', '-0', '[]', '{}', '""', '1e400', 'true', '"\\ud800"', '[[{}]]'))
    .map(
      ([at, which, value]): Edit =>
        (lines) =>
          void (lines[place(lines, at)] = withString(lineAt(lines, at), which, value)),
    ),
  fc.tuple(anyPlace, anyPlace, anyPlace, anyPlace).map(([from, which, to, where]): Edit => (lines) => {
    const found = stringIn(lineAt(lines, from), which)
    if (found !== undefined) lines[place(lines, to)] = withString(lineAt(lines, to), where, found.text)
  }),
)

type ByteEdit = (bytes: Uint8Array) => Uint8Array

/** Flipped bits, runs of NUL, and files that end too early. */
const byteEdit: fc.Arbitrary<ByteEdit> = fc.oneof(
  fc.tuple(fc.nat(1_000_000), fc.nat(7)).map(([at, bit]): ByteEdit => (bytes) => {
    const place = at % Math.max(1, bytes.length)
    return bytes.map((byte, index) => (index === place ? byte ^ (1 << bit) : byte))
  }),
  fc.nat(1_000_000).map(
    (at): ByteEdit =>
      (bytes) =>
        bytes.slice(0, at % Math.max(1, bytes.length)),
  ),
  fc.tuple(fc.nat(1_000_000), fc.integer({ min: 1, max: 40 })).map(([at, length]): ByteEdit => (bytes) => {
    const place = at % Math.max(1, bytes.length)
    return Uint8Array.from([...bytes.slice(0, place), ...new Uint8Array(length), ...bytes.slice(place)])
  }),
)

export interface FuzzOptions<Result> {
  /** Files as lists of lines; each input is a mutation of one of them, at most `maxLines` lines from a random place. */
  readonly files: readonly (readonly string[])[]
  readonly run: (bytes: Uint8Array) => Promise<Result>
  /** What must hold of each input and what became of it. */
  readonly check: (result: Result, bytes: Uint8Array) => void
  readonly numRuns: number
  /** More changes than those that every format gets. */
  readonly edits?: fc.Arbitrary<Edit>
  readonly maxLines?: number
}

/** What a fuzz run did. Milliseconds of processor time. */
export interface FuzzReport {
  readonly inputs: number
  readonly slowest: number
}

/** Runs mutations of real lines: none may crash, hang, or lose a line. */
export async function fuzz<Result = readonly ImportedSession[]>({
  files,
  run,
  check,
  numRuns,
  edits,
  maxLines = 60,
}: FuzzOptions<Result>): Promise<FuzzReport> {
  let inputs = 0
  let slowest = 0
  const input = fc.record({
    file: fc.nat(10_000),
    from: fc.nat(10_000),
    edits: fc.array(edits === undefined ? lineEdit : fc.oneof(lineEdit, edits), { minLength: 1, maxLength: 8 }),
    byteEdits: fc.array(byteEdit, { maxLength: 2 }),
  })
  await fc.assert(
    fc.asyncProperty(input, async ({ file, from, edits, byteEdits }) => {
      const whole = files[file % files.length] ?? []
      const start = whole.length > maxLines ? from % (whole.length - maxLines) : 0
      const lines = [...whole.slice(0, 1), ...whole.slice(Math.max(1, start), start + maxLines)]
      for (const edit of edits) edit(lines)
      const bytes = byteEdits.reduce<Uint8Array>(
        (before, edit) => edit(before),
        new TextEncoder().encode(lines.join('\n')),
      )
      const before = process.cpuUsage()
      const result = await run(bytes)
      const { user, system } = process.cpuUsage(before)
      const spent = (user + system) / 1000
      inputs += 1
      slowest = Math.max(slowest, spent)
      try {
        expect(spent).toBeLessThan(hangs)
        check(result, bytes)
      } catch (error) {
        const text = JSON.stringify(new TextDecoder().decode(bytes))
        throw new Error(`${String(error)}\nthe input: ${text.slice(0, 8_000)}`, { cause: error })
      }
    }),
    { numRuns, seed },
  )
  return { inputs, slowest }
}
