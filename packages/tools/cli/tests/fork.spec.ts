import { jsonlPersistence } from '@palimpsest/session-persistence-jsonl'
import { sessionId, type AttachmentRef, type SessionHeader } from '@palimpsest/session'
import { describe, expect, it } from 'vitest'
import { answered, call, palimpsest, result, said, scratch, storeEvents, treeOf, wholeTurn } from './support.ts'

/** The seqs and contents of what a model sees. */
async function seen(root: string, id: string, ...rest: string[]): Promise<unknown> {
  return (await palimpsest(['messages', id, '--json', ...rest], { root })).json
}

describe('fork', () => {
  it('inherits the events up to the boundary, so that the child sees what the parent saw there', async () => {
    const root = scratch()
    await storeEvents(root, 's', [...wholeTurn(), said(8, 'And now?')])
    const before = treeOf(root)
    const { json, exit } = await palimpsest(['fork', 's', '--at', '7', '--id', 'child', '--json'], { root })
    expect(exit).toBe(0)
    expect(json).toEqual({ id: 'child', parentSession: 's', boundary: 7, events: 9, closers: 0, messages: 3 })
    expect(await seen(root, 'child')).toEqual(await seen(root, 's', '--at', '7'))
    expect(treeOf(root)).toMatchObject(before)
    expect((await palimpsest(['verify', 'child'], { root })).exit).toBe(0)
  })

  it('closes a turn that the cut leaves open, or refuses when told to', async () => {
    const root = scratch()
    await storeEvents(root, 's', wholeTurn())
    const { json } = await palimpsest(['fork', 's', '--at', '4', '--json'], { root })
    expect(json).toMatchObject({ boundary: 4, closers: 3, messages: 3 })
    const refused = await palimpsest(['fork', 's', '--at', '4', '--id', 'other', '--refuse-open-turn'], { root })
    expect(refused).toMatchObject({ exit: 1, out: '' })
    expect(refused.err).toMatch(/^palimpsest: fork\/open-turn: /)
    expect((await palimpsest(['show', 'other'], { root })).exit).toBe(2)
  })

  it('takes the whole log unless told where to cut, and says how to read on', async () => {
    const root = scratch()
    await storeEvents(root, 's', wholeTurn())
    const { out } = await palimpsest(['fork', 's', '--id', 'child'], { root })
    expect(out).toContain('child goes on from event 7 of s: 3 messages')
    expect(out).toContain('palimpsest messages child')
  })

  it('refuses an id that is taken and a boundary that is none, and writes nothing', async () => {
    const root = scratch()
    await storeEvents(root, 's', wholeTurn())
    const before = treeOf(root)
    const refused = async (...args: string[]): Promise<[number, string]> => {
      const { exit, err } = await palimpsest(['fork', 's', ...args], { root })
      return [exit, err.split(' ')[1] ?? '']
    }
    expect(await refused('--id', 's')).toEqual([2, 'session/exists:'])
    expect(await refused('--id', '')).toEqual([2, 'option/invalid:'])
    expect(await refused('--at', '8')).toEqual([2, 'seq/invalid:'])
    expect(treeOf(root)).toEqual(before)
  })

  it('takes the attachments along', async () => {
    const root = scratch()
    const store = jsonlPersistence({ root })
    const header = { format: 'palimpsest', version: 3, createdAt: 1, isSeeded: false, delegationDepth: 0 }
    const handle = await store.create({ ...header, id: 's' } as SessionHeader)
    const bytes = new TextEncoder().encode('not really a picture')
    const attachment: AttachmentRef = await store.attachments(sessionId('s')).put(bytes, { mediaType: 'image/png' })
    const image = { ...(said(0, '') as { data: object }) }
    await handle.append([{ ...image, data: { ...image.data, content: [{ type: 'image', attachment }] } }] as never)
    await handle.close()
    await palimpsest(['fork', 's', '--id', 'child'], { root })
    const copy = await store.attachments(sessionId('child')).get(attachment)
    expect(new Uint8Array(copy ?? [])).toEqual(bytes)
    await store.close()
  })
})

describe('diff', () => {
  const log = [
    said(0, 'Look at it.'),
    answered(1, [call('c1')]),
    result(2, 'c1'),
    answered(3, [{ type: 'text', text: 'Seen.' }]),
    said(4, 'Looked at it.', { surfaceOp: { op: 'replace', startSeq: 0, endSeq: 2 }, sourceEventSeqs: [0, 1, 2] }),
    said(5, 'And now?'),
  ]

  it('says what a replacement took out and put in, and what stayed', async () => {
    const root = scratch()
    await storeEvents(root, 's', log)
    const { json, exit } = await palimpsest(['diff', 's', '--from', '3', '--json'], { root })
    expect(exit).toBe(0)
    expect(json).toEqual({
      from: { session: 's', seq: 3, entries: 4 },
      to: { session: 's', seq: 5, entries: 3 },
      differs: true,
      changes: [
        {
          op: 'removed',
          entries: [
            { seq: 0, type: 'user/message' },
            { seq: 1, type: 'assistant/message' },
            { seq: 2, type: 'tool/result' },
          ],
        },
        { op: 'added', entries: [{ seq: 4, type: 'user/message' }] },
        { op: 'kept', entries: [{ seq: 3, type: 'assistant/message' }] },
        { op: 'added', entries: [{ seq: 5, type: 'user/message' }] },
      ],
    })
    const { out } = await palimpsest(['diff', 's', '--from', '3'], { root })
    expect(out).toMatch(/^- 0 {2}user\/message +Look at it\.$/m)
    expect(out).toMatch(/^\+ 4 {2}user\/message +Looked at it\.$/m)
    expect(out).toMatch(/3 entries removed, 2 added, 1 in common/)
  })

  it('compares two sessions by what their entries say, and ends with 1 only when asked to', async () => {
    const root = scratch()
    await storeEvents(root, 's', log)
    await palimpsest(['fork', 's', '--at', '4', '--id', 'child'], { root })
    expect((await palimpsest(['diff', 's', 'child'], { root })).exit).toBe(0)
    expect((await palimpsest(['diff', 's', 'child', '--exit-code'], { root })).exit).toBe(1)
    const same = await palimpsest(['diff', 's', 'child', '--from', '4', '--exit-code', '--json'], { root })
    expect(same).toMatchObject({ exit: 0, json: { differs: false } })
  })

  it('hides a long run of common entries', async () => {
    const root = scratch()
    const lines = Array.from({ length: 40 }, (_, seq) => said(seq, `line ${seq}`))
    await storeEvents(root, 's', lines)
    const { out } = await palimpsest(['diff', 's', '--from', '38'], { root })
    expect(out).toContain('⋮ 37 entries in common')
    expect(out.split('\n')).toHaveLength(6)
  })
})
