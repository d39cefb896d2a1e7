import {
  Session,
  sessionId,
  sessionSeq,
  type AttachmentRef,
  type SessionEvent,
  type SessionHeader,
} from '@palimpsest/session'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { all, headerOf, interrupted, said, saidAll } from './contract-samples.ts'
import type { SessionHandle, SessionPersistence } from './contract.ts'

/** One storage under test, empty at first. */
export interface PersistenceHarness {
  /** Another store over the same storage, as another process would open it. */
  open(): SessionPersistence
  /** Removes the storage; every store was closed before. */
  dispose(): Promise<void>
}

/**
 * Holds a backend to SPEC 5.1. Call it at the top level of a vitest file; `factory` makes a fresh storage for each
 * test.
 */
export function runPersistenceContract(
  name: string,
  factory: () => PersistenceHarness | Promise<PersistenceHarness>,
): void {
  describe(`${name} keeps the persistence contract`, () => {
    let harness: PersistenceHarness
    let opened: SessionPersistence[] = []
    const open = (): SessionPersistence => {
      const store = harness.open()
      opened.push(store)
      return store
    }
    let store: SessionPersistence

    beforeEach(async () => {
      harness = await factory()
      store = open()
    })
    afterEach(async () => {
      for (const each of opened) await each.close()
      opened = []
      await harness.dispose()
    })

    const create = (id = 'a', more: Partial<SessionHeader> = {}): Promise<SessionHandle> =>
      store.create(headerOf(id, more))
    const stored = async (id = 'a', events: readonly SessionEvent[] = saidAll(0, 3)): Promise<void> => {
      const handle = await create(id)
      await handle.append(events)
      await handle.close()
    }
    const read = async (id = 'a'): Promise<SessionHandle> => open().open(sessionId(id), 'read')

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
        await (await store.create(header)).flush()
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
        const writer = await store.open(sessionId('a'), 'write')
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

    describe('a session', () => {
      it('has one writer', async () => {
        await stored()
        const writer = await store.open(sessionId('a'), 'write')
        await expect(open().open(sessionId('a'), 'write')).rejects.toMatchObject({
          code: 'session/locked',
          name: 'SessionLockedError',
        })
        await expect(store.open(sessionId('a'), 'write')).rejects.toMatchObject({ code: 'session/locked' })
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
        const writer = await store.open(sessionId('a'), 'write')
        expect(writer.stored.recovered.closers).toEqual([5, 6, 7, 8])
        expect(writer.stored.events).toHaveLength(9)
        expect(writer.stored.pendingClosers).toEqual([])
        expect(writer.nextSeq).toBe(9)
        expect((await read()).stored.events).toEqual(writer.stored.events)
        await writer.close()
        const again = await store.open(sessionId('a'), 'write')
        expect(again.stored.recovered.closers).toEqual([])
        expect(again.stored.events).toEqual(writer.stored.events)
        expect(() => Session.restore(again.stored)).not.toThrow()
      })

      it('is the same after any number of opens', async () => {
        await stored()
        const before = await store.stat(sessionId('a'))
        for (let round = 0; round < 3; round += 1) await (await store.open(sessionId('a'), 'write')).close()
        expect(await store.stat(sessionId('a'))).toEqual(before)
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
          await expect(store.open(id, mode)).rejects.toMatchObject({ code: 'session/not-found' })
        await expect(store.delete(id)).rejects.toMatchObject({ code: 'session/not-found' })
        expect(await store.stat(id)).toBeUndefined()
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
        const listed = await all(store.list())
        expect(listed.map(({ header }) => header.id).sort()).toEqual([...ids].sort())
      })
    })

    describe('stat and list', () => {
      it('tell header, events, last time and first prompt', async () => {
        await stored('a', [said(0, '  Fix\n the   build '), said(1), said(2)])
        expect(await store.stat(sessionId('a'))).toMatchObject({
          header: headerOf('a'),
          eventCount: 3,
          updatedAt: 1_002,
          firstPrompt: 'Fix the build',
        })
      })

      it('show a new revision after each change and no other', async () => {
        await stored()
        const first = await store.stat(sessionId('a'))
        expect((await open().stat(sessionId('a')))?.revision).toBe(first?.revision)
        const writer = await store.open(sessionId('a'), 'write')
        await writer.append([said(3)])
        expect((await store.stat(sessionId('a')))?.revision).not.toBe(first?.revision)
      })

      it('list the newest first', async () => {
        for (const [id, count] of [
          ['old', 1],
          ['new', 9],
          ['middle', 4],
        ] as const)
          await stored(id, saidAll(0, count))
        expect((await all(store.list())).map(({ header }) => header.id)).toEqual(['new', 'middle', 'old'])
      })

      it('narrow by working directory and parent', async () => {
        for (const [id, more] of [
          ['a', { cwd: '/w' }],
          ['b', { cwd: '/v', parentSession: sessionId('a') }],
          ['c', {}],
        ] as const) {
          await (await create(id, more)).flush()
        }
        expect((await all(store.list({ cwd: '/w' }))).map(({ header }) => header.id)).toEqual(['a'])
        expect((await all(store.list({ parentSession: sessionId('a') }))).map(({ header }) => header.id)).toEqual(['b'])
      })
    })

    describe('attachments', () => {
      const bytes = Uint8Array.from({ length: 3_000 }, (_, index) => index % 251)

      it('come back as they were put, and are one where their bytes are', async () => {
        const handle = await create()
        const ref = await store
          .attachments(sessionId('a'))
          .put(bytes, { mediaType: 'image/png', width: 3, name: 'shot.png' })
        expect(ref).toMatchObject({ mediaType: 'image/png', bytes: 3_000, width: 3, name: 'shot.png' })
        expect(ref.attachmentId).toMatch(/^sha256:[0-9a-f]{64}$/)
        expect((await store.attachments(sessionId('a')).put(bytes, { mediaType: 'image/png' })).attachmentId).toBe(
          ref.attachmentId,
        )
        await handle.append([said(0)])
        await handle.close()
        const found = open().attachments(sessionId('a'))
        expect(await found.has(ref)).toBe(true)
        expect(Buffer.from((await found.get(ref)) ?? [])).toEqual(Buffer.from(bytes))
      })

      it('that nobody put are missing', async () => {
        await stored()
        const ref: AttachmentRef = { attachmentId: `sha256:${'0'.repeat(64)}`, mediaType: 'image/png', bytes: 3 }
        expect(await store.attachments(sessionId('a')).has(ref)).toBe(false)
        expect(await store.attachments(sessionId('a')).get(ref)).toBeUndefined()
      })

      it('of a session that does not exist are refused', async () => {
        await expect(
          store.attachments(sessionId('nobody')).put(bytes, { mediaType: 'image/png' }),
        ).rejects.toMatchObject({ code: 'session/not-found' })
      })
    })

    describe('delete', () => {
      it('removes the session and its attachments', async () => {
        await stored()
        const ref = await store.attachments(sessionId('a')).put(new Uint8Array([1, 2]), { mediaType: 'x/y' })
        await store.delete(sessionId('a'))
        expect(await all(open().list())).toEqual([])
        await expect(open().open(sessionId('a'), 'read')).rejects.toMatchObject({ code: 'session/not-found' })
        await stored('a', [said(0, 'new')])
        expect((await read()).stored.events).toEqual([said(0, 'new')])
        expect(await store.attachments(sessionId('a')).has(ref)).toBe(false)
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
        await store.close()
        await appended
        expect(handle.status).toBe('closed')
        await expect(store.open(sessionId('a'), 'read')).rejects.toMatchObject({ code: 'persistence/closed' })
        const next = await open().open(sessionId('a'), 'write')
        expect(next.stored.events).toEqual(saidAll(0, 2))
      })
    })
  })
}
