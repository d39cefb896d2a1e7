import { readFileSync } from 'node:fs'
import type { SessionEvent } from '@palimpsest/session'
import { PersistenceError, type SessionHandle, type SessionPersistence } from '@palimpsest/session-persistence'
import { faultFileSystem, layerFileSystem, spyFileSystem, type Fault, type FaultFileSystem } from '@palimpsest/testkit'
import { beforeEach, describe, expect, it } from 'vitest'
import { nodeFileSystem, type FileSystem } from '../../src/index.ts'
import { scratch } from './scratch.ts'
import {
  brief,
  headerOf,
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
let faults: FaultFileSystem<FileSystem>

beforeEach(() => {
  root = place.fresh()
  faults = faultFileSystem(nodeFileSystem)
})

const isLog = (path: string): boolean => path.endsWith('session.v3.jsonl')

/** The log holds exactly these events: one whole record a line, no gap, nothing fused, nothing to recover. */
async function expectLog(events: readonly SessionEvent[]): Promise<void> {
  const lines = readFileSync(logOf(root), 'utf8').split('\n')
  expect(lines.pop()).toBe('')
  expect(lines.slice(1).map((line) => JSON.parse(line) as SessionEvent)).toEqual(events)
  const read = await readAll(root)
  expect(read.events).toEqual(events)
  expect(isClean(read.recovered)).toBe(true)
  expect(recoveredBytes(root)).toEqual([])
}

async function opened(): Promise<{ store: SessionPersistence; handle: SessionHandle }> {
  await writeSession(root, [saidAll(0, 2)])
  const store = openStore(root, faults.fileSystem)
  return { store, handle: await store.open(id, 'write') }
}

/** Length in bytes of what the store writes for a batch. */
async function batchLength(batch: readonly SessionEvent[]): Promise<number> {
  const elsewhere = place.fresh()
  await writeSession(elsewhere, [saidAll(0, 2)])
  const before = readFileSync(logOf(elsewhere)).length
  const store = openStore(elsewhere)
  const handle = await store.open(id, 'write')
  await handle.append(batch)
  await handle.close()
  await store.close()
  return readFileSync(logOf(elsewhere)).length - before
}

describe('a batch that could not be written', () => {
  it.each([undefined, 'ENOSPC'])(
    'for every k: k of n bytes written, then %s: it fails or is whole, and the retry is exact',
    async (code) => {
      const batch = [brief(2), brief(3)]
      const length = await batchLength(batch)
      const { store, handle } = await opened()
      let next = 2
      for (let k = 0; k < length; k += 1) {
        const events = [brief(next), brief(next + 1)]
        const fault = faults.inject({
          operation: 'write',
          path: isLog,
          bytes: k,
          times: 1,
          ...(code === undefined ? {} : { code }),
        })
        const first = await handle.append(events).then(
          () => 'whole',
          () => 'failed',
        )
        expect(fault.struck).toBe(1)
        if (code !== undefined) expect(first).toBe('failed')
        if (first === 'failed') {
          expect(handle.status).toBe('degraded')
          expect((await readAll(root)).events).toHaveLength(next)
          await handle.append(events)
        }
        expect(handle.status).toBe('ok')
        next += 2
      }
      await handle.close()
      await store.close()
      await expectLog(Array.from({ length: next }, (_, seq) => (seq < 2 ? said(seq) : brief(seq))))
    },
  )

  const healing: readonly (readonly [string, Fault])[] = [
    ['ENOSPC on write', { operation: 'write', path: isLog, code: 'ENOSPC' }],
    ['EACCES on write', { operation: 'write', path: isLog, code: 'EACCES' }],
    ['EIO on fdatasync', { operation: ['datasync', 'sync'], path: isLog, code: 'EIO' }],
    [
      'EIO on fdatasync after the bytes reached the disk',
      { operation: ['datasync', 'sync'], path: isLog, code: 'EIO', happens: true },
    ],
  ]
  it.each(healing)(
    '%s: each append fails visibly while it lasts, queued ones too, and all go through in order after',
    async (_, fault) => {
      const { store, handle } = await opened()
      const active = faults.inject(fault)
      const failed = await Promise.allSettled([
        handle.append([said(2)]),
        handle.append([said(3)]),
        handle.append([said(4)]),
      ])
      expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
      expect(active.struck).toBeGreaterThan(0)
      expect(handle.status).toBe('degraded')
      await expect(handle.append([said(2)])).rejects.toThrow()
      active.heal()
      await Promise.all([handle.append([said(2)]), handle.append([said(3), said(4)])])
      expect(handle.status).toBe('ok')
      await handle.close()
      await store.close()
      await expectLog(saidAll(0, 5))
    },
  )

  it('appends that queue behind one that fails are refused with it, and none of them is written', async () => {
    await writeSession(root, [saidAll(0, 2)])
    const behind: Promise<void>[] = []
    const layered = layerFileSystem(faults.fileSystem, (call, proceed) => {
      // The write is under way: these do not join it.
      if (call.operation === 'write' && isLog(call.path) && behind.length === 0)
        behind.push(handle.append([said(3)]), handle.append([said(4)]))
      return proceed()
    })
    const store = openStore(root, layered)
    const handle = await store.open(id, 'write')
    const fault = faults.inject({ operation: 'datasync', path: isLog, code: 'EIO', times: 1 })
    await expect(handle.append([said(2)])).rejects.toMatchObject({ cause: { code: 'EIO' } })
    expect((await Promise.allSettled(behind)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(fault.struck).toBe(1)
    expect(handle.nextSeq).toBe(2)
    await handle.append(saidAll(2, 3))
    await handle.close()
    await store.close()
    await expectLog(saidAll(0, 5))
  })

  it('EIO on fdatasync: the batch is written again, because the kernel may have dropped its pages', async () => {
    const spied = spyFileSystem(faults.fileSystem)
    await writeSession(root, [saidAll(0, 2)])
    const store = openStore(root, spied.fileSystem)
    const handle = await store.open(id, 'write')
    const fault = faults.inject({ operation: ['datasync', 'sync'], path: isLog, code: 'EIO', times: 1 })
    await expect(handle.append([said(2)])).rejects.toThrow()
    expect(fault.struck).toBe(1)
    spied.calls.length = 0
    await handle.append([said(2)])
    const written = spied.calls.filter(({ operation, path }) => operation === 'write' && isLog(path))
    expect(written.map(({ args }) => args[2])).toEqual([await batchLength([said(2)])])
    await handle.close()
    await store.close()
    await expectLog(saidAll(0, 3))
  })

  it('EIO on truncate after a short write: the handle is poisoned and says so; the session opens again for write', async () => {
    const { store, handle } = await opened()
    faults.inject({ operation: 'write', path: isLog, bytes: 20, code: 'ENOSPC', times: 1 })
    const stuck = faults.inject({ operation: 'truncate', path: isLog, code: 'EIO' })
    await expect(handle.append([said(2)])).rejects.toThrow()
    expect(stuck.struck).toBeGreaterThan(0)
    expect(handle.status).toBe('poisoned')
    await expect(handle.append([said(2)])).rejects.toThrow()
    await expect(handle.flush()).rejects.toThrow()
    stuck.heal()
    await expect(handle.append([said(2)])).rejects.toThrow()
    await handle.close()

    const next = await store.open(id, 'write')
    expect(next.stored.events).toEqual(saidAll(0, 2))
    await next.append([said(2)])
    await next.close()
    await store.close()
    expect((await readAll(root)).events).toEqual(saidAll(0, 3))
  })
})

/** Creates a session and appends to it, each append tried until it holds or the handle gives up; then goes on with a fresh one. */
async function stubborn(store: SessionPersistence, acknowledged: (length: number) => void): Promise<void> {
  let handle: SessionHandle | undefined
  for (let next = 0, tries = 0; next < 4; tries += 1) {
    expect(tries).toBeLessThan(20)
    try {
      handle ??=
        next === 0 && (await store.stat(id)) === undefined
          ? await store.create(headerOf())
          : await store.open(id, 'write')
      next = Math.max(next, handle.stored.events.length)
      await handle.append(saidAll(next, 2))
      next += 2
      acknowledged(next)
    } catch (cause) {
      expect(cause).toBeInstanceOf(PersistenceError)
      if (handle?.status === 'poisoned') {
        await handle.close().catch(() => undefined)
        handle = undefined
      }
    }
  }
  await handle?.close().catch(() => undefined)
}

describe('any one call of the store that fails', () => {
  const every = [
    'open',
    'mkdir',
    'readdir',
    'lstat',
    'link',
    'rename',
    'unlink',
    'rmdir',
    'syncDirectory',
    'read',
    'write',
    'datasync',
    'sync',
    'truncate',
    'stat',
  ]

  it.each([
    ['is not made', every, { code: 'EIO' }],
    // A file that is opened and then said not to be would stay open.
    [
      'is made all the same',
      [...every.filter((operation) => operation !== 'open'), 'close'],
      { code: 'EIO', happens: true },
    ],
  ])('and %s: nothing acknowledged is lost, and the session goes on', async (_, operation, how) => {
    let tried = 0
    for (let after = 0; ; after += 1) {
      root = place.fresh()
      const layer = faultFileSystem(nodeFileSystem)
      const fault = layer.inject({ operation, after, times: 1, ...how })
      const store = openStore(root, layer.fileSystem)
      let length = 0
      await stubborn(store, (now) => (length = now))
      await store.close().catch(() => undefined)
      expect((await readAll(root)).events, `call ${after}`).toEqual(saidAll(0, 4))
      expect(length).toBe(4)
      const again = openStore(root)
      const handle = await again.open(id, 'write')
      await handle.append([said(4)])
      await handle.close()
      await again.close()
      expect((await readAll(root)).events, `call ${after}`).toEqual(saidAll(0, 5))
      if (fault.struck === 0) break
      tried += 1
    }
    expect(tried).toBeGreaterThan(20)
  })
})
