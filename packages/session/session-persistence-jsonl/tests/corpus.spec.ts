import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import {
  Session,
  SessionStore,
  sessionId,
  sessionSeq,
  stringifyEvent,
  stringifyHeader,
  type SessionEvent,
} from '@palimpsest/session'
import { persistSession, type SessionStat } from '@palimpsest/session-persistence'
import { spyFileSystem } from '@palimpsest/testkit'
import { describe, expect, it } from 'vitest'
import { jsonlPersistence, nodeFileSystem, readDamagedLog } from '../src/index.ts'
import { bytesOf, headerLine, headerOf, id, logPath, plant, record, said, saidAll, scratch } from './support.ts'

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

async function eventsIn(root: string): Promise<readonly SessionEvent[]> {
  const store = jsonlPersistence({ root })
  const handle = await store.open(id, 'read')
  await store.close()
  return handle.stored.events
}

/** Opens for write, appends one event after what is there, and closes. */
async function goOn(root: string): Promise<number> {
  const store = jsonlPersistence({ root })
  const handle = await store.open(id, 'write')
  const seq = handle.nextSeq
  await handle.append([said(seq, 'appended')])
  await store.close()
  return seq
}

describe('DU-01: resuming is free', () => {
  it('five open and close cycles leave the same bytes, after a crash too', async () => {
    const root = scratch()
    plant(
      root,
      `${headerLine}\n${record(0)}\n{"type":"turn/start","seq":1,"time":1001,"data":{"turn":1}}\n{"type":"use`,
    )
    const digests = new Set<string>()
    for (let cycle = 0; cycle < 5; cycle += 1) {
      const store = jsonlPersistence({ root })
      const handle = await store.open(id, 'write')
      expect(handle.stored.recovered.closers).toEqual(cycle === 0 ? [2] : [])
      await store.close()
      digests.add(sha256(bytesOf(root)))
    }
    expect(digests.size).toBe(1)
  })
})

describe('DU-05: forking right after a resume', () => {
  it('writes nothing to the parent, and the child holds what it inherited once', async () => {
    const root = scratch()
    plant(root, `${headerLine}\n${record(0)}\n${record(1)}\n`)
    const before = sha256(bytesOf(root))
    const store = jsonlPersistence({ root })
    const handle = await store.open(id, 'write')
    const live = new SessionStore()
    const parent = live.restore(handle.stored)
    const persisted = persistSession(parent, handle)
    const child = live.fork(parent)
    const written = persistSession(child, await store.create(child.header))
    await written.close()
    await persisted.close()
    expect(sha256(bytesOf(root))).toBe(before)
    const again = await store.open(child.id, 'read')
    expect(again.stored.events).toEqual(child.events)
    expect(again.stored.events.map(({ type }) => type)).toEqual(['user/message', 'user/message', 'session/end-seed'])
    await store.close()
  })
})

describe('OC-02: a crash between two results of a batch', () => {
  it('closes the open call once, durably, and keeps the answered one', async () => {
    const root = scratch()
    const call = (callId: string): string => `{"type":"tool-call","id":"${callId}","name":"run","arguments":"{}"}`
    const result = `{"id":"t1","role":"user","content":[{"type":"tool-result","toolCallId":"a","content":[{"type":"text","text":"done"}]}],"source":{"kind":"tool","callId":"a"}}`
    const lines = [
      record(0),
      `{"type":"assistant/message","seq":1,"time":1001,"surfaceOp":"append","data":{"turn":1,"step":1,"message":{"id":"a1","role":"assistant","content":[${call('a')},${call('b')}],"source":{"kind":"model","provider":"p","model":"m"}},"stream":[]}}`,
      `{"type":"tool/result","seq":2,"time":1002,"surfaceOp":"append","data":{"turn":1,"step":1,"message":${result}}}`,
    ]
    plant(root, `${headerLine}\n${lines.join('\n')}\n`)
    const store = jsonlPersistence({ root })
    const first = await store.open(id, 'write')
    expect(first.stored.events).toHaveLength(4)
    expect(first.stored.events[3]).toMatchObject({
      type: 'tool/result',
      data: { message: { source: { callId: 'b' }, content: [{ isError: true }] } },
    })
    await first.close()
    const after = sha256(bytesOf(root))
    const second = await store.open(id, 'write')
    const messages = Session.restore(second.stored).deriveMessages()
    expect(messages.map(({ source }) => (source.kind === 'tool' ? source['callId'] : source.kind))).toEqual([
      'user',
      'model',
      'a',
      'b',
    ])
    await store.close()
    expect(sha256(bytesOf(root))).toBe(after)
  })
})

describe('CW-04: records that were cut off or share a line', () => {
  it.each([
    ['a stub in front of the whole record', (seq: number) => record(seq).slice(0, 40) + record(seq)],
    ['two stubs in front of it', (seq: number) => record(seq).slice(0, 12) + record(seq).slice(0, 60) + record(seq)],
    [
      'a stub that ends inside a string',
      (seq: number) => record(seq).slice(0, record(seq).indexOf('m1') + 1) + record(seq),
    ],
  ])('%s: read, reported, and the next record follows', async (_, glued) => {
    const root = scratch()
    plant(root, `${headerLine}\n${record(0)}\n${glued(1)}\n${record(2)}\n`)
    expect(await eventsIn(root)).toEqual(saidAll(0, 3))
    expect(await goOn(root)).toBe(3)
  })

  it('two whole records on one line are both read', async () => {
    const root = scratch()
    plant(root, `${headerLine}\n${record(0)}${record(1)}\n${record(2)}\n`)
    expect(await eventsIn(root)).toEqual(saidAll(0, 3))
  })

  it('salvage sees every part of such a file, and both branches of a seq', async () => {
    const root = scratch()
    const content = `${headerLine}\n${record(0)}\n${record(1).slice(0, 30)}${record(1)}\n\0\0${record(2)}\n\n${record(1)}\n${record(2, 'other')}\n${record(4)}`
    plant(root, content)
    const { parts, size, corruption, header } = await readDamagedLog({ root, id })
    expect(header).toMatchObject({ id })
    expect(size).toBe(Buffer.byteLength(content))
    expect(parts.map(({ start }) => start)).toEqual([0, ...parts.map(({ end }) => end)].slice(0, parts.length))
    expect(parts.at(-1)?.end).toBe(size)
    expect(
      parts.map((part) => (part.kind === 'record' ? `${part.event.seq}${part.isRepeat ? ' again' : ''}` : part.kind)),
    ).toEqual(['header', '0', 'stub', '1', 'nul', '2', 'blank', '1 again', '2', '4'])
    expect(corruption).toMatchObject({ code: 'session/corrupt', seq: 2, path: '_/a/session.v3.jsonl' })
    expect(bytesOf(root).toString()).toBe(content)
  })
})

describe('NU-01: NUL bytes in the middle of a log', () => {
  it('every record is read, one range is reported, and the listing agrees', async () => {
    const root = scratch()
    const lines = saidAll(0, 91).map(({ seq }) => `${seq === 51 ? '\0'.repeat(400) : ''}${record(seq)}\n`)
    plant(root, `${headerLine}\n${lines.join('')}`)
    const store = jsonlPersistence({ root })
    const handle = await store.open(id, 'read')
    expect(handle.stored.events).toEqual(saidAll(0, 91))
    expect(handle.stored.recovered.ranges).toHaveLength(1)
    expect(handle.stored.recovered.ranges).toMatchObject([{ kind: 'nul' }])
    expect(await store.stat(id)).toMatchObject({ eventCount: 91 })
    await store.close()
  })
})

describe('NU-03: a hole of zeros of a mebibyte', () => {
  it('is skipped and reported, however long the line with it is', async () => {
    const root = scratch()
    const hole = 1024 * 1024
    plant(root, `${headerLine}\n${record(0)}\n${'\0'.repeat(hole)}${record(1)}\n${record(2)}\n`)
    const store = jsonlPersistence({ root })
    const handle = await store.open(id, 'read')
    expect(handle.stored.events).toEqual(saidAll(0, 3))
    const start = headerLine.length + 1 + record(0).length + 1
    expect(handle.stored.recovered.ranges).toEqual([{ kind: 'nul', start, end: start + hole }])
    expect(await store.stat(id)).toMatchObject({ eventCount: 3, firstPrompt: 'm0' })
    await store.close()
  })
})

describe('SZ-04: a record of 12 MB', () => {
  it('is read like any other, and so is what follows it', async () => {
    const root = scratch()
    const long = 'x'.repeat(12 * 1024 * 1024)
    plant(root, `${headerLine}\n${record(0)}\n${record(1, long)}\n${record(2)}\n`)
    const events = await eventsIn(root)
    expect(events.map(({ seq }) => seq)).toEqual([0, 1, 2])
    expect(stringifyEvent(events[1] as SessionEvent)).toBe(record(1, long))
    expect(await goOn(root)).toBe(3)
  })
})

describe('CW-05: a restart in place, under the process id of before', () => {
  it('takes over at once: a claim is the lock of a process that lives, whatever the owner file says', async () => {
    const root = scratch()
    plant(root, `${headerLine}\n${record(0)}\n`)
    const directory = dirname(logPath(root))
    const store = jsonlPersistence({ root })
    await store.open(id, 'write')
    const owner = readFileSync(join(directory, 'session.owner'))
    expect(JSON.parse(owner.toString())).toMatchObject({ kind: 'kernel', pid: process.pid })
    await store.close()
    writeFileSync(join(directory, 'session.owner'), owner)
    writeFileSync(join(directory, 'session.lock'), '')
    expect(await goOn(root)).toBe(1)
  })
})

describe('TT-01: killed while appending', () => {
  it('wherever in the record: what is whole stays, what is torn is kept aside, and the next append lands', async () => {
    const second = record(1)
    // Every byte of such a record is cut in fault/torn-tail.spec.ts.
    const cuts = Array.from({ length: Math.ceil(second.length / 3) }, (_, third) => third * 3)
    for (const cut of [...cuts, second.length - 1, second.length]) {
      const root = scratch()
      plant(root, `${headerLine}\n${record(0)}\n${second.slice(0, cut)}`)
      const whole = cut >= second.length ? 2 : 1
      expect(await eventsIn(root)).toEqual(saidAll(0, whole))
      expect(await goOn(root)).toBe(whole)
      expect(await eventsIn(root)).toEqual([...saidAll(0, whole), said(whole, 'appended')])
      const recovered = join(root, '_', 'a', 'recovered')
      const torn = whole === 2 || cut === 0 ? [] : [second.slice(0, cut)]
      expect(
        torn.length === 0 ? [] : readdirSync(recovered).map((name) => readFileSync(join(recovered, name), 'utf8')),
      ).toEqual(torn)
    }
  })

  it('the report names the bytes, and a read open changes nothing', async () => {
    const root = scratch()
    const sound = `${headerLine}\n${record(0)}\n`
    const log = plant(root, `${sound}{"type":"user`)
    const store = jsonlPersistence({ root })
    const reader = await store.open(id, 'read')
    expect(reader.stored.recovered.ranges).toEqual([{ kind: 'torn', start: sound.length, end: sound.length + 13 }])
    expect(readFileSync(log, 'utf8')).toBe(`${sound}{"type":"user`)
    expect(readdirSync(join(root, '_', 'a'))).toEqual(['session.v3.jsonl'])
    const writer = await store.open(id, 'write')
    const [range] = writer.stored.recovered.ranges
    expect(range).toMatchObject({ kind: 'torn', start: sound.length, end: sound.length + 13 })
    expect(readFileSync(join(root, '_', 'a', range?.movedTo ?? ''), 'utf8')).toBe('{"type":"user')
    expect(readFileSync(log, 'utf8')).toBe(sound)
    await store.close()
  })
})

describe('EN-01: every line separator of Unicode', () => {
  const separators = [
    '\u2028',
    '\u2029',
    '\u0085',
    '\u000b',
    '\u000c',
    '\u000d',
    '\u000a',
    '\u001c',
    '\u001d',
    '\u001e',
  ]

  /** An event that holds `text` in every string that it has: keys, ids, payloads, nested values. */
  function everywhere(seq: number, text: string): SessionEvent {
    const data = { [text]: text, list: [text, { [text]: [text] }] }
    return { type: `x/${text}`, seq: sessionSeq(seq), time: 1, ignorable: true, data } as unknown as SessionEvent
  }

  it('round-trips in every string slot, and raw ones of foreign writers are read', async () => {
    const root = scratch()
    const events = [
      ...separators.map((separator, seq) => everywhere(seq, `x${separator}y`)),
      everywhere(separators.length, separators.join('')),
    ]
    const store = jsonlPersistence({ root })
    const header = headerOf({ cwd: `/w${separators.join('')}`, agentPreset: separators.join('') })
    const handle = await store.create(header)
    for (const event of events) await handle.append([event])
    const reader = await store.open(id, 'read')
    expect(reader.stored.events).toEqual(events)
    expect(reader.header).toEqual(header)
    await store.close()

    const foreign = scratch()
    plant(foreign, `${headerLine}\n${record(0, 'x\u2028y\u2029z\u0085w')}\n${record(1)}\n`)
    expect(await eventsIn(foreign)).toEqual([said(0, 'x\u2028y\u2029z\u0085w'), said(1)])
  })

  it('no reader here knows any other line end', () => {
    const sources = join(import.meta.dirname, '..', 'src')
    for (const name of readdirSync(sources))
      expect(readFileSync(join(sources, name), 'utf8'), name).not.toMatch(/node:readline|\.split\(\/\\r/)
  })
})

describe('FV-01: a log of a newer version', () => {
  it('is refused for read and write, and stays as it is', async () => {
    const root = scratch()
    const content = `${stringifyHeader({ ...headerOf(), version: 4 as 3 })}\n{"what":"ever"}\n{"type":"torn`
    plant(root, content)
    const store = jsonlPersistence({ root })
    for (const mode of ['read', 'write'] as const) {
      await expect(store.open(id, mode)).rejects.toMatchObject({
        code: 'header/newer-version',
        message: expect.stringContaining('written by a newer version: upgrade') as string,
      })
    }
    await expect(store.create(headerOf())).rejects.toMatchObject({ code: 'session/exists' })
    await expect(readDamagedLog({ root, id })).rejects.toMatchObject({ code: 'header/newer-version' })
    await store.close()
    expect(bytesOf(root).toString()).toBe(content)
  })

  it('unknown event types of a known version are kept', async () => {
    const root = scratch()
    const unknown = { type: 'later/idea', seq: 1, time: 1, data: { a: 1 } } as unknown as SessionEvent
    plant(root, `${headerLine}\n${record(0)}\n${stringifyEvent(unknown)}\n`)
    expect(await goOn(root)).toBe(2)
    expect((await eventsIn(root))[1]).toEqual(unknown)
  })
})

describe('PS-01: hostile ids and links', () => {
  const hostile = [
    '../../x',
    '/etc/x',
    'a/../../b',
    '..\\x',
    'x\0',
    '..',
    '.',
    '~',
    'C:\\x',
    '\\\\host\\share',
    'con',
    'a'.repeat(10_000),
    '\ud800',
    'a\nb',
  ]

  it('no call leaves the root, whatever the id', async () => {
    const root = scratch()
    const { fileSystem, calls } = spyFileSystem(nodeFileSystem)
    const store = jsonlPersistence({ root, fileSystem })
    for (const each of hostile) {
      const name = sessionId(each)
      const handle = await store.create(headerOf({ id: name }))
      await store.attachments(name).put(new Uint8Array([1]), { mediaType: 'x/y' })
      await handle.append([said(0)])
      await handle.close()
      await (await store.open(name, 'write')).close()
      await store.stat(name)
      await store.delete(name)
    }
    await store.close()
    expect(calls.length).toBeGreaterThan(100)
    for (const { operation, path, target } of calls) {
      // The root's own name is made durable, whatever the id.
      if (operation === 'syncDirectory' && path === dirname(root)) continue
      for (const each of [path, target ?? root]) expect(each === root || each.startsWith(root + sep), each).toBe(true)
    }
  })

  it('symbolic links below the root are not followed', async () => {
    const outside = scratch()
    writeFileSync(join(outside, 'session.v3.jsonl'), `${headerLine}\n${record(0)}\n`)
    const [asProject, asSession, asLog] = [scratch(), scratch(), scratch()]
    mkdirSync(join(outside, 'a'))
    writeFileSync(join(outside, 'a', 'session.v3.jsonl'), `${headerLine}\n${record(0)}\n`)
    symlinkSync(outside, join(asProject, '_'))
    mkdirSync(join(asSession, '_'))
    symlinkSync(outside, join(asSession, '_', 'a'))
    mkdirSync(join(asLog, '_', 'a'), { recursive: true })
    symlinkSync(join(outside, 'session.v3.jsonl'), logPath(asLog))
    for (const root of [asProject, asSession, asLog]) {
      const store = jsonlPersistence({ root })
      for (const mode of ['read', 'write'] as const)
        await expect(store.open(id, mode)).rejects.toMatchObject({
          code: root === asProject ? 'session/not-found' : 'path/unsafe',
        })
      await expect(store.create(headerOf())).rejects.toMatchObject({ code: 'path/unsafe' })
      const listed: SessionStat[] = []
      for await (const stat of store.list()) listed.push(stat)
      expect(listed).toEqual([])
      await store.close()
    }
    expect(readdirSync(outside).sort()).toEqual(['a', 'session.v3.jsonl'])
    expect(readdirSync(join(outside, 'a'))).toEqual(['session.v3.jsonl'])
  })

  it('directories are 0700 and files 0600', async () => {
    const root = join(scratch(), 'made', 'by', 'us')
    const store = jsonlPersistence({ root })
    const handle = await store.create(headerOf())
    await store.attachments(id).put(new Uint8Array([1]), { mediaType: 'x/y' })
    await handle.append([said(0)])
    await handle.close()
    writeFileSync(logPath(root), '{"torn', { flag: 'a' })
    await store.open(id, 'write')
    const paths = ['.', ...(readdirSync(root, { recursive: true }) as string[])]
    expect(paths.map((path) => path.split(sep).at(-1))).toEqual(
      expect.arrayContaining(['session.v3.jsonl', 'session.lock', 'session.owner', 'recovered', 'attachments']),
    )
    for (const path of paths) {
      const stat = lstatSync(join(root, path))
      expect((stat.mode & 0o777).toString(8), path).toBe(stat.isDirectory() ? '700' : '600')
    }
    await store.close()
  })
})
