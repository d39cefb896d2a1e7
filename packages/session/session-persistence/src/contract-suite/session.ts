import { Session, sessionId, sessionSeq, type SessionEvent } from '@palimpsest/session'
import { describe, expect, it } from 'vitest'
import type { Bench } from './bench.ts'
import { all, interrupted, said, saidAll } from './samples.ts'

/** One stored session: who may write it, and what opening it shows. SPEC 5.1. */
export function describeSession(bench: Bench): void {
  const { open, create, stored, read } = bench

  describe('a session', () => {
    it('has one writer', async () => {
      await stored()
      const writer = await bench.store.open(sessionId('a'), 'write')
      await expect(open().open(sessionId('a'), 'write')).rejects.toMatchObject({
        code: 'session/locked',
        name: 'SessionLockedError',
      })
      await expect(bench.store.open(sessionId('a'), 'write')).rejects.toMatchObject({ code: 'session/locked' })
      await writer.close()
      await (await open().open(sessionId('a'), 'write')).close()
    })

    it('can be read while it is written', async () => {
      const writer = await create()
      await writer.append(interrupted())
      const reader = await read()
      expect(reader.stored.events).toEqual(interrupted())
      expect(reader.stored.pendingClosers).toEqual([])
    })

    it('that was interrupted shows its closers to a reader, who changes nothing', async () => {
      await stored('a', interrupted())
      const { stored: found } = await read()
      expect(found.events).toHaveLength(5)
      expect(found.pendingClosers.map(({ type, seq }) => [type, seq])).toEqual([
        ['tool/result', 5],
        ['tool/result', 6],
        ['step/end', 7],
        ['turn/end', 8],
      ])
      expect((await read()).stored.events).toHaveLength(5)
    })

    it('that was interrupted gets its closers from a writer, once and durably', async () => {
      await stored('a', interrupted())
      const writer = await bench.store.open(sessionId('a'), 'write')
      expect(writer.stored.recovered.closers).toEqual([5, 6, 7, 8])
      expect(writer.stored.events).toHaveLength(9)
      expect(writer.stored.pendingClosers).toEqual([])
      expect(writer.nextSeq).toBe(9)
      expect((await read()).stored.events).toEqual(writer.stored.events)
      await writer.close()
      const again = await bench.store.open(sessionId('a'), 'write')
      expect(again.stored.recovered.closers).toEqual([])
      expect(again.stored.events).toEqual(writer.stored.events)
      expect(() => Session.restore(again.stored)).not.toThrow()
    })

    it('is the same after any number of opens', async () => {
      await stored()
      const before = await bench.store.stat(sessionId('a'))
      for (let round = 0; round < 3; round += 1) await (await bench.store.open(sessionId('a'), 'write')).close()
      expect(await bench.store.stat(sessionId('a'))).toEqual(before)
    })

    it('counts its inherited events', async () => {
      const seed: SessionEvent = {
        type: 'session/end-seed',
        seq: sessionSeq(2),
        time: 1_002,
        data: { inherited: true },
      }
      await stored('a', [...saidAll(0, 2), seed, said(3)])
      expect((await read()).stored.inheritedEventCount).toBe(2)
    })

    it('that is not stored is not found', async () => {
      const id = sessionId('nobody')
      for (const mode of ['read', 'write'] as const)
        await expect(bench.store.open(id, mode)).rejects.toMatchObject({ code: 'session/not-found' })
      await expect(bench.store.delete(id)).rejects.toMatchObject({ code: 'session/not-found' })
      expect(await bench.store.stat(id)).toBeUndefined()
    })

    it('may have any id', async () => {
      const ids = [
        '..',
        '.',
        '../../x',
        '/etc/x',
        'a/../../b',
        '..\\x',
        'x\0',
        'A',
        'a',
        'con',
        'CON.txt',
        ' ',
        'é',
        'e\u0301',
        '\ud800',
        '\udfff',
        'x'.repeat(5_000),
        `${'x'.repeat(5_000)}y`,
        '~41',
      ]
      for (const id of ids) {
        const handle = await create(id)
        await handle.append([said(0, id)])
        await handle.close()
      }
      for (const id of ids) expect((await read(id)).stored.events).toEqual([said(0, id)])
      const listed = await all(bench.store.list())
      expect(listed.map(({ header }) => header.id).sort()).toEqual([...ids].sort())
    })
  })
}
