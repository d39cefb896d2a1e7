import { readFileSync, writeFileSync } from 'node:fs'
import type { SessionEvent } from '@palimpsest/session'
import { beforeEach, describe, expect, it } from 'vitest'
import { scratch } from './scratch.ts'
import {
  brief,
  fingerprint,
  id,
  isClean,
  logOf,
  openStore,
  readAll,
  recoveredBytes,
  said,
  saidAll,
  writeSession,
} from './support.ts'

const place = scratch()
let root: string

beforeEach(async () => {
  root = place.fresh()
  await writeSession(root, [[said(0)], [said(1)], [said(2)]])
})

/** Rewrites the log; lines come without their newline, header first. */
function rewrite(change: (lines: readonly string[]) => string | Buffer): Buffer {
  const log = logOf(root)
  const changed = change(
    readFileSync(log, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => line.trimEnd()),
  )
  writeFileSync(log, changed)
  return Buffer.from(changed)
}

/** Reads without a change, opens for write, appends, and finds everything again. */
async function survives(events: readonly SessionEvent[], torn: Buffer = Buffer.alloc(0)): Promise<void> {
  const before = fingerprint(root)
  const read = await readAll(root)
  expect(read.events).toEqual(events)
  expect(fingerprint(root)).toEqual(before)
  const store = openStore(root)
  const handle = await store.open(id, 'write')
  expect(handle.stored.events).toEqual(events)
  expect(recoveredBytes(root)).toEqual(torn.length === 0 ? [] : [torn])
  await handle.append([said(events.length)])
  await handle.close()
  await store.close()
  expect((await readAll(root)).events).toEqual([...events, said(events.length)])
}

const nul = (count: number): string => '\0'.repeat(count)

describe('NUL runs', () => {
  it.each([1, 511, 512, 4096, 10_000])('%i of them after the last record are a torn tail', async (count) => {
    rewrite((lines) => `${lines.join(' \n')} \n${nul(count)}`)
    await survives(saidAll(0, 3), Buffer.alloc(count))
  })

  it.each([1, 4096])(
    '%i of them in the place of an unacknowledged record, a whole one behind them, are a torn tail',
    async (count) => {
      const lost = `${nul(count)}\n${JSON.stringify(said(4))}\n`
      rewrite((lines) => `${lines.join(' \n')} \n${lost}`)
      await survives(saidAll(0, 3), Buffer.from(lost))
    },
  )

  it.each([1, 512, 4096])('%i of them between records or glued in front of one are harmless', async (count) => {
    rewrite(
      ([header, ...records]) =>
        `${header} \n${records[0]} \n${nul(count)}\n${records[1]} \n${nul(count)}${records[2]} \n`,
    )
    await survives(saidAll(0, 3))
    expect(isClean((await readAll(root)).recovered)).toBe(false)
  })

  it('in the place of an acknowledged record they are corruption, and nothing is changed', async () => {
    rewrite(
      ([header, first, second, third]) =>
        `${header} \n${first} \n${nul(Buffer.byteLength(second ?? ''))} \n${third} \n`,
    )
    const before = fingerprint(root)
    const store = openStore(root)
    for (const mode of ['read', 'write'] as const)
      await expect(store.open(id, mode)).rejects.toMatchObject({ name: 'SessionCorruptionError' })
    await store.close()
    // A refused write open may leave its own lock and owner files, and nothing else.
    const log = Object.entries(fingerprint(root)).filter(([path]) => !/session\.(lock|owner)$/.test(path))
    expect(log).toEqual(Object.entries(before).filter(([path]) => !/session\.(lock|owner)$/.test(path)))
  })
})

describe('files of foreign writers', () => {
  it('a byte order mark is tolerated', async () => {
    rewrite((lines) => `\ufeff${lines.join(' \n')} \n`)
    await survives(saidAll(0, 3))
  })

  it.each([[' \r\n'], ['\r\n']])('line ends %j are tolerated', async (end) => {
    rewrite((lines) => `${lines.join(end)}${end}`)
    await survives(saidAll(0, 3))
  })

  it('a byte order mark with carriage returns and no last line end is tolerated', async () => {
    rewrite((lines) => `\ufeff${lines.join('\r\n')}`)
    await survives(saidAll(0, 3))
  })

  it('half a UTF-8 sequence at the end is a torn tail', async () => {
    const tail = Buffer.concat([
      Buffer.from('{"type":"user/message","seq":3,"time":1,"data":"'),
      Buffer.from('😀').subarray(0, 2),
    ])
    rewrite((lines) => Buffer.concat([Buffer.from(`${lines.join('\n')}\n`), tail]))
    await survives(saidAll(0, 3), tail)
  })
})

describe('characters that other readers take for line ends, or cannot encode', () => {
  it.each([
    ['U+2028 and U+2029', 'a\u2028b\u2029c'],
    ['U+0085, vertical tab and form feed', 'a\u0085b\u000bc\u000cd'],
    ['lone surrogates', '\ud800 \udc00 \udfff\ud800'],
    ['NUL and other controls', '\0\u0001\u001f\u007f'],
    ['a byte order mark inside', '\ufeffx\ufeff'],
    ['newlines and carriage returns', 'a\nb\r\nc\r'],
    ['the commit mark', '} \n{ \n'],
  ])('%s survive inside a record', async (_, text) => {
    const store = openStore(root)
    const handle = await store.open(id, 'write')
    await handle.append([said(3, text)])
    await handle.close()
    await store.close()
    expect(readFileSync(logOf(root)).filter((byte) => byte === 0x0a)).toHaveLength(5)
    await survives([...saidAll(0, 3), said(3, text)])
  })

  it('U+2028 written raw by a foreign writer does not end a record', async () => {
    rewrite((lines) => `${lines.join('\n')}\n${JSON.stringify(said(3, 'X')).replace('X', 'a\u2028b\u2029c')}\n`)
    await survives([...saidAll(0, 3), said(3, 'a\u2028b\u2029c')])
  })
})

describe('a record torn inside its payload', () => {
  /** An event whose payload holds another one, as an object and as text, with the seq that a reader waits for. */
  const outer = JSON.stringify({ ...brief(3), data: { a: brief(3), b: [brief(3), JSON.stringify(brief(3))] } })

  /** May end inside a character. */
  const torn = (cut: number): Buffer => Buffer.from(outer).subarray(0, cut)

  it.each([
    ['ends the log', ''],
    ['is followed by the next record, acknowledged', `${JSON.stringify(said(4))} \n`],
    ['is followed by the next record, never acknowledged', `${JSON.stringify(said(4))}\n`],
  ])('never yields the event quoted there, wherever it is torn, when it %s', async (_, rest) => {
    const log = logOf(root)
    const whole = readFileSync(log)
    for (let cut = 1; cut < Buffer.byteLength(outer); cut += 1) {
      writeFileSync(log, Buffer.concat([whole, torn(cut), Buffer.from(`\n${rest}`)]))
      const events = await readAll(root).then(
        (read) => read.events,
        (cause: unknown) => (cause as Error).name,
      )
      expect(events, `cut at ${cut}`).toEqual(rest.endsWith(' \n') ? 'SessionCorruptionError' : saidAll(0, 3))
    }
  })

  it('glued in front of the whole record: that one is read, and what it quotes is not', async () => {
    const log = logOf(root)
    const whole = readFileSync(log)
    const next = `${JSON.stringify(said(3))} \n${JSON.stringify(said(4))} \n`
    let read = 0
    for (let cut = 1; cut < Buffer.byteLength(outer); cut += 1) {
      writeFileSync(log, Buffer.concat([whole, torn(cut), Buffer.from(next)]))
      const events = await readAll(root).then(
        (opened) => opened.events,
        () => undefined,
      )
      // Where the joint reads as one JSON text both are lost; never is another event read.
      if (events === undefined) continue
      expect(events, `cut at ${cut}`).toEqual(saidAll(0, 5))
      read += 1
    }
    expect(read).toBeGreaterThan(outer.length / 2)
  })
})
