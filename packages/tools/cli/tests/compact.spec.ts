import { startProviderServer } from '@palimpsest/testkit'
import { describe, expect, it } from 'vitest'
import { answered, call, event, palimpsest, result, said, scratch, storeEvents, treeOf } from './support.ts'

const prose =
  'The rain gauge in the north counted twice what the others did, so its bucket was cleaned and it was read again. '

/** Turns of a question and a long answer; entry 0 is the system prompt. */
function longSession(turns = 6): object[] {
  const head = {
    id: 's0',
    role: 'system',
    content: [{ type: 'text', text: 'Be brief.' }],
    source: { kind: 'plugin', plugin: 'p' },
  }
  const events = [event(0, 'system/message', { turn: 1, step: 1, message: head }, { surfaceOp: 'append' })]
  for (let turn = 1; turn <= turns; turn += 1) {
    events.push(said(events.length, `Question ${turn}?`))
    events.push(answered(events.length, [{ type: 'text', text: prose.repeat(8) }]))
  }
  return events
}

async function stored(events: readonly object[]): Promise<string> {
  const root = scratch()
  await storeEvents(root, 's', events)
  return root
}

async function textsSeen(root: string, id: string): Promise<string[]> {
  const { json } = await palimpsest(['messages', id, '--json'], { root })
  const { messages } = json as { messages: { content: { text?: string }[] }[] }
  return messages.map(({ content }) => content.map(({ text }) => text ?? '').join(''))
}

describe('compact', () => {
  it('puts an extract in the place of old entries, offline, and says so', async () => {
    const root = await stored(longSession())
    const { exit, json } = await palimpsest(['compact', 's', '--keep-recent', '300', '--json'], { root })
    expect(exit).toBe(0)
    expect(json).toMatchObject({ id: 's', preview: false, summarizer: 'extract', outcome: 'compacted' })
    const { tokensBefore, tokensAfter, replacementSeq, covers } = json as Record<string, number> & { covers: number[] }
    expect(tokensAfter).toBeLessThan(tokensBefore ?? 0)
    expect(covers.at(0)).toBe(1)
    const [head, summary] = await textsSeen(root, 's')
    expect(head).toBe('Be brief.')
    expect(summary).toContain('Question 1?')
    expect((await palimpsest(['verify', 's'], { root })).exit).toBe(0)
    const { out } = await palimpsest(['show', 's'], { root })
    expect(out).toMatch(/compaction\/start +manual: entries 1 to \d+, [\d,]+ tokens/)
    expect(out).toMatch(/compaction\/sum\S+ +\d+ entries: [\d,]+ tokens became \d+ tokens/)
    expect(out).toMatch(new RegExp(`compaction/end +replaced by event ${replacementSeq}`))
    const again = await palimpsest(['compact', 's', '--range', `${replacementSeq}..8`], {
      root: await stored(longSession()),
    })
    expect(again).toMatchObject({ exit: 2 })
  })

  it('tells people what was made and how to undo it', async () => {
    const { out } = await palimpsest(['compact', 's', '--range', '1..4'], { root: await stored(longSession()) })
    expect(out).toContain('s: compacted, event 15 takes the place of 4 entries, 1 to 4')
    expect(out).toContain('made offline without a model')
    expect(out).toContain('palimpsest compact s --undo 15')
  })

  it('shows with --preview what it would do, to the token, and writes nothing', async () => {
    const root = await stored(longSession())
    const before = treeOf(root)
    const planned = await palimpsest(['compact', 's', '--keep-recent', '300', '--preview', '--json'], { root })
    expect(planned).toMatchObject({ exit: 0, json: { outcome: 'planned', preview: true } })
    expect((await palimpsest(['compact', 's', '--keep-recent', '300', '--preview'], { root })).out).toContain(
      'nothing was written',
    )
    expect(treeOf(root)).toEqual(before)
    const done = await palimpsest(['compact', 's', '--keep-recent', '300', '--json'], { root })
    const { outcome: _, preview: __, ...same } = planned.json as Record<string, unknown>
    expect(done.json).toMatchObject(same)
  })

  it('refuses with its reason and changes nothing, also what a crash left open', async () => {
    const root = await stored([said(0, 'Hi.'), event(1, 'turn/start', { turn: 1 })])
    const before = treeOf(root)
    for (const preview of [[], ['--preview']]) {
      const { exit, json } = await palimpsest(['compact', 's', '--json', ...preview], { root })
      expect(exit).toBe(1)
      expect(json).toMatchObject({ outcome: 'none', reason: 'nothing-to-gain' })
      expect(treeOf(root)).toEqual(before)
    }
    const { out } = await palimpsest(['compact', 's'], { root })
    expect(out).toMatch(/^s: not compacted \(nothing-to-gain\): /)
  })

  it('refuses a range that is none, a piece of a call, or the system prompt, and changes nothing', async () => {
    const long = longSession()
    const n = long.length
    const root = await stored([...long, answered(n, [call('c1')]), result(n + 1, 'c1')])
    const before = treeOf(root)
    const refused = async (range: string): Promise<[number, string]> => {
      const { exit, err } = await palimpsest(['compact', 's', '--range', range], { root })
      return [exit, err.split(' ')[1] ?? '']
    }
    expect(await refused(`1..${n}`)).toEqual([1, 'range/unbalanced:'])
    expect(await refused('0..4')).toEqual([1, 'range/head:'])
    expect(await refused('4..2')).toEqual([1, 'range/reversed:'])
    for (const none of ['1', '', '1..', '..4', '1..2..3']) expect(await refused(none)).toEqual([2, 'option/invalid:'])
    expect(await refused('1..999')).toEqual([2, 'seq/invalid:'])
    expect(treeOf(root)).toEqual(before)
  })

  it('names the calls that pin the surface while their writer is at work', async () => {
    const { jsonlPersistence } = await import('@palimpsest/session-persistence-jsonl')
    const { sessionId } = await import('@palimpsest/session')
    const root = await stored([said(0, 'Run it.')])
    const store = jsonlPersistence({ root })
    const writer = await store.open(sessionId('s'), 'write')
    await writer.append([answered(1, [call('c1')])] as never)
    const { exit, json } = await palimpsest(['compact', 's', '--preview', '--keep-recent', '0', '--json'], { root })
    await writer.close()
    await store.close()
    expect(exit).toBe(1)
    expect(json).toMatchObject({ outcome: 'none', reason: 'blocked', blockedBy: ['c1'] })
  })

  it('undoes a compaction in a new session, named by its id or by its replacement', async () => {
    const root = await stored(longSession())
    const before = await textsSeen(root, 's')
    const { json } = await palimpsest(['compact', 's', '--range', '1..6', '--json'], { root })
    const { compactionId, replacementSeq } = json as { compactionId: string; replacementSeq: number }
    const compacted = treeOf(root)
    for (const name of [compactionId, String(replacementSeq)]) {
      const undone = await palimpsest(['compact', 's', '--undo', name, '--json'], { root })
      expect(undone.json).toMatchObject({ parentSession: 's', messages: before.length })
      const { id } = undone.json as { id: string }
      expect(await textsSeen(root, id)).toEqual(before)
      expect((await palimpsest(['verify', id], { root })).exit).toBe(0)
    }
    expect(treeOf(root)).toMatchObject(compacted)
    const unknown = await palimpsest(['compact', 's', '--undo', '3'], { root })
    expect(unknown).toMatchObject({ exit: 1, out: '' })
    expect(unknown.err).toMatch(/^palimpsest: undo\/unknown: /)
  })

  it('takes --undo alone: with --preview, a range or a summariser nothing is written', async () => {
    const root = await stored(longSession())
    const { json } = await palimpsest(['compact', 's', '--range', '1..6', '--json'], { root })
    const { compactionId } = json as { compactionId: string }
    const before = treeOf(root)
    for (const more of [['--preview'], ['--range', '1..6'], ['--summarizer', 'extract'], ['--keep-recent', '5']]) {
      const { exit, err } = await palimpsest(['compact', 's', '--undo', compactionId, ...more], { root })
      expect(exit).toBe(2)
      expect(err).toContain(`cannot be used with option '${more[0]}`)
    }
    expect(treeOf(root)).toEqual(before)
  })

  it('lets a named model write the summary; when that fails, nothing is written', async () => {
    const root = await stored(longSession())
    const before = treeOf(root)
    await using server = await startProviderServer({
      kind: 'compatible',
      script: [{ failure: 'unauthorized' }, { blocks: [{ type: 'text', text: 'The gauge was cleaned.' }] }],
    })
    const asked = ['compact', 's', '--range', '1..6', '--summarizer', 'compatible/tiny', '--base-url', server.baseURL]
    const preview = await palimpsest([...asked, '--preview'], { root })
    expect(preview.out).toContain('compatible/tiny would write it')
    const failed = await palimpsest([...asked, '--json'], { root })
    expect(failed).toMatchObject({ exit: 1, json: { outcome: 'failed', reason: 'summarizer-failed' } })
    expect(treeOf(root)).toEqual(before)
    const { exit, out } = await palimpsest(asked, { root })
    expect(exit).toBe(0)
    expect(out).toContain('written by compatible/tiny')
    expect(await textsSeen(root, 's')).toContainEqual(expect.stringContaining('The gauge was cleaned.'))
    expect(server.requests).toHaveLength(2)
  })

  it('asks a model only when one is named, which needs its key', async () => {
    const root = await stored(longSession())
    const before = treeOf(root)
    const { exit, err } = await palimpsest(['compact', 's', '--summarizer', 'anthropic/claude'], { root })
    expect(exit).toBe(2)
    expect(err).toBe('palimpsest: chat/no-key: anthropic needs a key: set ANTHROPIC_API_KEY\n')
    expect(treeOf(root)).toEqual(before)
  })
})
