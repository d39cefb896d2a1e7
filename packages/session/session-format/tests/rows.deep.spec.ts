import { expect, it } from 'vitest'
import { bytesOf } from './fixtures.ts'
import { read } from './support.ts'

it('a long log may cite every chunk of its packed rows once, by ranges', async () => {
  const length = 400_000
  const place = { turn: 1, step: 1 }
  const run = {
    ...place,
    index: 0,
    dt: Array.from({ length: length - 1 }, () => 1),
    texts: Array.from({ length }, () => ''),
  }
  const rows = [0, 1, 2].flatMap((count) => {
    const seq0 = count * (length + 1)
    const data = { ...place, message: {} }
    const cited = [[seq0, seq0 + length - 1]]
    return [
      { type: 'text-chunks', seq0, time0: 1, data: run },
      { type: 'assistant/message', seq: seq0 + length, time: 1, data, sourceEventSeqs: cited },
    ]
  })
  const { events } = await read(bytesOf([{ type: 'session', version: 0, id: 'old', createdAt: 1 }, ...rows]))
  expect(events).toHaveLength(3 * (length + 1))
})
