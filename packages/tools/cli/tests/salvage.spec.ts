import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Salvage } from '../src/commands/salvage.ts'
import {
  answered,
  call,
  event,
  logOf,
  palimpsest,
  result,
  said,
  scratch,
  storeEvents,
  treeOf,
  wholeTurn,
} from './support.ts'

function linesOf(root: string, id = 's'): string[] {
  return readFileSync(logOf(root, id), 'utf8').split('\n').slice(0, -1)
}

function write(root: string, lines: readonly string[]): void {
  writeFileSync(logOf(root, 's'), lines.map((line) => `${line}\n`).join(''))
}

async function salvage(root: string): Promise<Salvage> {
  const { exit, json, err } = await palimpsest(['salvage', 's', '--json'], { root })
  expect([exit, err]).toEqual([0, ''])
  const salvaged = json as Salvage
  const spent = Object.values(salvaged.bytes).reduce((sum, bytes) => sum + bytes, 0)
  expect(spent).toBe(salvaged.source.bytes)
  expect(spent).toBe(readFileSync(logOf(root, 's')).length)
  return salvaged
}

async function textsOf(root: string, id: string): Promise<string[]> {
  const { json } = await palimpsest(['messages', id, '--json'], { root })
  const { messages } = json as { messages: { content: { text?: string; content?: { text?: string }[] }[] }[] }
  return messages.flatMap(({ content }) => content.map(({ text, content: inner }) => text ?? inner?.[0]?.text ?? ''))
}

async function stored(events: readonly object[]): Promise<string> {
  const root = scratch()
  await storeEvents(root, 's', events)
  return root
}

describe('salvage', () => {
  it('writes what is readable around a missing record, and names what is missing', async () => {
    const root = await stored([said(0, 'one'), said(1, 'two'), said(2, 'three')])
    write(
      root,
      linesOf(root).filter((line) => !line.includes('"two"')),
    )
    const { source, sessions } = await salvage(root)
    expect(source.why).toContain('seq 1 is missing')
    expect(sessions).toMatchObject([{ forkSeq: 0, missing: [{ from: 1, to: 1 }], unplaced: [] }])
    expect(await textsOf(root, sessions[0]?.id ?? '')).toEqual(['one', 'three'])
  })

  it('keeps both histories of a seq that is there twice', async () => {
    const root = await stored([said(0, 'one'), said(1, 'two')])
    const lines = linesOf(root)
    const other = [JSON.stringify(said(1, 'two, otherwise')), JSON.stringify(said(2, 'three'))]
    write(root, [...lines, ...other.map((line) => `${line} `)])
    const { sessions } = await salvage(root)
    expect(sessions.map(({ forkSeq }) => forkSeq)).toEqual([1, 0])
    expect(await textsOf(root, sessions[0]?.id ?? '')).toEqual(['one', 'two, otherwise', 'three'])
    expect(await textsOf(root, sessions[1]?.id ?? '')).toEqual(['one', 'two'])
  })

  it('takes a record that is there twice for one, as the store does', async () => {
    const root = await stored([said(0, 'one'), said(1, 'two'), said(2, 'three')])
    const lines = linesOf(root)
    write(root, [...lines.slice(0, 3), lines[2] ?? '', ...lines.slice(3)])
    const { sessions, bytes } = await salvage(root)
    expect(sessions).toEqual([])
    expect(bytes.repeats).toBe((lines[2]?.length ?? 0) + 1)
  })

  it('puts records back in order whose predecessors come later in the file', async () => {
    const root = await stored([said(0, 'one'), said(1, 'two'), said(2, 'three'), said(3, 'four')])
    const [header = '', one = '', two = '', three = '', four = ''] = linesOf(root)
    write(root, [header, one, three, two, four])
    const { sessions } = await salvage(root)
    expect(sessions).toMatchObject([{ missing: [], unplaced: [] }])
    expect(await textsOf(root, sessions[0]?.id ?? '')).toEqual(['one', 'two', 'three', 'four'])
  })

  it('tells a record that waits from its repeat and from another of its seq', async () => {
    const root = await stored([said(0, 'one'), said(1, 'two'), said(2, 'three')])
    const [header = '', one = '', two = '', three = ''] = linesOf(root)
    write(root, [header, two, two, JSON.stringify(said(1, 'two, otherwise')), one, three])
    const { sessions } = await salvage(root)
    expect(sessions.map(({ forkSeq, missing, unplaced }) => [forkSeq, missing, unplaced])).toEqual([
      [0, [], []],
      [1, [], []],
    ])
    expect(await textsOf(root, sessions[0]?.id ?? '')).toEqual(['one', 'two', 'three'])
    expect(await textsOf(root, sessions[1]?.id ?? '')).toEqual(['one', 'two, otherwise'])
  })

  it('keeps a record whose seq leads nowhere, and does not believe it', async () => {
    const root = await stored([said(0, 'one'), said(1, 'two'), said(2, 'three')])
    const [header = '', one = '', two = '', three = ''] = linesOf(root)
    write(root, [header, one, JSON.stringify(said(900_719_925_474, 'astray')), two, three])
    const { sessions } = await salvage(root)
    expect(sessions).toMatchObject([{ missing: [], unplaced: [{ reason: 'out-of-order', seq: 900_719_925_474 }] }])
    expect(await textsOf(root, sessions[0]?.id ?? '')).toEqual(['one', 'two', 'three'])
  })

  it('keeps what acceptance refuses as it stood, and goes on behind it', async () => {
    const root = await stored([said(0, 'one'), result(1, 'nobody', 'lost answer'), said(2, 'two')])
    const { sessions } = await salvage(root)
    const [session] = sessions
    expect(session).toMatchObject({ unplaced: [{ reason: 'pairing/unknown-call', seq: 1, keptAs: 1 }] })
    const { out } = await palimpsest(['show', session?.id ?? '', '--json'], { root })
    expect(out).toContain('lost answer')
    expect(await palimpsest(['verify', session?.id ?? ''], { root })).toMatchObject({ exit: 0 })
  })

  it('closes calls whose answers are lost, and moves what cites later seqs', async () => {
    const root = await stored([
      said(0, 'one'),
      answered(1, [call('a'), call('b')]),
      result(2, 'a'),
      said(3, 'two'),
      said(4, 'both', { surfaceOp: { op: 'replace', startSeq: 3, endSeq: 3 }, sourceEventSeqs: [3] }),
      result(5, 'b'),
    ])
    const { sessions } = await salvage(root)
    const [session] = sessions
    expect(session).toMatchObject({ events: 7, closers: 1, unplaced: [{ seq: 5 }] })
    const { json } = await palimpsest(['explain', session?.id ?? '', '5', '--json'], { root })
    expect(json).toMatchObject({ shadows: [4], cites: [4], onSurface: true })
  })

  it('moves what a compaction names, so that it can still be undone', async () => {
    const summary = { id: 'sum', role: 'user', content: [{ type: 'text', text: 'Greetings.' }] }
    const source = { kind: 'plugin', plugin: 'compact', compactionId: 'k' }
    const replaced = { surfaceOp: { op: 'replace', startSeq: 2, endSeq: 3 }, sourceEventSeqs: [2, 3] }
    const range = { startSeq: 2, endSeq: 3 }
    const root = await stored([
      said(0, 'Go.'),
      answered(1, [call('c1')]),
      said(2, 'Hi.'),
      said(3, 'Hello.'),
      event(4, 'compaction/start', { compactionId: 'k', trigger: 'manual', ...range }),
      event(5, 'compaction/summary', {
        compactionId: 'k',
        shadowedRange: range,
        shadowedSeqs: [2, 3],
        tokensBefore: 9,
        tokensAfter: 3,
      }),
      event(6, 'user/message', { ...summary, source }, replaced),
      event(7, 'compaction/end', { compactionId: 'k', replacementSeq: 6 }),
    ])
    const { sessions } = await salvage(root)
    const id = sessions[0]?.id ?? ''
    const { json } = await palimpsest(['show', id, '--json'], { root })
    const { events } = json as { events: object[] }
    expect(events.slice(5)).toMatchObject([
      { data: { startSeq: 3, endSeq: 4 } },
      { data: { shadowedRange: { startSeq: 3, endSeq: 4 }, shadowedSeqs: [3, 4] } },
      { surfaceOp: { startSeq: 3, endSeq: 4 }, sourceEventSeqs: [3, 4] },
      { data: { replacementSeq: 7 } },
    ])
    const undone = await palimpsest(['compact', id, '--undo', 'k', '--json'], { root })
    expect(await textsOf(root, (undone.json as { id: string }).id)).toEqual(expect.arrayContaining(['Hi.', 'Hello.']))
  })

  it('closes a turn that nobody ended', async () => {
    const root = await stored([...wholeTurn().slice(0, 5), event(5, 'turn/start', {})])
    const { sessions } = await salvage(root)
    expect(sessions).toMatchObject([{ closers: 3, unplaced: [{ reason: 'payload/invalid' }] }])
    expect(await palimpsest(['verify', sessions[0]?.id ?? '', '--json'], { root })).toMatchObject({
      json: { ok: true },
    })
  })

  it('goes on with the history that was written to last, where two could go on', async () => {
    const root = await stored([said(0, 'one'), said(1, 'two'), said(2, 'three')])
    const rest: readonly [number, string][] = [
      [1, 'two, otherwise'],
      [2, 'three, otherwise'],
      [3, 'four, otherwise'],
      [3, 'four'],
      [4, 'five'],
    ]
    write(root, [...linesOf(root), ...rest.map(([seq, text]) => `${JSON.stringify(said(seq, text))} `)])
    const { sessions } = await salvage(root)
    expect(sessions).toHaveLength(2)
    expect(await textsOf(root, sessions[0]?.id ?? '')).toEqual(['one', 'two', 'three', 'four', 'five'])
    expect((await textsOf(root, sessions[1]?.id ?? '')).at(-1)).toBe('four, otherwise')
  })

  it('keeps types that nobody knows', async () => {
    const root = await stored([said(0, 'one'), event(1, 'weather/report', { rain: true }), result(2, 'nobody')])
    const { sessions } = await salvage(root)
    expect(sessions).toMatchObject([{ unplaced: [{ seq: 2 }], events: 3 }])
    const { json } = await palimpsest(['show', sessions[0]?.id ?? '', '--json'], { root })
    expect(json).toMatchObject({ events: [{}, { type: 'weather/report', data: { rain: true } }, {}] })
  })

  it('reads a log whose header is gone, by its whole id', async () => {
    const root = await stored(wholeTurn())
    write(root, ['{"type":"session","format":"palim', ...linesOf(root).slice(1)])
    expect((await palimpsest(['show', 's'], { root })).exit).not.toBe(0)
    const { sessions } = await salvage(root)
    expect(sessions).toMatchObject([{ events: 8, unplaced: [] }])
  })

  it('keeps bytes that are not UTF-8 as they are', async () => {
    const root = await stored([said(0, 'one')])
    appendFileSync(logOf(root, 's'), Buffer.from([0x7b, 0xff, 0xfe, 0x0a]))
    const { sessions } = await salvage(root)
    const { json } = await palimpsest(['show', sessions[0]?.id ?? '', '--type', 'salvage/*', '--json'], { root })
    const [kept] = (json as { events: { data: { text: string; encoding: string } }[] }).events
    expect(kept?.data.encoding).toBe('base64')
    expect(Buffer.from(kept?.data.text ?? '', 'base64')).toEqual(Buffer.from([0x7b, 0xff, 0xfe, 0x0a]))
  })

  it('leaves a log alone that is whole', async () => {
    const root = await stored(wholeTurn().slice(0, 5))
    const before = treeOf(root)
    expect((await salvage(root)).sessions).toEqual([])
    expect(treeOf(root)).toEqual(before)
  })

  it('writes nothing the second time', async () => {
    const root = await stored([said(0, 'one'), result(1, 'nobody')])
    const first = await salvage(root)
    const before = treeOf(root)
    const second = await salvage(root)
    expect(second.sessions.map(({ id, wasThere }) => [id, wasThere])).toEqual(
      first.sessions.map(({ id }) => [id, true]),
    )
    expect(treeOf(root)).toEqual(before)
  })

  it('survives any damage: the source stays as it is, every byte is accounted for, every new session opens', async () => {
    const events = [...wholeTurn(), said(8, 'More.'), answered(9, [call('c2')]), result(10, 'c2')]
    const pristine = linesOf(await stored(events)).join('\n')
    const damage = fc.array(
      fc.record({
        at: fc.double({ min: 0, max: 1, noNaN: true }),
        how: fc.constantFrom('cut', 'nul', 'double', 'swap', 'newline'),
        length: fc.integer({ min: 1, max: 400 }),
      }),
      { minLength: 1, maxLength: 4 },
    )
    await fc.assert(
      fc.asyncProperty(damage, async (damages) => {
        const root = await stored(events)
        let bytes = Buffer.from(`${pristine}\n`)
        for (const { at, how, length } of damages) {
          const start = Math.floor(at * bytes.length)
          const piece = bytes.subarray(start, start + length)
          const middle = {
            cut: Buffer.alloc(0),
            nul: Buffer.alloc(piece.length),
            double: Buffer.concat([piece, piece]),
            swap: Buffer.from(piece).reverse(),
            newline: Buffer.concat([Buffer.from('\n'), piece]),
          }[how]
          bytes = Buffer.concat([bytes.subarray(0, start), middle, bytes.subarray(start + piece.length)])
        }
        writeFileSync(logOf(root, 's'), bytes)
        const { sessions } = await salvage(root)
        expect(readFileSync(logOf(root, 's')).equals(bytes)).toBe(true)
        for (const { id } of sessions) {
          const { json } = await palimpsest(['verify', id, '--json'], { root })
          const errors = (json as { findings: { severity: string }[] }).findings.filter(
            ({ severity }) => severity === 'error',
          )
          expect(errors).toEqual([])
        }
      }),
      { numRuns: 30 },
    )
  })
})
