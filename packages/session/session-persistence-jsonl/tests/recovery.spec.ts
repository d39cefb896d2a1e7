import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FileStat, OpenFile } from '../src/file-system.ts'
import { splitLine } from '../src/glue.ts'
import { frameBatch } from '../src/log-file.ts'
import { findRepeats } from '../src/read-log.ts'
import { judgeLog, type Verdict } from '../src/recovery.ts'
import { eachLine, scanLog } from '../src/scan.ts'
import { headerLine, record, said, saidAll } from './support.ts'

/** A file in memory whose reads may be short. */
function memoryFile(content: Buffer, maxRead = Infinity): OpenFile {
  const refuse = (): Promise<never> => Promise.reject(new Error('not written by a reader'))
  return {
    read: (buffer, offset, length, position) =>
      Promise.resolve(content.copy(buffer, offset, position, position + Math.min(length, maxRead))),
    write: refuse,
    datasync: refuse,
    sync: refuse,
    truncate: refuse,
    stat: () =>
      Promise.resolve({ kind: 'file', dev: 1n, ino: 1n, size: content.length, mtimeMs: 0 } satisfies FileStat),
    tryLock: refuse,
    close: () => Promise.resolve(),
  }
}

async function judge(content: string | Buffer): Promise<Verdict> {
  const file = memoryFile(Buffer.from(content))
  const scan = await scanLog(file, Buffer.from(content).length)
  return judgeLog(scan, await findRepeats(file, scan))
}

/** The header and batches of records as the store writes them. */
function logOf(...batches: readonly (readonly number[])[]): Buffer {
  const [first = [], ...rest] = batches.map((seqs) => seqs.map((seq) => Buffer.from(record(seq))))
  return Buffer.concat([frameBatch([Buffer.from(headerLine), ...first]), ...rest.map(frameBatch)])
}

describe('framing', () => {
  it('ends lines at byte 0x0A and nowhere else, however the reads fall', async () => {
    const bytes = fc
      .array(fc.oneof(fc.constant(0x0a), fc.constant(0x0d), fc.integer({ min: 0, max: 255 })), { maxLength: 200 })
      .map((list) => Buffer.from(list))
    await fc.assert(
      fc.asyncProperty(bytes, fc.integer({ min: 1, max: 50 }), async (content, maxRead) => {
        const lines: Buffer[] = []
        const starts: number[] = []
        await eachLine(memoryFile(content, maxRead), content.length, (line, start, isTerminated) => {
          lines.push(Buffer.from(isTerminated ? Buffer.concat([line, Buffer.from('\n')]) : line))
          starts.push(start)
        })
        expect(Buffer.concat(lines)).toEqual(content)
        expect(lines.every((line, index) => line.indexOf(0x0a) === line.length - 1 || index === lines.length - 1)).toBe(
          true,
        )
        expect(starts).toEqual(
          lines.map((_, index) => lines.slice(0, index).reduce((sum, { length }) => sum + length, 0)),
        )
      }),
    )
  })

  it('ends the last record of a batch, and no other, with the commit mark', () => {
    expect(frameBatch([Buffer.from('{"a":1}'), Buffer.from('{"b":2}')]).toString()).toBe('{"a":1}\n{"b":2} \n')
  })
})

describe('a damaged line', () => {
  const kinds = (line: string): string[] =>
    splitLine(Buffer.from(line)).map(({ kind, start, end }) => `${kind} ${line.slice(start, end)}`)
  const whole = record(5)

  it('yields a record behind any stub of it, unless the stub may go on with it', () => {
    const payload = whole.indexOf('"data":') + '"data":'.length
    for (let cut = 1; cut < whole.length; cut += 1) {
      const pieces = kinds(whole.slice(0, cut) + whole)
      const isOpenValue = cut >= payload && /[:[]$/.test(whole.slice(0, cut))
      expect(pieces.includes(`whole ${whole}`), whole.slice(0, cut)).toBe(!isOpenValue)
    }
  })

  it('yields two records that stand on it, and one behind NUL bytes', () => {
    expect(kinds(whole + record(6))).toEqual([`whole ${whole}`, `whole ${record(6)}`])
    expect(kinds(`\0\0${whole}`)).toEqual(['nul \0\0', `whole ${whole}`])
    expect(kinds(`${whole.slice(0, 30)}\0${whole}`)).toEqual([`stub ${whole.slice(0, 30)}`, 'nul \0', `whole ${whole}`])
  })

  it('yields nothing for a record that was torn inside its payload, whatever that quotes', () => {
    const quoting = JSON.stringify({ ...said(5), data: { quoted: said(5), list: [said(5)], text: record(5) } })
    for (let cut = 1; cut < quoting.length; cut += 1)
      expect(kinds(quoting.slice(0, cut))).toEqual([`stub ${quoting.slice(0, cut)}`])
  })

  it('is taken apart without gap or overlap, whatever it holds', () => {
    const bit = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      ':',
      ',',
      '\\',
      'u',
      '1',
      'true',
      'nul',
      ' ',
      '\0',
      whole,
      whole.slice(0, 40),
      'é',
    )
    fc.assert(
      fc.property(fc.array(bit, { maxLength: 30 }), (bits) => {
        const bytes = Buffer.from(bits.join(''))
        const pieces = splitLine(bytes)
        expect(pieces.map(({ start }) => start)).toEqual([0, ...pieces.map(({ end }) => end)].slice(0, pieces.length))
        expect(pieces.at(-1)?.end ?? 0).toBe(bytes.length)
        for (const { kind, start, end } of pieces)
          if (kind === 'nul') expect(bytes.subarray(start, end).every((byte) => byte === 0)).toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('harmless noise', () => {
  /** Noise that may stand before record `next`, given that all before it are there. */
  const noise = (next: number): fc.Arbitrary<string> =>
    fc.oneof(
      fc.constantFrom(
        '\n',
        '\r\n',
        ' \n',
        '\0\0\0\n',
        '\0'.repeat(400),
        'garbage\n',
        '{"type":"user/mess\n',
        `${headerLine}\n`,
      ),
      fc.nat({ max: Math.max(0, next - 1) }).map((seq) => (next === 0 ? '\n' : `${record(seq)}\n`)),
      fc.integer({ min: 1, max: 30 }).map((cut) => record(next).slice(0, cut)),
    )

  it('is skipped and reported, and every record is read, while the seqs follow each other', async () => {
    const count = 6
    const noises = fc.tuple(...Array.from({ length: count }, (_, seq) => fc.array(noise(seq), { maxLength: 2 })))
    await fc.assert(
      fc.asyncProperty(noises, fc.boolean(), async (before, isMarked) => {
        const lines = before.map((parts, seq) => {
          // A stub needs its record right behind it: only the last of several noises may be unterminated.
          const [first = '', second = ''] = parts
          const head = first === '' || first.endsWith('\n') || second === '' ? first : `${first}\n`
          return `${head}${second}${record(seq)}${isMarked ? ' ' : ''}\n`
        })
        const verdict = await judge(
          `${headerLine}${isMarked ? ' ' : ''}\n${lines.join('')}${record(count)}${isMarked ? ' ' : ''}\n`,
        )
        expect(verdict).toMatchObject({
          kind: 'good',
          events: saidAll(0, count + 1),
          torn: undefined,
          lacksNewline: false,
        })
        const isClean = before.every((parts) => parts.length === 0)
        expect(verdict.kind === 'good' && verdict.ranges.length === 0).toBe(isClean)
      }),
      { numRuns: 300 },
    )
  })

  it('may be a whole batch that was written twice', async () => {
    const once = frameBatch([2, 3].map((seq) => Buffer.from(record(seq))))
    const verdict = await judge(Buffer.concat([logOf([0, 1], [2, 3]), once, frameBatch([Buffer.from(record(4))])]))
    expect(verdict).toMatchObject({
      kind: 'good',
      events: saidAll(0, 5),
      ranges: [
        { kind: 'repeat', seq: 2 },
        { kind: 'repeat', seq: 3 },
      ],
    })
  })

  it('includes -0, which is read as 0', async () => {
    for (const zero of ['-0', '-0.0', '-0e5', '-1e-999']) {
      const line = record(0).replace('"content"', `"n":[${zero}],"content"`)
      const verdict = await judge(`${headerLine}\n${line}\n`)
      expect(verdict).toMatchObject({ kind: 'good', ranges: [{ kind: 'negative-zero', seq: 0 }] })
      if (verdict.kind === 'good')
        expect(JSON.stringify(verdict.events[0])).toBe(record(0).replace('"content"', '"n":[0],"content"'))
      if (verdict.kind === 'good') expect(verdict.events[0]?.data).toHaveProperty('n', [0])
    }
  })
})

describe('a torn tail', () => {
  it('is what follows the last whole record, for every prefix of a log', async () => {
    const log = logOf([0], [1, 2], [3, 4, 5])
    const ends = [0, 1, 2, 3, 4, 5].map((seq) => log.indexOf(record(seq)) + Buffer.byteLength(record(seq)))
    for (let size = headerLine.length; size <= log.length; size += 1) {
      const verdict = await judge(log.subarray(0, size))
      const count = ends.filter((end) => end <= size).length
      expect(verdict).toMatchObject({
        kind: 'good',
        events: saidAll(0, count),
        lacksNewline:
          size > 0 &&
          log[size - 1] !== 0x0a &&
          (ends.includes(size) || ends.includes(size - 1) || size <= headerLine.length + 1),
      })
    }
  })

  it('begins at the first damage behind the last commit mark, also with good records behind it', async () => {
    const log = Buffer.concat([logOf([0, 1]), Buffer.from(`${record(2)}\n{"type":"use\n${record(4)}\n`)])
    const start = log.indexOf('{"type":"use\n')
    expect(await judge(log)).toMatchObject({ kind: 'good', events: saidAll(0, 3), torn: { start, end: log.length } })
  })

  it('may be a page that a power loss took out of the last batch, whose mark reached the disk', async () => {
    const big = (seq: number): Buffer => Buffer.from(record(seq, 'x'.repeat(3_000)))
    const log = Buffer.concat([logOf([0], [1]), frameBatch([2, 3, 4].map(big))])
    const lost = Buffer.from(log)
    lost.fill(0, 4096, 8192)
    expect(await judge(lost)).toMatchObject({ kind: 'good', torn: { end: log.length } })
    const followed = Buffer.concat([lost, frameBatch([Buffer.from(record(5))])])
    expect(await judge(followed), 'a later batch proves that it was acknowledged').toMatchObject({
      kind: 'corrupt',
      seq: 3,
    })
    const scratched = Buffer.from(log)
    scratched.fill(0, 4_100, 5_000)
    expect(await judge(scratched), 'no page begins or ends there').toMatchObject({ kind: 'corrupt', seq: 3 })
  })

  it('is in a log without marks only what follows the last newline, or the last good record', async () => {
    expect(await judge(`${headerLine}\n${record(0)}\n{"typ`)).toMatchObject({
      kind: 'good',
      events: [said(0)],
      torn: {},
    })
    expect(await judge(`${headerLine}\n${record(0)}\n{"typ\n`)).toMatchObject({
      kind: 'good',
      events: [said(0)],
      torn: {},
    })
    expect(await judge(`${headerLine}\n${record(0)}\n{"typ\n${record(2)}\n`)).toMatchObject({ kind: 'corrupt', seq: 1 })
  })

  it('is a last line that holds a record behind a stub: it is whole or torn, never split', async () => {
    const line = record(1).slice(0, 30) + record(1)
    expect(await judge(Buffer.concat([logOf([0]), Buffer.from(line)]))).toMatchObject({
      kind: 'good',
      events: [said(0)],
      torn: {},
    })
    expect(
      await judge(Buffer.concat([logOf([0]), Buffer.from(`${line}\n`)])),
      'no next record continues from it',
    ).toMatchObject({ kind: 'good', events: [said(0)], torn: {} })
  })
})

describe('a whole last record without its newline', () => {
  it.each([1, 3, 9])('that does not continue the log (seq %i after 1) is a torn tail', async (seq) => {
    const log = logOf([0], [1])
    const verdict = await judge(Buffer.concat([log, Buffer.from(record(seq, 'other'))]))
    expect(verdict).toMatchObject({
      kind: 'good',
      events: saidAll(0, 2),
      torn: { start: log.length },
      lacksNewline: false,
    })
  })
})

describe('a torn line that begins with a record read before', () => {
  it.each(['', '\n'])('is taken out whole, so that what is left ends in a newline (ending %j)', async (ending) => {
    const log = logOf([0], [1])
    const verdict = await judge(Buffer.concat([log, Buffer.from(record(1) + record(2).slice(0, 20) + ending)]))
    expect(verdict).toMatchObject({ kind: 'good', events: saidAll(0, 2), torn: { start: log.length } })
  })
})

describe('corruption', () => {
  it('is any acknowledged record that is missing', async () => {
    const log = logOf([0], [1, 2], [3], [4, 5]).toString()
    for (const seq of [0, 1, 2, 3, 4]) {
      const [line = ''] = log.split('\n').filter((each) => each.startsWith(record(seq)))
      const verdict = await judge(log.replace(`${line}\n`, ''))
      expect(verdict).toMatchObject({
        kind: 'corrupt',
        seq,
        what: `seq ${seq} is missing, ${seq === 0 ? 'the log begins with 1' : `${seq + 1} follows ${seq - 1}`}`,
      })
    }
  })

  it('is an acknowledged record that cannot be read, the last one too', async () => {
    const log = logOf([0], [1], [2]).toString()
    for (const seq of [0, 1, 2]) {
      const start = log.indexOf(record(seq))
      const verdict = await judge(log.slice(0, start) + log.slice(start).replace('"seq"', '"sex"'))
      expect(verdict).toMatchObject({ kind: 'corrupt', seq, start, line: seq + 2 })
    }
  })

  it('is a seq that is there twice with different content', async () => {
    const other = frameBatch([Buffer.from(record(1, 'other'))])
    expect(await judge(Buffer.concat([logOf([0], [1], [2]), other]))).toMatchObject({
      kind: 'corrupt',
      seq: 1,
      line: 5,
      what: 'seq 1 is there twice with different content',
    })
  })

  it('is a changed byte in a string that is no UTF-8 any more', async () => {
    const log = logOf([0], [1])
    log[log.indexOf('m0')] = 0xff
    expect(await judge(log)).toMatchObject({ kind: 'corrupt', seq: 0 })
  })
})

describe('an empty log', () => {
  it('is one whose header line is torn and that holds no event', async () => {
    for (const content of ['', headerLine.slice(0, 20), '\0\0\0\0', `${headerLine.slice(0, 20)}\n`])
      expect(await judge(content)).toEqual({ kind: 'empty' })
    expect(await judge(`${headerLine.slice(0, 20)}\n${record(0)}\n`)).toMatchObject({
      kind: 'corrupt',
      line: 1,
      seq: undefined,
    })
    expect(await judge(headerLine)).toMatchObject({ kind: 'good', events: [], lacksNewline: true })
  })
})

describe('foreign line ends', () => {
  it('are tolerated, a byte order mark too', async () => {
    expect(await judge(`\ufeff${headerLine}\r\n${record(0)}\r\n${record(1)}\r\n`)).toMatchObject({
      kind: 'good',
      events: saidAll(0, 2),
      ranges: [],
    })
  })
})
