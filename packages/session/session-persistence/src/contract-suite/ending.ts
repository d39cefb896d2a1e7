import { sessionId } from '@palimpsest/session'
import { describe, expect, it } from 'vitest'
import type { Bench } from './bench.ts'
import { all, said, saidAll } from './samples.ts'

/** `delete` and `close`. SPEC 5.1. */
export function describeEnding(bench: Bench): void {
  const { open, create, stored, read } = bench

  describe('delete', () => {
    it('removes the session and its attachments', async () => {
      await stored()
      const ref = await bench.store.attachments(sessionId('a')).put(new Uint8Array([1, 2]), { mediaType: 'x/y' })
      await bench.store.delete(sessionId('a'))
      expect(await all(open().list())).toEqual([])
      await expect(open().open(sessionId('a'), 'read')).rejects.toMatchObject({ code: 'session/not-found' })
      await stored('a', [said(0, 'new')])
      expect((await read()).stored.events).toEqual([said(0, 'new')])
      expect(await bench.store.attachments(sessionId('a')).has(ref)).toBe(false)
    })

    it('is refused while a writer holds the session', async () => {
      const writer = await create()
      await writer.append([said(0)])
      await expect(open().delete(sessionId('a'))).rejects.toMatchObject({ code: 'session/locked' })
      expect((await read()).stored.events).toEqual([said(0)])
    })
  })

  describe('close', () => {
    it('waits for every handle and releases every claim', async () => {
      const handle = await create()
      const appended = handle.append(saidAll(0, 2))
      await bench.store.close()
      await appended
      expect(handle.status).toBe('closed')
      await expect(bench.store.open(sessionId('a'), 'read')).rejects.toMatchObject({ code: 'persistence/closed' })
      const next = await open().open(sessionId('a'), 'write')
      expect(next.stored.events).toEqual(saidAll(0, 2))
    })
  })
}
