import { linkSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sessionId } from '@palimpsest/session'
import { faultFileSystem, spyFileSystem } from '@palimpsest/testkit'
import { describe, expect, it } from 'vitest'
import { jsonlPersistence, nodeFileSystem } from '../src/index.ts'
import { bytesOf, headerLine, headerOf, id, logPath, plant, record, said, saidAll, scratch } from './support.ts'

describe('the first append', () => {
  it('publishes header and batch under a name that nothing had, and leaves no other file', async () => {
    const root = scratch()
    const { fileSystem, calls } = spyFileSystem(nodeFileSystem)
    const store = jsonlPersistence({ root, fileSystem })
    const handle = await store.create(headerOf())
    expect(readdirSync(join(root, '_', 'a')).sort()).toEqual(['session.lock', 'session.owner'])
    calls.length = 0
    await handle.append(saidAll(0, 2))
    const steps = calls.filter(({ operation }) =>
      ['write', 'sync', 'link', 'syncDirectory', 'unlink'].includes(operation),
    )
    expect(steps.map(({ operation }) => operation)).toEqual([
      'write',
      'sync',
      'link',
      'syncDirectory',
      'syncDirectory',
      'syncDirectory',
      'unlink',
    ])
    expect(bytesOf(root).toString()).toBe(`${headerLine}\n${record(0)}\n${record(1)} \n`)
    expect(statSync(logPath(root)).nlink).toBe(1)
    await store.close()
    expect(readdirSync(join(root, '_', 'a')).sort()).toEqual(['session.lock', 'session.v3.jsonl'])
  })

  it('takes its name by an exclusive create where the file system has no links', async () => {
    const root = scratch()
    const layer = faultFileSystem(nodeFileSystem)
    layer.inject({ operation: 'link', code: 'EPERM' })
    const store = jsonlPersistence({ root, fileSystem: layer.fileSystem })
    const handle = await store.create(headerOf())
    await handle.append([said(0)])
    await handle.append([said(1)])
    await store.close()
    expect(bytesOf(root).toString()).toBe(`${headerLine}\n${record(0)} \n${record(1)} \n`)
  })

  it.each([true, false])('never overwrites a log that somebody put there meanwhile (links: %s)', async (hasLinks) => {
    const root = scratch()
    const layer = faultFileSystem(nodeFileSystem)
    if (!hasLinks) layer.inject({ operation: 'link', code: 'ENOTSUP' })
    const store = jsonlPersistence({ root, fileSystem: layer.fileSystem })
    const handle = await store.create(headerOf())
    const other = `${headerLine}\n${record(0, 'other')}\n`
    writeFileSync(logPath(root), other)
    await expect(handle.append([said(0)])).rejects.toThrow()
    expect(handle.status).not.toBe('ok')
    await store.close()
    expect(bytesOf(root).toString()).toBe(other)
  })

  it('replaces an empty log, whose bytes are kept', async () => {
    for (const content of ['', headerLine.slice(0, 25)]) {
      const root = scratch()
      plant(root, content)
      const store = jsonlPersistence({ root })
      await expect(store.open(id, 'write')).rejects.toMatchObject({ code: 'session/not-found' })
      const handle = await store.create(headerOf())
      expect(bytesOf(root).toString()).toBe(content)
      await handle.append([said(0)])
      await store.close()
      expect(bytesOf(root).toString()).toBe(`${headerLine}\n${record(0)} \n`)
      const recovered = join(root, '_', 'a', 'recovered')
      if (content !== '')
        expect(readdirSync(recovered).map((name) => readFileSync(join(recovered, name), 'utf8'))).toEqual([content])
    }
  })

  it('that fails leaves nothing, and the next one publishes', async () => {
    for (const operation of ['open', 'write', 'sync', 'link', 'syncDirectory']) {
      const root = scratch()
      const layer = faultFileSystem(nodeFileSystem)
      const store = jsonlPersistence({ root, fileSystem: layer.fileSystem })
      const handle = await store.create(headerOf())
      const fault = layer.inject({
        operation,
        path: (path) => path.includes('.tmp') || operation === 'syncDirectory',
        code: 'EIO',
        times: 1,
      })
      await expect(handle.append([said(0)]), operation).rejects.toMatchObject({
        code: 'io/write',
        cause: { code: 'EIO' },
      })
      expect(fault.struck).toBe(1)
      expect(handle.status).toBe('degraded')
      expect(readdirSync(join(root, '_', 'a')).sort()).toEqual(['session.lock', 'session.owner'])
      await handle.append([said(0)])
      expect(handle.status).toBe('ok')
      await store.close()
    }
  })
})

describe('an error of the disk', () => {
  it('becomes a cause, and no message holds an absolute path', async () => {
    const root = scratch()
    plant(root, `${headerLine}\n${record(0)}\n${record(2)}\n`)
    const layer = faultFileSystem(nodeFileSystem)
    const store = jsonlPersistence({ root, fileSystem: layer.fileSystem })
    const messages: string[] = []
    const note = (error: Error): void => void messages.push(error.message)
    await store.open(id, 'read').catch(note)
    await store.open(sessionId('b'), 'read').catch(note)
    for (const operation of ['readdir', 'open', 'lstat', 'read']) {
      const fault = layer.inject({ operation, code: 'EACCES' })
      await store.open(id, 'read').catch(note)
      await store.create(headerOf({ id: sessionId('c') })).catch(note)
      fault.heal()
    }
    await store.close()
    expect(messages.length).toBeGreaterThan(7)
    for (const message of messages) expect(message).not.toContain(root)
  })
})

describe('a write', () => {
  it.each([
    ['grew', (log: string) => writeFileSync(log, 'x', { flag: 'a' })],
    ['was replaced by an equal one', (log: string) => writeFileSync(`${log}.new`, readFileSync(log))],
  ])('to a log that %s since is refused, poisons the handle and changes nothing', async (name, change) => {
    const root = scratch()
    const store = jsonlPersistence({ root })
    const handle = await store.create(headerOf())
    await handle.append([said(0)])
    change(logPath(root))
    if (name.includes('replaced')) await nodeFileSystem.rename(`${logPath(root)}.new`, logPath(root))
    const before = bytesOf(root)
    await expect(handle.append([said(1)])).rejects.toMatchObject({
      name: 'SessionConflictError',
      code: 'session/conflict',
    })
    expect(handle.status).toBe('poisoned')
    await expect(handle.append([said(1)])).rejects.toMatchObject({ code: 'handle/poisoned' })
    await store.close()
    expect(bytesOf(root)).toEqual(before)
  })

  it('whose rollback was not durable makes it so before it writes anew', async () => {
    const root = scratch()
    const layer = faultFileSystem(nodeFileSystem)
    const { fileSystem, calls } = spyFileSystem(layer.fileSystem)
    const store = jsonlPersistence({ root, fileSystem })
    const handle = await store.create(headerOf())
    await handle.append([said(0)])
    const fault = layer.inject({ operation: 'datasync', code: 'EIO' })
    await expect(handle.append([said(1)])).rejects.toMatchObject({ code: 'io/write' })
    fault.heal()
    calls.length = 0
    await handle.append([said(1)])
    expect(
      calls
        .map(({ operation }) => operation)
        .filter((operation) => ['truncate', 'write', 'datasync'].includes(operation)),
    ).toEqual(['datasync', 'write', 'datasync'])
    await store.close()
  })
})

describe('a crash before the log had its name', () => {
  it('leaves files that the next writer removes', async () => {
    const root = scratch()
    plant(root, `${headerLine}\n`)
    linkSync(logPath(root), `${logPath(root)}.1-x.tmp`)
    const store = jsonlPersistence({ root })
    await store.open(id, 'write')
    expect(readdirSync(join(root, '_', 'a')).filter((name) => name.endsWith('.tmp'))).toEqual([])
    await store.close()
  })
})
