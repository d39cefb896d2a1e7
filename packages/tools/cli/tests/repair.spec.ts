import { appendFileSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { logOf, palimpsest, scratch, storeEvents, treeOf, wholeTurn } from './support.ts'

describe('repair', () => {
  it('moves the torn tail aside and closes what is open; afterwards verify is content', async () => {
    const root = scratch()
    await storeEvents(root, 's', wholeTurn().slice(0, 5))
    const log = logOf(root, 's')
    const before = readFileSync(log)
    const torn = '{"type":"tool/result","se'
    appendFileSync(log, torn)
    const { exit, json } = await palimpsest(['repair', 's', '--json'], { root })
    expect(exit).toBe(0)
    expect(json).toMatchObject({
      id: 's',
      changed: true,
      ranges: [{ kind: 'torn', start: before.length }],
      closers: [
        { type: 'tool/result', data: { error: { code: 'TOOL_OUTCOME_UNKNOWN' } } },
        { type: 'step/end' },
        { type: 'turn/end' },
      ],
    })
    const [{ movedTo }] = (json as { ranges: [{ movedTo: string }] }).ranges
    expect(readFileSync(join(dirname(log), movedTo), 'utf8')).toBe(torn)
    expect(readFileSync(log).subarray(0, before.length).equals(before)).toBe(true)
    expect(await palimpsest(['verify', 's', '--json'], { root })).toMatchObject({
      exit: 0,
      json: { ok: true, findings: [] },
    })
  })

  it('changes no byte the second time', async () => {
    const root = scratch()
    await storeEvents(root, 's', wholeTurn().slice(0, 5))
    await palimpsest(['repair', 's'], { root })
    const before = treeOf(root)
    const { exit, out } = await palimpsest(['repair', 's'], { root })
    expect([exit, out]).toEqual([0, 's: nothing to repair\n'])
    expect(treeOf(root)).toEqual(before)
  })

  it('tells people what it did', async () => {
    const root = scratch()
    await storeEvents(root, 's', wholeTurn().slice(0, 5))
    appendFileSync(logOf(root, 's'), '{"typ')
    const { out } = await palimpsest(['repair', 's'], { root })
    expect(out).toContain('took out a torn last record of 5 B')
    expect(out).toMatch(/appended 5 {2}tool\/result/)
  })

  it('leaves a corrupt log to salvage', async () => {
    const root = scratch()
    await storeEvents(root, 's', wholeTurn())
    const log = logOf(root, 's')
    // The space before the line end is the commit mark: this record counts.
    appendFileSync(log, `${readFileSync(log, 'utf8').split('\n')[4]?.replace('Looking', 'Hooking').trimEnd()} \n`)
    const before = readFileSync(log)
    const { exit, err } = await palimpsest(['repair', 's'], { root })
    expect(exit).toBe(1)
    expect(err).toMatch(/^palimpsest: session\/corrupt: .*palimpsest salvage/)
    expect(readFileSync(log).equals(before)).toBe(true)
  })
})
