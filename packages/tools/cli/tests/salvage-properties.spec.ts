import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyDamagedLog } from './salvage-damage.ts'
import { answered, call, palimpsest, result, scratch } from './support.ts'
import { type Salvaged, expectReachable, headerLine, salvageBytes, sessionLines } from './salvage-support.ts'

function joined(lines: readonly string[]): Buffer {
  return Buffer.from(lines.map((line) => `${line}\n`).join(''))
}

function said(seq: number, text: string): string {
  const data = { id: text, role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } }
  return JSON.stringify({ type: 'user/message', seq, time: seq, surfaceOp: 'append', data })
}
/** Messages that nothing but their text tells apart. */
function run(name: string, from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, at) => said(from + at, `${name}${from + at}`))
}

const header = headerLine('s')
const lines = sessionLines(1, 40)
const others = sessionLines(2, 40)

/** How the records of each session are numbered in the file, and why what is kept raw is. */
function shape({ salvage }: Salvaged): object[] {
  return salvage.sessions.map(({ id, forkSeq, branchOf, missing, unplaced }) => ({
    id: id.replace(/salvaged-[0-9a-f]{8}/, 'salvaged'),
    forkSeq,
    ...(branchOf === undefined ? {} : { branchOf: branchOf.replace(/salvaged-[0-9a-f]{8}/, 'salvaged') }),
    missing: missing.length,
    reasons: [...new Set(unplaced.map(({ reason }) => reason))],
  }))
}

const whole = { id: 's~salvaged', forkSeq: 0, missing: 0, reasons: [] }

describe('salvage of any damage', () => {
  it('accounts for every byte, keeps all that is readable, and gives sessions in which every rule holds', async () => {
    await fc.assert(
      fc.asyncProperty(anyDamagedLog, async (bytes) => expectReachable(bytes, await salvageBytes(bytes))),
      { numRuns: 15 },
    )
  })

  it.each<readonly [string, Buffer, readonly object[]]>([
    ['a header that is missing', joined(lines), [whole]],
    ['a torn header', joined([header.slice(0, 40), ...lines]), [whole]],
    ['a header that stands behind records', joined([...lines.slice(0, 3), header, ...lines.slice(3)]), [whole]],
    ['a header glued to a record', joined([header + (lines[0] ?? ''), ...lines.slice(1)]), [whole]],
    ['a header that is there twice', joined([header, ...lines.slice(0, 9), header, ...lines.slice(9)]), [whole]],
    ['three records on a line', joined([header, lines.slice(0, 3).join(''), ...lines.slice(3)]), [whole]],
    ['line ends that are lone CR', Buffer.from([header, ...lines].join('\r')), [whole]],
    ['a byte order mark before each line', Buffer.from(`\uFEFF${[header, ...lines].join('\n\uFEFF')}\n`), [whole]],
    ['records in reverse', joined([header, ...lines.toReversed()]), [whole]],
    [
      'the log of another session behind it',
      joined([header, ...lines, headerLine('t'), ...others]),
      [whole, { ...whole, id: 't~salvaged' }],
    ],
    [
      'what a newer version wrote behind it',
      joined([header, ...lines, headerLine('t', { version: 4 }), ...others]),
      [{ ...whole, reasons: ['header/newer-version'] }],
    ],
    [
      'a header of another session in the middle',
      joined([header, ...lines.slice(0, 9), headerLine('t'), ...lines.slice(9)]),
      [{ ...whole, reasons: ['header/other'] }],
    ],
    [
      'a tail that is no JSON',
      Buffer.concat([
        joined([header, ...lines]),
        Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 167) & 0xff)),
      ]),
      [{ ...whole, reasons: ['unreadable'] }],
    ],
  ])('brings back every record in its place behind %s', async (_, bytes, expected) => {
    const salvaged = await salvageBytes(bytes)
    expect(shape(salvaged)).toEqual(expected)
    await expectReachable(bytes, salvaged)
  })

  it('keeps every other record in its place wherever one is torn and glued to the next', async () => {
    const [before, torn = '', after] = [lines.slice(0, 6), lines[6], lines.slice(7)]
    for (let cut = 1; cut < torn.length; cut += 37) {
      const bytes = joined([header, ...before, torn.slice(0, cut) + (after[0] ?? ''), ...after.slice(1)])
      const salvaged = await salvageBytes(bytes)
      expect(salvaged.salvage.parts.filter(({ became }) => became === 'event').length).toBeGreaterThanOrEqual(
        lines.length - 2,
      )
      await expectReachable(bytes, salvaged)
    }
  })

  it('forks branches of branches, and a later branch of the trunk, where each begins', async () => {
    const bytes = joined([header, ...run('t', 0, 20), ...run('a', 3, 8), ...run('b', 6, 9), ...run('c', 14, 16)])
    const salvaged = await salvageBytes(bytes)
    const base = 's~salvaged'
    expect(shape(salvaged)).toEqual([
      whole,
      { ...whole, id: `${base}-branch2`, forkSeq: 14, branchOf: base },
      { ...whole, id: `${base}-branch3`, forkSeq: 6, branchOf: `${base}-branch4` },
      { ...whole, id: `${base}-branch4`, forkSeq: 3, branchOf: base },
    ])
    await expectReachable(bytes, salvaged)
    const lossy = joined([header, ...run('t', 0, 20), ...run('a', 3, 8), '{"type":"user', ...run('a', 9, 12)])
    expect(shape(await salvageBytes(lossy))).toMatchObject([whole, { forkSeq: 3, missing: 1 }])
  })

  it('takes writers that take turns for such where only their turns tell them apart', async () => {
    const [a, b] = [run('a', 5, 12), run('b', 5, 12)]
    const bytes = joined([header, ...run('t', 0, 5), ...a.flatMap((line, index) => [line, b[index] ?? ''])])
    const { salvage } = await salvageBytes(bytes)
    expect(
      salvage.parts.filter(({ seq = 0 }) => seq >= 5).map(({ session }) => session === salvage.sessions[0]?.id),
    ).toEqual(a.flatMap(() => [true, false]))
  })

  it('gives an answer to the history that made the call, whichever was written to last', async () => {
    const calls = ['x', 'y'].map((id) => JSON.stringify(answered(1, [call(id)])))
    const results = ['y', 'x'].map((id) => JSON.stringify(result(2, id)))
    const { salvage } = await salvageBytes(joined([header, said(0, 'Go.'), ...calls, ...results]))
    expect(salvage.sessions).toMatchObject([
      { unplaced: [], closers: 0 },
      { unplaced: [], closers: 0 },
    ])
  })

  it.each([2, 3])('tells %i writers apart that take turns, and says where each forks', async (writers) => {
    const fork = 20
    const own = (writer: number): string[] =>
      lines
        .slice(fork)
        .map((line) =>
          line.replaceAll(/"(call_|m-)(\d+)/g, (id, _, seq) => (Number(seq) < fork ? id : `"w${writer}-${seq}`)),
        )
    const tails = Array.from({ length: writers }, (_, writer) => own(writer))
    const turns = lines.slice(fork).flatMap((_, index) => tails.map((tail) => tail[index] ?? ''))
    const equal = new Set(turns.filter((line, index) => turns.indexOf(line) !== index))
    const bytes = joined([
      header,
      ...lines.slice(0, fork),
      ...turns.map((line, index) =>
        equal.has(line)
          ? line.replace(/"time":(\d+)/, (_, time) => `"time":${Number(time) + (index % writers)}`)
          : line,
      ),
    ])
    const salvaged = await salvageBytes(bytes)
    expect(salvaged.salvage.sessions.map(({ unplaced, missing }) => [unplaced, missing])).toEqual(
      Array.from({ length: writers }, () => [[], []]),
    )
    const branches = salvaged.salvage.sessions.filter(({ branchOf }) => branchOf !== undefined)
    expect(branches.map(({ forkSeq, branchOf }) => [forkSeq, branchOf])).toEqual(
      branches.map(() => [fork, salvaged.salvage.sessions[0]?.id]),
    )
    expect(branches).toHaveLength(writers - 1)
    await expectReachable(bytes, salvaged)
    for (const { id } of salvaged.salvage.sessions) await expectOneWriter(salvaged, id)
  })
})

describe('salvage of a file', () => {
  it('brings a log into the store that is whole, since it cannot be opened where it is', async () => {
    expect(shape(await salvageBytes(joined([header, ...lines])))).toEqual([whole])
  })

  it('names the file that it was given, and no other path', async () => {
    const { salvage } = await salvageBytes(joined([header, ...lines.toSpliced(3, 1)]))
    expect(salvage.source.why).toMatch(/s\.jsonl, line 5,/)
  })

  it('takes the name of a file for the id where the header is gone', async () => {
    const { salvage } = await salvageBytes(joined(lines), 'notes.jsonl')
    expect(salvage.sessions[0]?.id).toMatch(/^notes~salvaged-/)
  })

  it('says which command reads the log of another program, and writes nothing', async () => {
    const [root, directory] = [scratch(), scratch()]
    const path = join(directory, 'old.jsonl')
    writeFileSync(path, joined(['{"type":"session","version":2,"id":"a","createdAt":1}', ...lines]))
    expect(await palimpsest(['salvage', path], { root })).toMatchObject({
      exit: 1,
      err: expect.stringMatching(/header\/invalid: .*palimpsest migrate .*palimpsest import/) as string,
    })
    expect(readdirSync(root)).toEqual([])
  })

  it('says that there is no such file', async () => {
    expect(await palimpsest(['salvage', './nowhere.jsonl'], { root: scratch() })).toMatchObject({
      exit: 3,
      err: expect.stringContaining('source/unreadable: ./nowhere.jsonl: there is no such file') as string,
    })
  })
})

async function expectOneWriter({ root }: Salvaged, id: string): Promise<void> {
  const { out } = await palimpsest(['show', id, '--json'], { root })
  expect(new Set(out.match(/"w\d-/g))).toHaveProperty('size', 1)
}
