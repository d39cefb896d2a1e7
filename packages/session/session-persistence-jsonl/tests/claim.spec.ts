import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { layerFileSystem } from '@palimpsest/testkit'
import { describe, expect, it } from 'vitest'
import { jsonlPersistence, nodeFileSystem, type FileSystem } from '../src/index.ts'
import { bytesOf, headerLine, id, plant, record, said, scratch } from './support.ts'

const open = `${headerLine}\n${record(0)}\n{"type":"turn/start","seq":1,"time":1001,"data":{"turn":1}}\n`
const boot = existsSync('/proc/sys/kernel/random/boot_id')
  ? { boot: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() }
  : {}

/** A file system without kernel locks. */
const lockless: FileSystem = layerFileSystem(nodeFileSystem, (call, proceed) =>
  call.operation === 'tryLock' ? Promise.reject(new Error('no addon')) : proceed(),
)

function ownerPath(root: string): string {
  return join(root, '_', 'a', 'session.owner')
}

/** Says that somebody owns the session. */
function plantOwner(root: string, owner: Record<string, unknown>): void {
  const self = { pid: process.pid, host: hostname(), ...boot, since: Date.now(), token: 'other' }
  writeFileSync(ownerPath(root), JSON.stringify({ ...self, ...owner }))
}

describe('a write open where no kernel lock can be had', () => {
  it('fails with lock/unsupported and changes no log', async () => {
    const root = scratch()
    plant(root, open)
    const store = jsonlPersistence({ root, fileSystem: lockless })
    await expect(store.open(id, 'write')).rejects.toMatchObject({ code: 'lock/unsupported' })
    expect(bytesOf(root).toString()).toBe(open)
    expect((await store.open(id, 'read')).stored.pendingClosers).toHaveLength(1)
    await store.close()
  })

  it('works with a lease, which it renews and gives up', async () => {
    const root = scratch()
    plant(root, open)
    const store = jsonlPersistence({ root, fileSystem: lockless, lock: 'lease' })
    const handle = await store.open(id, 'write')
    expect(JSON.parse(readFileSync(ownerPath(root), 'utf8'))).toMatchObject({
      kind: 'lease',
      pid: process.pid,
      host: hostname(),
      ...boot,
    })
    await handle.append([said(3)])
    await store.close()
    expect(readdirSync(join(root, '_', 'a'))).toEqual(['session.v3.jsonl'])
  })
})

describe('both kinds of claim respect the other', () => {
  it('a lease keeps a kernel claim out while it holds, and no longer', async () => {
    const root = scratch()
    plant(root, open)
    const store = jsonlPersistence({ root })
    plantOwner(root, { kind: 'lease', until: Date.now() + 60_000 })
    await expect(store.open(id, 'write')).rejects.toMatchObject({
      code: 'session/locked',
      pid: process.pid,
      host: hostname(),
    })
    expect((await store.open(id, 'read')).stored.pendingClosers).toEqual([])
    plantOwner(root, { kind: 'lease', until: Date.now() - 1 })
    expect((await store.open(id, 'read')).stored.pendingClosers).toHaveLength(1)
    await store.open(id, 'write')
    await store.close()
  })

  it('a kernel claim keeps a lease out while its process lives, and no longer', async () => {
    const root = scratch()
    plant(root, open)
    const kernel = jsonlPersistence({ root })
    const lease = jsonlPersistence({ root, lock: 'lease' })
    const holder = await kernel.open(id, 'write')
    await expect(lease.open(id, 'write')).rejects.toMatchObject({ code: 'session/locked', pid: process.pid })
    await holder.close()
    plantOwner(root, { kind: 'kernel', boot: 'an earlier one' })
    await (await lease.open(id, 'write')).close()
    plantOwner(root, { kind: 'kernel', host: 'elsewhere' })
    await expect(lease.open(id, 'write'), 'of another host nothing is known').rejects.toMatchObject({
      host: 'elsewhere',
    })
    await kernel.open(id, 'write')
    await kernel.close()
    await lease.close()
  })

  it('an owner file that says nothing is no owner', async () => {
    for (const content of ['', '{"kind":"lease"', 'null', '{"kind":"other"}']) {
      const root = scratch()
      plant(root, open)
      writeFileSync(ownerPath(root), content)
      for (const lock of ['kernel', 'lease'] as const) {
        const store = jsonlPersistence({ root, lock })
        await store.open(id, 'write')
        await store.close()
      }
    }
  })
})

describe('a writer that lost its claim', () => {
  it.each([
    [
      'lease',
      'was taken by another',
      (root: string) => plantOwner(root, { kind: 'lease', until: Date.now() + 60_000 }),
    ],
    ['lease', 'was removed', (root: string) => rmSync(ownerPath(root))],
    ['kernel', 'was removed', (root: string) => rmSync(join(root, '_', 'a', 'session.lock'))],
  ] as const)('(%s: it %s) writes nothing', async (lock, _, lose) => {
    const root = scratch()
    plant(root, open)
    const store = jsonlPersistence({ root, lock })
    const handle = await store.open(id, 'write')
    const before = bytesOf(root)
    lose(root)
    await expect(handle.append([said(3)])).rejects.toMatchObject({ code: 'session/conflict' })
    expect(handle.status).toBe('poisoned')
    await store.close()
    expect(bytesOf(root)).toEqual(before)
  })

  it('leaves the claim of its successor alone', async () => {
    const root = scratch()
    plant(root, open)
    const store = jsonlPersistence({ root, lock: 'lease' })
    await store.open(id, 'write')
    plantOwner(root, { kind: 'lease', until: Date.now() + 60_000 })
    await store.close()
    expect(JSON.parse(readFileSync(ownerPath(root), 'utf8'))).toMatchObject({ token: 'other' })
  })
})

describe('a session that was never written', () => {
  it('leaves no file when it is closed, and what others put there stays', async () => {
    const root = scratch()
    for (const lock of ['kernel', 'lease'] as const) {
      const store = jsonlPersistence({ root, lock })
      const header = {
        format: 'palimpsest',
        version: 3,
        id,
        createdAt: 1,
        isSeeded: false,
        delegationDepth: 0,
      } as const
      await (await store.create(header)).close()
      expect(readdirSync(root)).toEqual([])
      const handle = await store.create(header)
      await store.attachments(id).put(new Uint8Array([1]), { mediaType: 'x/y' })
      await handle.close()
      expect(readdirSync(join(root, '_', 'a'))).toContain('attachments')
      await store.close()
      rmSync(join(root, '_'), { recursive: true })
    }
  })
})
