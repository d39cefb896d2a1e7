import { Session, interruptedTurnClosers, traceFindings } from '@palimpsest/session'
import fc from 'fast-check'
import { expect } from 'vitest'
import { importVocabulary } from '../src/index.ts'
import { tangled } from './fixture.ts'
import { violations } from './providers.ts'
import { importBytes } from './support.ts'

/** Printed with the test; set it to see a run again. */
export const seed: number = Number(process.env['PALIMPSEST_SEED'] ?? Date.now() % 1_000_000_000)
const lines = tangled().lines
const uuids = [...new Set(lines.flatMap((line) => /"uuid":"([^"]*)"/.exec(line)?.[1] ?? []))]
const ids = ['m1', 'm2', 'm6', 'c1', 'c2', 'c3', '']

type Edit = (text: string[]) => void
const at = fc.nat(lines.length * 2)
const place = (text: readonly string[], where: number): number => (text.length === 0 ? 0 : where % text.length)
const swapMember = (member: string, values: readonly (string | null)[]): fc.Arbitrary<Edit> =>
  fc.tuple(at, fc.constantFrom(...values)).map(([where, value]): Edit => (text) => {
    const line = text[place(text, where)] ?? ''
    text[place(text, where)] = line.replace(
      new RegExp(`"${member}":("[^"]*"|null)`),
      `"${member}":${JSON.stringify(value)}`,
    )
  })

const edit: fc.Arbitrary<Edit> = fc.oneof(
  at.map(
    (where): Edit =>
      (text) =>
        void text.splice(place(text, where), 1),
  ),
  fc.tuple(at, at).map(
    ([from, to]): Edit =>
      (text) =>
        void text.splice(place(text, to), 0, text[place(text, from)] ?? ''),
  ),
  fc.tuple(at, at).map(
    ([from, to]): Edit =>
      (text) =>
        void text.splice(place(text, to), 0, ...text.splice(place(text, from), 1)),
  ),
  fc.tuple(at, fc.nat(400)).map(
    ([where, end]): Edit =>
      (text) =>
        void (text[place(text, where)] = (text[place(text, where)] ?? '').slice(0, end)),
  ),
  fc.tuple(at, fc.json()).map(
    ([where, json]): Edit =>
      (text) =>
        void text.splice(place(text, where), 0, json),
  ),
  fc.tuple(at, fc.constantFrom('\u0000', '\u2028', '\ud800', '"', '{', ']', '-0', 'null')).map(
    ([where, junk]): Edit =>
      (text) =>
        void (text[place(text, where)] =
          `${(text[place(text, where)] ?? '').slice(0, -20)}${junk}${(text[place(text, where)] ?? '').slice(-20)}`),
  ),
  swapMember('parentUuid', [null, 'nowhere', ...uuids]),
  swapMember('logicalParentUuid', ['nowhere', ...uuids]),
  swapMember('uuid', ['', ...uuids]),
  swapMember('id', ids),
  swapMember('tool_use_id', ids),
  swapMember('type', ['user', 'assistant', 'system', 'text', 'tool_use', 'tool_result', 'thinking', 'image', 'what']),
  swapMember('content', ['', 'text']),
)

function mappedLines(data: unknown): readonly number[] {
  const { source, message } = data as { source?: { lines?: number[] }; message?: { source?: { lines?: number[] } } }
  return source?.lines ?? message?.source?.lines ?? []
}

/** Imports mutations of the tangled transcript and checks that nothing is lost and every log is sound. */
export async function importMutations(numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 12 }), async (edits) => {
      const text = [...lines]
      for (const change of edits) change(text)
      const bytes = new TextEncoder().encode(text.join('\n'))
      const imported = await importBytes(bytes)
      const seen = imported.flatMap(({ session, report }) => {
        const restored = Session.restore(structuredClone(session), { vocabulary: importVocabulary })
        expect(interruptedTurnClosers(session.events)).toEqual([])
        expect(traceFindings(session.events)).toEqual([])
        const messages = restored.deriveMessages()
        expect(report.messages).toBe(messages.length)
        expect(violations(messages)).toEqual([])
        expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length)
        expect(report.answered).toBeLessThanOrEqual(report.calls)
        return session.events.flatMap(({ type, data }) => (type === 'import/raw' ? [data.line] : mappedLines(data)))
      })
      const all = text
        .join('\n')
        .split('\n')
        .flatMap((line, index) => (line.trim() === '' ? [] : [index + 1]))
      expect([...new Set(seen)].sort((a, b) => a - b)).toEqual(all)
      expect(new Set(imported.map(({ session }) => session.header.id)).size).toBe(imported.length)
    }),
    { numRuns, seed },
  )
}
