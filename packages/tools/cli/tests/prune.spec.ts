import { jsonlPersistence } from '@palimpsest/session-persistence-jsonl'
import { sessionId } from '@palimpsest/session'
import { describe, expect, it } from 'vitest'
import { answered, call, event, palimpsest, result, said, scratch, storeEvents, treeOf } from './support.ts'

/** `n` calls with long results, oldest first at seqs 2, 4, 6 and so on. */
function withResults(n: number): object[] {
  const events = [said(0, 'Read them all.')]
  for (let at = 1; at <= n; at += 1) {
    events.push(answered(events.length, [call(`c${at}`)]))
    events.push(result(events.length, `c${at}`, `begin ${'x'.repeat(9000)} end`))
  }
  return events
}

async function stored(events: readonly object[]): Promise<string> {
  const root = scratch()
  await storeEvents(root, 's', events)
  return root
}

describe('prune', () => {
  it('cuts old tool results to head and tail and leaves the newest whole', async () => {
    const root = await stored(withResults(3))
    const { exit, json } = await palimpsest(['prune', 's', '--max-bytes', '500', '--keep-recent', '1', '--json'], {
      root,
    })
    expect(exit).toBe(0)
    expect(json).toMatchObject({
      id: 's',
      preview: false,
      results: {
        replaced: [
          { seq: 2, by: 7 },
          { seq: 4, by: 8 },
        ],
      },
    })
    const { bytesBefore, bytesAfter } = (json as { results: { bytesBefore: number; bytesAfter: number } }).results
    expect(bytesBefore).toBe(3 * 9010)
    expect(bytesAfter).toBeLessThan(9010 + 1001)
    expect((await palimpsest(['verify', 's'], { root })).exit).toBe(0)
  })

  it('shows with --preview what it would do and writes nothing', async () => {
    const root = await stored(withResults(3))
    const before = treeOf(root)
    const { json } = await palimpsest(['prune', 's', '--keep-recent', '2', '--preview', '--json'], { root })
    expect(json).toMatchObject({ preview: true, results: { replaced: [{ seq: 2, bytesBefore: 9010 }] } })
    const { out } = await palimpsest(['prune', 's', '--keep-recent', '2', '--preview'], { root })
    expect(out).toContain('1 tool result and images of 0 entries would be cut')
    expect(out).toContain('nothing was written')
    expect(treeOf(root)).toEqual(before)
  })

  it('changes no byte where there is nothing to prune, also of what a crash left open', async () => {
    const root = await stored([...withResults(1), event(3, 'turn/start', { turn: 1 })])
    const before = treeOf(root)
    const { exit, out } = await palimpsest(['prune', 's'], { root })
    expect([exit, out]).toEqual([0, 's: nothing to prune\n'])
    expect(treeOf(root)).toEqual(before)
  })

  it('puts a line in the place of the oldest images, and says what it cannot reach', async () => {
    const root = await stored([said(0, 'Look.')])
    const store = jsonlPersistence({ root })
    const handle = await store.open(sessionId('s'), 'write')
    const attachment = await store
      .attachments(sessionId('s'))
      .put(new TextEncoder().encode('a picture'), { mediaType: 'image/png' })
    const shown = (seq: number): object => {
      const { data, ...rest } = said(seq, '') as { data: object }
      return { ...rest, data: { ...data, content: [{ type: 'image', attachment }] } }
    }
    await handle.append([shown(1), answered(2, [{ type: 'image', attachment }]), shown(3)] as never)
    await handle.close()
    await store.close()
    const first = await palimpsest(['prune', 's', '--images', '2', '--json'], { root })
    expect(first).toMatchObject({
      exit: 0,
      json: { images: { before: { images: 3 }, after: { images: 2 }, replaced: [{ seq: 1 }] } },
    })
    const second = await palimpsest(['prune', 's', '--images', '0', '--json'], { root })
    expect(second).toMatchObject({
      exit: 1,
      json: { images: { after: { images: 1 }, pinned: [{ seq: 2, reason: 'assistant' }] } },
    })
    expect((await palimpsest(['messages', 's'], { root })).out).toContain('[image left out here: image/png, 9 bytes')
    expect((await palimpsest(['prune', 's', '--images', '0'], { root })).out).toContain(
      'still over the images that may stay: 2 (assistant)',
    )
  })

  it('refuses numbers that are none', async () => {
    const { exit, err } = await palimpsest(['prune', 's', '--max-bytes', '-1'], { root: await stored(withResults(1)) })
    expect([exit, err]).toEqual([2, 'palimpsest: option/invalid: --max-bytes is -1: expected a whole number\n'])
  })
})
