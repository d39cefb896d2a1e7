import { type AssistantStreamRecord, expandStream } from '@palimpsest/session'
import fc from 'fast-check'
import { expect } from 'vitest'
import { edgeFrom0 } from '../src/edges/from-0.ts'
import { edgeFrom1 } from '../src/edges/from-1.ts'
import { edgeFrom2 } from '../src/edges/from-2.ts'
import { SessionFormatError } from '../src/errors.ts'
import type { FormatLog, FormatVersion } from '../src/log.ts'
import { type OpenedFormat, openAnyVersion } from '../src/open.ts'
import { deepSeekHarnessPack } from '../src/packs/deepseek-harness.ts'
import { anyOldLog } from './any-old-log.ts'
import { textBytes } from './fixtures.ts'
import { collect, logOf, readOld } from './support.ts'

/** Printed with the test; set it to see a run again. */
export const seed: number = Number(process.env['PALIMPSEST_SEED'] ?? Date.now() % 1_000_000_000)

/** A fault in the lines of a log, in place. */
export type Edit = (lines: string[]) => void
const where = fc.nat({ max: 1_000 })
const at = (lines: readonly string[], place: number): number => place % Math.max(lines.length, 1)
const line = (change: (text: string, lines: readonly string[]) => string, place: number): Edit => {
  return (lines) => void (lines[at(lines, place)] = change(lines[at(lines, place)] ?? '', lines))
}
const members = ['seq', 'time', 'seq0', 'time0', 'turn', 'step', 'index', 'start', 'end', 'version', 'seedLength']
const values = ['0', '1', '7', '99', '-1', '-0', '1.5', 'null', '"a"', '[]', '{}', '[[0,2]]', '9007199254740993']
const types = ['turn/start', 'session/end-seed', 'assistant/message', 'assistant/chunk', 'text-chunks', 'text', 'usage']
const junk = ['\u0000', '\u2028', '\ud800', '"', '{', ']', '-0', 'null', '\n', '\r', '"__proto__":{},']

const edit: fc.Arbitrary<Edit> = fc.oneof(
  where.map(
    (place): Edit =>
      (lines) =>
        void lines.splice(at(lines, place), 1),
  ),
  fc.tuple(where, where).map(
    ([from, to]): Edit =>
      (lines) =>
        void lines.splice(at(lines, to), 0, lines[at(lines, from)] ?? ''),
  ),
  fc.tuple(where, where).map(
    ([from, to]): Edit =>
      (lines) =>
        void lines.splice(at(lines, to), 0, ...lines.splice(at(lines, from), 1)),
  ),
  fc.tuple(where, where).map(([place, end]) => line((text) => text.slice(0, end), place)),
  fc
    .tuple(where, where, fc.constantFrom(...junk))
    .map(([place, cut, text]) => line((old) => old.slice(0, cut) + text + old.slice(cut), place)),
  fc.tuple(where, fc.json()).map(
    ([place, json]): Edit =>
      (lines) =>
        void lines.splice(at(lines, place), 0, json),
  ),
  fc
    .tuple(where, fc.constantFrom(...members), fc.constantFrom(...values))
    .map(([place, name, value]) =>
      line((text) => text.replace(new RegExp(`"${name}":-?\\d+`), `"${name}":${value}`), place),
    ),
  // Into a list of seqs: what is cited, covered or titled.
  fc
    .tuple(where, fc.constantFrom(...values))
    .map(([place, value]) => line((text) => text.replace(/\[\d+/, `[${value}`), place)),
  fc
    .tuple(where, fc.constantFrom(...types))
    .map(([place, type]) => line((text) => text.replace(/"type":"[^"]*"/, `"type":"${type}"`), place)),
  fc
    .tuple(where, where)
    .map(([place, depth]) =>
      line(
        (text) => text.replace('"data":{', `"data":{"deep":${'['.repeat(depth * 9)}${']'.repeat(depth * 9)},`),
        place,
      ),
    ),
)

/** Milliseconds of work that one small log may take: more is a hang. */
const LIMIT = 1_000

/** Logs of a version, row by row: those of version 0 that some writer may have written, or what the edges make of them. */
async function textsOf(version: FormatVersion): Promise<string[][]> {
  const written = fc.record({ packed: fc.boolean(), ranges: fc.boolean(), bare: fc.boolean() })
  const logs = fc.sample(fc.tuple(anyOldLog, written), { numRuns: 100, seed })
  if (version === 0) return logs.map(([log, as]) => log.rows(as).map((row) => JSON.stringify(row)))
  const texts: string[][] = []
  for (const [log] of logs) {
    let migrated: FormatLog = logOf(await readOld(log))
    for (const edge of [edgeFrom0, edgeFrom1, edgeFrom2]) {
      if (edge.from < version)
        migrated = edge.migrate(migrated, { packs: [deepSeekHarnessPack], note: () => undefined })
    }
    const rows = (await collect(migrated.events)).map(({ line: _, ...row }) => JSON.stringify(row))
    texts.push([JSON.stringify({ type: 'session', ...migrated.header }), ...rows])
  }
  return texts
}

/**
 * Opens logs of a version with a few faults each: every one is refused with a code and a line, or migrated with every row
 * of it accounted for.
 */
export async function openMutations(numRuns: number, version: FormatVersion): Promise<void> {
  const texts = await textsOf(version)
  const counts = { refused: 0, migrated: 0 }
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...texts), fc.array(edit, { minLength: 1, maxLength: 3 }), async (rows, edits) => {
      const lines = [...rows]
      for (const change of edits) change(lines)
      const bytes = new TextEncoder().encode(lines.join('\n'))
      const before = process.cpuUsage()
      const opened = await open(bytes)
      const { user, system } = process.cpuUsage(before)
      expect((user + system) / 1_000).toBeLessThan(LIMIT)
      if (opened instanceof SessionFormatError) {
        expect(opened.code).toMatch(/^format\//)
        counts.refused += 1
      } else {
        expect(accountedFor(opened)).toBe(rowsIn(bytes, opened.from))
        counts.migrated += 1
      }
    }),
    { numRuns, seed },
  )
  expect(counts.refused).toBeGreaterThan(0)
  expect(counts.migrated).toBeGreaterThan(0)
}

async function open(bytes: Uint8Array): Promise<OpenedFormat | SessionFormatError> {
  try {
    return await openAnyVersion({ name: 'mutated.jsonl', bytes: () => textBytes(bytes) }, { normalised: true })
  } catch (error) {
    if (error instanceof SessionFormatError) return error
    throw error
  }
}

/**
 * Events of the source that are in the successor, and lines that a note names. Up to version 1 chunks are events, and an
 * attempt is none; up to version 2 the prompt is a member of another one.
 */
function accountedFor({ from, events, notes }: OpenedFormat): number {
  const count = (code: string): number =>
    notes.reduce(
      (sum, { code: found, line = 0, lastLine = line }) => (found === code ? sum + lastLine - line + 1 : sum),
      0,
    )
  const made = [...(from < 2 ? ['assistant/attempt'] : []), ...(from < 3 ? ['system/message'] : [])]
  const own = events.filter(({ type }) => !made.includes(type))
  const chunks = events.flatMap(({ data }) =>
    from < 2 && 'stream' in data ? expandStream(data.stream as AssistantStreamRecord[]) : [],
  )
  return own.length - count('seed/marker') + chunks.length + count('tail/torn') + count('line/blank')
}

/** Events in the text of a log, packed ones too, and lines that hold none, counted without the code under test. */
function rowsIn(bytes: Uint8Array, version: FormatVersion): number {
  const [, ...lines] = new TextDecoder().decode(bytes).split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.reduce((sum, text) => {
    const { data = {} } = parsed(text)
    const parts = version < 2 ? (data.texts ?? data.args) : undefined
    return sum + (Array.isArray(parts) ? parts.length : 1)
  }, 0)
}

function parsed(text: string): { readonly data?: { readonly texts?: unknown; readonly args?: unknown } } {
  try {
    return (JSON.parse(text) ?? {}) as ReturnType<typeof parsed>
  } catch {
    return {}
  }
}
