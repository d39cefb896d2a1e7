import { surfaceAt } from '@palimpsest/session'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { growImport } from '../src/index.ts'
import { Fixture } from './fixture.ts'
import { growThrough } from './growing.ts'
import type { GrowthCount } from './growing.ts'
import { importBytes } from './support.ts'
import { formats } from './formats.ts'
import type { TangledFormat } from './formats.ts'

const growing = Object.entries<TangledFormat>(formats).map(([name, { importer, files }]) => ({
  name,
  importer,
  bytes: new TextEncoder().encode((files[0] ?? []).map((line) => `${line}\n`).join('')),
}))

for (const { name, importer, bytes } of growing) {
  test(`${name}: a file that grew by lines derives what a fresh import derives, and importing again adds nothing`, async () => {
    const count: GrowthCount = { extended: 0, regrown: 0, diverged: 0 }
    const ends = [...bytes.entries()].flatMap(([at, byte]) => (byte === 10 ? [at + 1] : []))
    for (const end of ends) await growThrough(importer, bytes, [end], count)
    expect(count).toMatchObject({ diverged: 0 })
    expect(count.regrown).toBeGreaterThan(0)
  })

  test(`${name}: whatever lengths a growing file was imported at, the law of growth holds`, async () => {
    const count: GrowthCount = { extended: 0, regrown: 0, diverged: 0 }
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: bytes.indexOf(10), max: bytes.length }), { maxLength: 4 }),
        async (cuts) => {
          await growThrough(
            importer,
            bytes,
            cuts.toSorted((a, b) => a - b),
            count,
          )
        },
      ),
      { numRuns: 10 },
    )
    expect(count.extended).toBeGreaterThan(0)
  })
}

test('a result that came after the import replaces the reading of its turn, and the old reading stays in the log', async () => {
  const file = new Fixture()
  file.user('List the files')
  file.call('m1', 'c1')
  const [before] = await importBytes(file.bytes())
  file.result('c1')
  file.text('m2', 'One file.')
  const [after] = await importBytes(file.bytes())
  const here = before?.session.events ?? []
  const growth = growImport(here, after?.session.events ?? [])
  const events = [...here, ...(growth.kind === 'extended' ? growth.events : [])]
  expect(events.slice(0, here.length)).toEqual(here)
  const surface = surfaceAt(events, events.length - 1)
  expect(surface).toHaveLength(5)
  expect(events[here.length]).toMatchObject({
    type: 'import/regrown',
    ignorable: true,
    data: { covers: true, turns: 1 },
  })
})

test('a log that somebody went on with here is not touched', async () => {
  const file = new Fixture()
  file.user('List the files')
  file.call('m1', 'c1')
  const [before] = await importBytes(file.bytes())
  file.result('c1')
  const [after] = await importBytes(file.bytes())
  const here = before?.session.events ?? []
  const own = { type: 'turn/start', seq: here.length, time: 0, data: { turn: 2 } }
  const said = {
    type: 'user/message',
    seq: here.length + 1,
    time: 0,
    surfaceOp: 'append',
    data: { id: 'own', role: 'user', content: [{ type: 'text', text: 'Go on' }], source: { kind: 'user' } },
  }
  const continued = [...here, own, said] as unknown as typeof here
  expect(growImport(continued, after?.session.events ?? [])).toEqual({ kind: 'diverged' })
  expect(growImport(continued, before?.session.events ?? [])).toEqual({ kind: 'unchanged' })
})

test('an older copy of a source, or one that was rewritten, is no growth', async () => {
  const file = new Fixture()
  file.user('List the files')
  file.call('m1', 'c1')
  const [shorter] = await importBytes(file.bytes())
  file.result('c1')
  file.text('m2', 'One file.')
  const [longer] = await importBytes(file.bytes())
  const here = longer?.session.events ?? []
  expect(growImport(here, shorter?.session.events ?? [])).toEqual({ kind: 'diverged' })
  const rewritten = new TextEncoder().encode(new TextDecoder().decode(file.bytes()).replace('List', 'Count'))
  const [other] = await importBytes(rewritten)
  expect(growImport(here, other?.session.events ?? [])).toEqual({ kind: 'diverged' })
})
