import { readFileSync } from 'node:fs'
import { Session, coreEvents, deriveMessagesAt, stringifyEvent, stringifyHeader } from '@palimpsest/session'
import { samplePath, samplesOf } from '@palimpsest/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SessionFormatError, deepSeekHarnessPack, openAnyVersion, packVocabulary } from '../src/index.ts'
import type { OpenFormatOptions, OpenedFormat } from '../src/open.ts'
import { assistantMessage, textBytes, userMessage } from './fixtures.ts'
import { refusal } from './support.ts'

const open = (text: string | Uint8Array, options: OpenFormatOptions = {}): Promise<OpenedFormat> =>
  openAnyVersion({ name: 'a.jsonl', bytes: () => textBytes(text) }, options)

const linesOf = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('')
const textOf = ({ header, events }: OpenedFormat): string =>
  [stringifyHeader(header), ...events.map(stringifyEvent), ''].join('\n')

const place = { turn: 1, step: 1 }
const append = { surfaceOp: 'append' }
/** A log of version 2 or 3 of deepseek-harness. */
function foreign(version: 2 | 3): readonly object[] {
  const config = { provider: 'acme', model: 'm-1' }
  const [start, end] = version === 2 ? (['start', 'end'] as const) : (['startSeq', 'endSeq'] as const)
  const source = { kind: 'plugin', plugin: 'prompts' }
  const prompt = { ...place, message: { id: 'p', role: 'system', content: [{ type: 'text', text: 'P' }], source } }
  const rows: object[] = [
    { type: 'turn/start', data: { turn: 1 } },
    { type: 'step/start', data: place },
    version === 2 ? { type: 'todo/write', data: { todos: [] } } : { type: 'system/message', data: prompt, ...append },
    { type: 'user/message', data: userMessage('u', 'Hello'), ...append },
    { type: 'session/title', data: { title: 'T', messageSeqs: [3], source: { kind: 'fallback' } } },
    {
      type: 'request/header',
      data: { header: { config, ...(version === 2 ? { system: 'P' } : {}) }, reason: 'initial' },
    },
    {
      type: 'assistant/message',
      data: { ...place, message: assistantMessage('a', [{ type: 'text', text: 'Hi' }]), stream: [] },
      ...append,
    },
    {
      type: 'user/message',
      data: userMessage('v', 'Hello again'),
      surfaceOp: { op: 'replace', [start]: 3, [end]: 3 },
      sourceEventSeqs: [3],
    },
    { type: 'step/end', data: place },
    { type: 'turn/end', data: { turn: 1, reason: { kind: 'completed' } } },
  ]
  const header = { type: 'session', version, id: 's', createdAt: 1, isSeeded: false, delegationDepth: 0 }
  return [header, ...rows.map((row, seq) => ({ ...row, seq, time: 100 + seq }))]
}

it('reads a -0 on disk as 0, and says so', async () => {
  const text = linesOf(foreign(3))
    .replace('"todos":[]', '"todos":[-0]')
    .replace('"text":"Hello"', '"text":"Hello","at":-0.0')
    .replace('"kind":"completed"', '"kind":"completed","near":-1e-400')
  const { events, notes } = await open(text)
  expect(JSON.stringify(events)).toContain('"text":"Hello","at":0')
  expect(JSON.stringify(events)).toContain('"kind":"completed","near":0')
  expect(notes).toContainEqual(expect.objectContaining({ code: 'number/negative-zero' }))
})

describe('openAnyVersion', () => {
  it('gives the same messages for one conversation in versions 2 and 3', async () => {
    const [two, three] = [await open(linesOf(foreign(2))), await open(linesOf(foreign(3)))]
    const textsOf = ({ events }: OpenedFormat): readonly unknown[] =>
      deriveMessagesAt(events, events.length - 1).map(({ role, content }) => [role, content])
    expect(textsOf(two)).toEqual(textsOf(three))
    expect([two.from, three.from, two.isOurs]).toEqual([2, 3, false])
    expect(two.header).toEqual(three.header)
  })

  it('returns a log of ours as it is, unknown types and members included, and the same again', async () => {
    const header = { ...foreign(3)[0], format: 'palimpsest', colour: 'red' }
    const rows = [...foreign(3).slice(1), { type: 'acme/thing', seq: 10, time: 120, data: { any: 1 } }]
    const opened = await open(linesOf([header, ...rows]))
    expect(opened).toMatchObject({ from: 3, isOurs: true, header: { colour: 'red' } })
    expect(opened.events).toEqual(rows)
    expect(opened.notes).toMatchObject([{ code: 'vocabulary/unknown' }])
    expect(await open(textOf(opened))).toEqual(opened)
  })

  it.each<[string, string, string]>([
    ['no header', linesOf(foreign(3).slice(1)), 'format/not-a-log'],
    ['nothing', '', 'format/not-a-log'],
    ['bytes of another kind', '(\u00B5/\u00FD\n', 'format/not-a-log'],
    ['a version that is no number', linesOf([{ ...foreign(3)[0], version: '3' }]), 'format/not-a-log'],
    ['no isSeeded', linesOf([{ ...foreign(2)[0], isSeeded: undefined }]), 'format/not-a-log'],
    ['a newer version', linesOf([{ ...foreign(3)[0], version: 4 }]), 'format/newer-version'],
    [
      'a newer version of ours',
      linesOf([{ ...foreign(3)[0], version: 4, format: 'palimpsest' }]),
      'format/newer-version',
    ],
    ['damage inside', linesOf(foreign(3)).replace('"step/start"', '"step/'), 'format/row'],
    ['a placeholder', linesOf([{ ...foreign(3)[0], id: '{{session}}' }]), 'format/normalised'],
  ])('refuses a source with %s by its code', async (_, text, code) => {
    expect(await refusal(open(text))).toMatchObject({ code })
  })

  it('closes the source where it refuses', async () => {
    let isClosed = false
    async function* bytes(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield* textBytes('{"type":"nothing"}\n')
      } finally {
        isClosed = true
      }
    }
    await refusal(openAnyVersion({ name: 'a', bytes }))
    expect(isClosed).toBe(true)
  })

  it.each([2, 3] as const)(
    'of version %i, with one row changed, answers or refuses with a code, and answers itself again',
    async (version) => {
      const rows = foreign(version)
      const anyValue = fc.oneof(fc.jsonValue(), fc.constantFrom(-1, 0, 3, 1e300, '', '__proto__', null, 'append'))
      const names = [
        'type',
        'seq',
        'time',
        'data',
        'surfaceOp',
        'sourceEventSeqs',
        'ignorable',
        'version',
        'id',
        '__proto__',
      ]
      await fc.assert(
        fc.asyncProperty(fc.nat(rows.length - 1), fc.constantFrom(...names), anyValue, async (at, name, value) => {
          const changed = JSON.stringify(rows[at]).replace(
            /\}$/,
            `,${JSON.stringify(name)}:${JSON.stringify(value)}}\n`,
          )
          const text = [linesOf(rows.slice(0, at)), changed, linesOf(rows.slice(at + 1))].join('')
          const opened = await open(text).catch((error: unknown) => {
            if (error instanceof SessionFormatError) return undefined
            throw error
          })
          if (opened === undefined) return
          const again = await open(textOf(opened))
          expect([again.header, again.events]).toEqual([opened.header, opened.events])
        }),
        { numRuns: 150 },
      )
    },
  )

  it('names the bytes of a tail that was torn at any place, and keeps the rows before it', async () => {
    const text = new TextEncoder().encode(linesOf(foreign(3)))
    const whole = await open(text)
    const last = text.lastIndexOf(10, -2) + 1
    for (let end = last; end < text.length - 1; end += 1) {
      const { events, notes } = await open(text.subarray(0, end))
      expect(events).toEqual(whole.events.slice(0, -1))
      const torn = [
        { code: 'tail/torn', message: expect.stringContaining(`${end - last} bytes, from offset ${last}`) as string },
      ]
      expect(notes).toMatchObject(end === last ? [] : torn)
    }
  })

  it.skipIf(samplesOf('deepseek-harness').length === 0)(
    'derives of the recorded logs of versions 2 and 3 one conversation',
    async () => {
      const read = (name: string): Promise<OpenedFormat> =>
        open(readFileSync(samplePath(`deepseek-harness/${name}`)), { normalised: true })
      const [two, three] = [await read('v2t-cancel-tool-calls.jsonl'), await read('v3t-cancel-tool-calls.jsonl')]
      expect(two.events).toEqual(three.events)
      const torn = await read('v3t-as-malformed_torn_tail.jsonl')
      expect([torn.events.length, torn.notes.map(({ code }) => code)]).toEqual([10, ['tail/torn']])
    },
  )
})

describe('a vocabulary pack', () => {
  it('composes with a vocabulary that knows some of its types', () => {
    const pack = { name: 'acme', types: { 'acme/a': {}, 'turn/start': {} } }
    const vocabulary = coreEvents.extend(packVocabulary(pack))
    expect([vocabulary.accepts('acme/a'), vocabulary.get('turn/start')]).toEqual([true, coreEvents.get('turn/start')])
    expect(coreEvents.extend(packVocabulary(deepSeekHarnessPack)).accepts('goal/change')).toBe(true)
  })

  it('lets a log be read that its plugins wrote', async () => {
    const rows = [...foreign(2), { type: 'acme/thing', seq: 10, time: 1, data: { atSeq: 3 } }]
    const pack = { name: 'acme', types: { 'acme/thing': { atSeq: 'cited' } } } as const
    const { events, header } = await open(linesOf(rows), { packs: [deepSeekHarnessPack, pack] })
    expect(events.at(-1)?.data).toEqual({ atSeq: 4 })
    const known = coreEvents.extend(packVocabulary(deepSeekHarnessPack))
    expect(() => Session.restore({ header, events, inheritedEventCount: 0 }, { vocabulary: known })).toThrow(
      'acme/thing',
    )
  })
})
