import { readFileSync, truncateSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { scratch } from './scratch.ts'
import { id, logOf, openStore, readAll, recoveredBytes, said, saidAll, writeSession } from './support.ts'

const place = scratch()

describe('a record of 64 MB', () => {
  const large = said(1, 'é\u2028"\\😀 x'.repeat(Math.ceil(2 ** 26 / 15)))

  it('is appended, read, followed and cut like any other', async () => {
    const root = place.fresh()
    await writeSession(root, [[said(0)], [large], [said(2)]])
    expect(readFileSync(logOf(root)).length).toBeGreaterThan(2 ** 26)
    expect((await readAll(root)).events).toEqual([said(0), large, said(2)])

    const length = readFileSync(logOf(root)).length
    truncateSync(logOf(root), length - 2 ** 25)
    const store = openStore(root)
    const handle = await store.open(id, 'write')
    expect(handle.stored.events).toEqual(saidAll(0, 1))
    expect(recoveredBytes(root).map((bytes) => bytes.length > 2 ** 24)).toEqual([true])
    await handle.append([said(1)])
    await handle.close()
    await store.close()
    expect((await readAll(root)).events).toEqual(saidAll(0, 2))
  })
})
