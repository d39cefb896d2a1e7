import { sessionId } from '@palimpsest/session'
import { describe, expect, it } from 'vitest'
import type { Bench } from './bench.ts'
import { all, headerOf, said, saidAll } from './samples.ts'

/** `stat` and `list`. SPEC 5.1. */
export function describeListing(bench: Bench): void {
  const { open, create, stored } = bench

  describe('stat and list', () => {
    it('tell header, events, last time and first prompt', async () => {
      await stored('a', [said(0, '  Fix\n the   build '), said(1), said(2)])
      expect(await bench.store.stat(sessionId('a'))).toMatchObject({
        header: headerOf('a'),
        eventCount: 3,
        updatedAt: 1_002,
        firstPrompt: 'Fix the build',
      })
    })

    it('show a new revision after each change and no other', async () => {
      await stored()
      const first = await bench.store.stat(sessionId('a'))
      expect((await open().stat(sessionId('a')))?.revision).toBe(first?.revision)
      const writer = await bench.store.open(sessionId('a'), 'write')
      await writer.append([said(3)])
      expect((await bench.store.stat(sessionId('a')))?.revision).not.toBe(first?.revision)
    })

    it('list the newest first', async () => {
      for (const [id, count] of [
        ['old', 1],
        ['new', 9],
        ['middle', 4],
      ] as const)
        await stored(id, saidAll(0, count))
      expect((await all(bench.store.list())).map(({ header }) => header.id)).toEqual(['new', 'middle', 'old'])
    })

    it('narrow by working directory and parent', async () => {
      for (const [id, more] of [
        ['a', { cwd: '/w' }],
        ['b', { cwd: '/v', parentSession: sessionId('a') }],
        ['c', {}],
      ] as const) {
        await (await create(id, more)).flush()
      }
      expect((await all(bench.store.list({ cwd: '/w' }))).map(({ header }) => header.id)).toEqual(['a'])
      expect((await all(bench.store.list({ parentSession: sessionId('a') }))).map(({ header }) => header.id)).toEqual([
        'b',
      ])
    })
  })
}
