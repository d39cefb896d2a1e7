import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Row, readRows } from '../src/framing.ts'
import type { FormatNote } from '../src/log.ts'
import { textBytes } from './fixtures.ts'
import { collect, refusal } from './support.ts'

async function rowsOf(
  text: string | Uint8Array,
  chunkLength?: number,
): Promise<{ readonly rows: readonly Row[]; readonly notes: readonly FormatNote[] }> {
  const notes: FormatNote[] = []
  return { rows: await collect(readRows(textBytes(text, chunkLength), (note) => void notes.push(note))), notes }
}

const utf8 = new TextEncoder()

describe('the rows of a file', () => {
  it('end at byte 0x0A and nowhere else', async () => {
    const value = { text: 'a\u2028b\u2029c\u0085d' }
    const { rows, notes } = await rowsOf(`${JSON.stringify(value)}\n{"b":1}\n`)
    expect(rows).toEqual([
      { line: 1, value },
      { line: 2, value: { b: 1 } },
    ])
    expect(notes).toEqual([])
  })

  it('are the same however the bytes are cut', async () => {
    const text = '\uFEFF{"text":"größer 🎉"}\r\n\n{"b":[1,2]}\r\n{"c":"\u2028"}'
    const whole = await rowsOf(text)
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 60 }), async (length) => {
        expect(await rowsOf(text, length)).toEqual(whole)
      }),
    )
    expect(whole.rows.map(({ line }) => line)).toEqual([1, 3, 4])
    expect(whole.notes).toEqual([{ code: 'line/blank', line: 2, message: 'the line is empty' }])
  })

  it('say of many empty lines once which they are, and soon', async () => {
    const { rows, notes } = await rowsOf(`{"a":1}\n${'\n'.repeat(100_000)}{"b":1}\n \r\n`)
    expect(rows.map(({ line }) => line)).toEqual([1, 100_002])
    expect(notes).toMatchObject([
      { code: 'line/blank', line: 2, lastLine: 100_001 },
      { code: 'line/blank', line: 100_003 },
    ])
  })

  it('include a whole last one without its newline', async () => {
    expect((await rowsOf('{"a":1}\n{"b":1}')).rows).toHaveLength(2)
  })

  it.each([
    ['half an object', utf8.encode('{"type":"turn/en')],
    ['half a character', Uint8Array.of(0x22, 0xc3)],
    ['NUL bytes of a power loss', new Uint8Array(12)],
    ['a bare value, which no row is', utf8.encode('12')],
  ])('do not include a torn tail, which is named by offset and length: %s', async (_, tail) => {
    const { rows, notes } = await rowsOf(Buffer.concat([utf8.encode('{"a":1}\n'), tail]))
    expect(rows).toHaveLength(1)
    expect(notes).toEqual([
      {
        code: 'tail/torn',
        line: 2,
        message: `the last ${tail.length} bytes, from offset 8, are no whole row: they were left out`,
      },
    ])
  })

  it.each([
    ['half an object', utf8.encode('{"type":"turn/en\n')],
    ['bytes that are no UTF-8', Uint8Array.of(0x7b, 0xff, 0x7d, 0x0a)],
    ['a bare value', utf8.encode('"text"\n')],
    ['a list', utf8.encode('[1]\n')],
    ['NUL bytes', Uint8Array.of(0, 0, 0x0a)],
    ['a byte order mark inside the file', utf8.encode('\uFEFF{"b":1}\n')],
  ])('are refused with their line where one is damaged before the tail: %s', async (_, damage) => {
    const error = await refusal(rowsOf(Buffer.concat([utf8.encode('{"a":1}\n'), damage])))
    expect(error).toMatchObject({ code: 'format/row', line: 2 })
  })

  it.each([
    ['text', utf8.encode('# notes\n')],
    ['compressed', Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x00)],
  ])('are not looked for where the file is %s', async (_, bytes) => {
    expect(await refusal(rowsOf(bytes))).toMatchObject({ code: 'format/not-a-log', line: 1 })
  })

  it('are none of an empty file', async () => {
    expect(await rowsOf('')).toEqual({ rows: [], notes: [] })
  })
})
