import { sessionId, type SessionEvent } from '@palimpsest/session'
import { describe, expect, it } from 'vitest'
import type { Bench } from './bench.ts'
import { all, headerOf, said, saidAll } from './samples.ts'

/** What a handle writes: `create` and `append`. SPEC 5.1. */
export function describeWriting(bench: Bench): void {
  const { open, create, stored, read } = bench

  describe('create', () => {
    it('stores nothing until the first append or flush', async () => {
      const handle = await create()
      expect(await open().stat(sessionId('a'))).toBeUndefined()
      expect(await all(open().list())).toEqual([])
      await expect(open().open(sessionId('a'), 'read')).rejects.toMatchObject({ code: 'session/not-found' })
      await handle.close()
      await expect(open().open(sessionId('a'), 'write')).rejects.toMatchObject({ code: 'session/not-found' })
    })

    it('can be repeated after a session was closed unwritten', async () => {
      await (await create()).close()
      const handle = await create()
      await handle.append([said(0)])
      expect((await read()).stored.events).toEqual([said(0)])
    })

    it('stores a session without events by flush', async () => {
      await (await create()).flush()
      const { stored: found } = await read()
      expect(found).toMatchObject({ header: headerOf('a'), events: [], inheritedEventCount: 0, pendingClosers: [] })
    })

    it('refuses an id that is stored', async () => {
      await stored()
      await expect(create()).rejects.toMatchObject({ code: 'session/exists' })
      await expect(create('a', { cwd: '/somewhere/else' })).rejects.toMatchObject({ code: 'session/exists' })
    })

    it('refuses an id that another writer creates', async () => {
      await create()
      await expect(open().create(headerOf('a'))).rejects.toMatchObject({ code: 'session/locked' })
    })

    it('refuses a header that is none', async () => {
      await expect(create('a', { createdAt: 0.5 })).rejects.toMatchObject({ code: 'header/invalid' })
    })

    it('keeps every member of the header, unknown ones too', async () => {
      const header = {
        ...headerOf('a', { cwd: '/w', parentSession: sessionId('p'), isSeeded: true, delegationDepth: 2 }),
        colour: { of: ['tea'] },
      }
      await (await bench.store.create(header)).flush()
      expect((await read()).header).toEqual(header)
    })
  })

  describe('append', () => {
    it('resolves when another store can read the batch', async () => {
      const handle = await create()
      await handle.append(saidAll(0, 3))
      expect((await read()).stored.events).toEqual(saidAll(0, 3))
      await handle.append(saidAll(3, 2))
      expect((await read()).stored.events).toEqual(saidAll(0, 5))
    })

    it('refuses a batch that does not start at the next seq, and writes nothing', async () => {
      const handle = await create()
      await handle.append(saidAll(0, 2))
      for (const seq of [0, 1, 3])
        await expect(handle.append([said(seq)])).rejects.toMatchObject({
          code: 'session/conflict',
          name: 'SessionConflictError',
        })
      await expect(handle.append([said(2), said(4)])).rejects.toMatchObject({ code: 'session/conflict' })
      expect((await read()).stored.events).toEqual(saidAll(0, 2))
      await handle.append([said(2)])
      expect((await read()).stored.events).toEqual(saidAll(0, 3))
    })

    it('queues calls in call order and checks their seqs at once', async () => {
      const handle = await create()
      const calls = [
        handle.append([said(0)]),
        handle.append(saidAll(1, 2)),
        handle.append([said(1)]),
        handle.append([said(3)]),
      ]
      expect(handle.nextSeq).toBe(4)
      const results = await Promise.allSettled(calls)
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
      expect((await read()).stored.events).toEqual(saidAll(0, 4))
    })

    it('refuses an event without a valid envelope', async () => {
      const handle = await create()
      for (const bad of [
        { ...said(0), seq: -1 },
        { ...said(0), time: 0.5 },
        { ...said(0), type: '' },
        { ...said(0), data: [] },
      ]) {
        await expect(handle.append([bad as unknown as SessionEvent])).rejects.toMatchObject({ code: 'event/invalid' })
      }
      expect(handle.status).toBe('ok')
      await handle.append([said(0)])
    })

    it('keeps unknown types and unknown nested members', async () => {
      const event = {
        type: 'x/unknown',
        seq: 0,
        time: 5,
        ignorable: true,
        data: { deep: [{ er: null }], ['__proto__']: 1 },
      } as unknown as SessionEvent
      const handle = await create()
      await handle.append([event])
      const [found] = (await read()).stored.events
      expect(JSON.stringify(found)).toBe(JSON.stringify(event))
    })

    it('keeps lone surrogates and every line separator of Unicode', async () => {
      const text = 'a\ud800b\udc00 \u2028\u2029\u0085\u000b\u000c\u001c\u001d\u001e\r\n\u0000 😀'
      const handle = await create()
      await handle.append([said(0, text), said(1)])
      expect((await read()).stored.events).toEqual([said(0, text), said(1)])
    })

    it('is refused by a read handle, and by a closed one', async () => {
      await stored()
      const reader = await read()
      await expect(reader.append([said(3)])).rejects.toMatchObject({ code: 'handle/read-only' })
      await reader.close()
      expect(reader.status).toBe('closed')
      await expect(reader.append([said(3)])).rejects.toMatchObject({ code: 'handle/closed' })
      const writer = await bench.store.open(sessionId('a'), 'write')
      await writer.close()
      await expect(writer.append([said(3)])).rejects.toMatchObject({ code: 'handle/closed' })
      expect((await read()).stored.events).toHaveLength(3)
    })

    it('that is under way is waited for by close', async () => {
      const handle = await create()
      const appended = handle.append(saidAll(0, 2))
      await handle.close()
      await appended
      expect((await read()).stored.events).toEqual(saidAll(0, 2))
    })
  })
}
