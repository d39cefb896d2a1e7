import { readFileSync, unlinkSync, appendFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import type { ChildProgram } from '@palimpsest/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bundleWriter, WriterProcess } from './processes.ts'
import { scratch } from './scratch.ts'
import { called, id, logOf, openStore, readAll, said, saidAll, writeSession } from './support.ts'

const place = scratch()
let program: ChildProgram
let root: string
let running: WriterProcess[]

beforeAll(async () => {
  program = await bundleWriter()
})
afterAll(async () => {
  await program.dispose()
})
beforeEach(async () => {
  running = []
  root = place.fresh()
  await writeSession(root, [saidAll(0, 2)])
})
afterEach(async () => {
  await Promise.all(running.map(({ child }) => child.end()))
})

function start(lock: 'kernel' | 'lease' = 'kernel'): WriterProcess {
  const writer = new WriterProcess(program, root, id, lock)
  running.push(writer)
  return writer
}

function log(): Buffer {
  return readFileSync(logOf(root))
}

describe('CW-01: two processes opening a session for write', () => {
  it.each(['kernel', 'lease'] as const)(
    '%s: exactly one wins, the other is told who holds it and takes over when the holder is killed',
    async (lock) => {
      const both = [start(lock), start(lock)]
      const answers = await Promise.all(both.map((writer) => writer.ask('open')))
      const won = answers.findIndex(({ ok }) => ok === 'open')
      const [winner, loser] = won === 0 ? both : both.toReversed()
      expect(answers.filter(({ ok }) => ok === 'open')).toHaveLength(1)
      expect(answers[1 - won]).toMatchObject({
        failed: 'open',
        name: 'SessionLockedError',
        pid: winner?.child.pid,
        host: hostname(),
      })
      expect(await winner?.ask('append 2')).toMatchObject({ ok: 'append' })

      await winner?.child.end()
      expect(await loser?.ask('open')).toMatchObject({ ok: 'open', next: 4 })
      expect(await loser?.ask('append 1')).toMatchObject({ ok: 'append' })
      expect((await readAll(root)).events).toEqual(saidAll(0, 5))
    },
  )

  it('a reader is never blocked, and a running turn is not a crashed one', async () => {
    const store = openStore(root)
    const writer = await store.open(id, 'write')
    await writer.append([called(2)])
    const read = await readAll(root)
    expect(read.events).toHaveLength(3)
    expect(read.pendingClosers).toEqual([])
    await writer.close()
    expect((await readAll(root)).pendingClosers).toHaveLength(1)
    await store.close()
  })

  it('a writer whose tail is not the one it knows appends nothing: SessionConflictError, file unchanged, poisoned', async () => {
    const store = openStore(root)
    const stale = await store.open(id, 'write')
    appendFileSync(logOf(root), `${JSON.stringify(said(2, 'by somebody else'))} \n`)
    const before = log()
    await expect(stale.append([said(2, 'mine')])).rejects.toMatchObject({ name: 'SessionConflictError' })
    expect(stale.status).toBe('poisoned')
    await expect(stale.append([said(2, 'mine')])).rejects.toThrow()
    expect(log()).toEqual(before)
    await stale.close()
    expect(log()).toEqual(before)
    await store.close()
  })

  it('an append that does not start at the next seq is a conflict, and writes nothing', async () => {
    const store = openStore(root)
    const handle = await store.open(id, 'write')
    const before = log()
    for (const seq of [0, 1, 3])
      await expect(handle.append([said(seq)])).rejects.toMatchObject({ name: 'SessionConflictError' })
    expect(log()).toEqual(before)
    await handle.append([said(2)])
    await handle.close()
    await store.close()
  })
})

describe('whoever lost the claim writes nothing', () => {
  async function openWhenFree(writer: WriterProcess): Promise<void> {
    for (;;) {
      const answer = await writer.ask('open')
      if (answer.ok === 'open') return
      expect(answer.name).toBe('SessionLockedError')
    }
  }

  it.each(['before it writes', 'after it wrote'] as const)(
    'a lease that lapsed while its holder was stopped, overtaken by a process %s',
    async (moment) => {
      const old = start('lease')
      expect(await old.ask('open')).toMatchObject({ ok: 'open' })
      expect(await old.ask('append 1')).toMatchObject({ ok: 'append' })
      old.child.kill('SIGSTOP')
      const young = start('lease')
      await openWhenFree(young)
      if (moment === 'after it wrote') expect(await young.ask('append 1')).toMatchObject({ ok: 'append' })
      const before = log()
      old.child.kill('SIGCONT')
      expect(await old.ask('append 1')).toMatchObject({
        failed: 'append',
        name: 'SessionConflictError',
        status: 'poisoned',
      })
      expect(log()).toEqual(before)
      expect(await young.ask('append 1')).toMatchObject({ ok: 'append' })
    },
  )

  it.each(['before it writes', 'after it wrote'] as const)(
    'a lock file that was removed, the claim taken by a process %s',
    async (moment) => {
      const old = start()
      expect(await old.ask('open')).toMatchObject({ ok: 'open' })
      expect(await old.ask('append 1')).toMatchObject({ ok: 'append' })
      unlinkSync(join(dirname(logOf(root)), 'session.lock'))
      const young = start()
      expect(await young.ask('open')).toMatchObject({ ok: 'open' })
      if (moment === 'after it wrote') expect(await young.ask('append 1')).toMatchObject({ ok: 'append' })
      const before = log()
      expect(await old.ask('append 1')).toMatchObject({
        failed: 'append',
        name: 'SessionConflictError',
        status: 'poisoned',
      })
      expect(log()).toEqual(before)
      expect(await young.ask('append 1')).toMatchObject({ ok: 'append' })
    },
  )
})
