import { CompactionError, activeCompaction, runCompaction, undoCompaction } from '@palimpsest/compact'
import { Session, SessionStore, copiedFrom, interruptedTurnClosers, reconstructRequest } from '@palimpsest/session'
import { assistantData, type resultData, text } from '@palimpsest/testkit'
import { describe, expect, it } from 'vitest'
import { violations } from './providers.ts'
import {
  add,
  answer,
  appended,
  bare,
  call,
  fresh,
  nodesOf,
  range,
  replacing,
  reply,
  say,
  short,
  talk,
  typesOf,
  vocabulary,
} from './support.ts'

const compact = async (session: Session, start: number, end: number, createId = 'c1'): Promise<number> => {
  const outcome = await runCompaction(session, range(start, end), short, { ...bare, createId: () => createId })
  if (outcome.kind !== 'compacted') throw new Error(JSON.stringify(outcome))
  return outcome.replacementSeq
}

const undo = (session: Session, compaction: string | number = 'c1'): Session =>
  undoCompaction(session, compaction, { id: 'child', now: () => 5 })

/** Code and message of a refusal. */
function refusal(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof CompactionError) return error.message
    throw error
  }
  return 'nothing was refused'
}

const header = { config: { provider: 'acme.chat', model: 'acme-1' } }

/** Sends a request on what the model sees now; the seq of its answer. */
function asked(session: Session, throughSeq = session.length - 1): number {
  const place = { turn: 1, step: 1 }
  const requestSeq = add(session, 'request/start', { ...place, attempt: 1, throughSeq }).seq
  const data = assistantData(`a-${session.length}`, [text('An answer, and rather a long one at that.')])
  return add(session, 'assistant/message', { ...data, requestSeq }, appended).seq
}

describe('undoCompaction', () => {
  it('shows the covered entries again and keeps what came later', async () => {
    const parent = talk({ cwd: '/srv/app', agentPreset: 'coder', delegationDepth: 2, origin: 'subagent' })
    const replacement = await compact(parent, 1, 5)
    const later = [reply(parent, 'Done.'), say(parent, 'Thanks')]
    expect(nodesOf(parent)).toEqual([0, replacement, 6, ...later])
    for (const named of ['c1', replacement]) {
      const child = undo(parent, named)
      expect(nodesOf(child)).toEqual([0, 1, 2, 3, 4, 5, 6, 8, 9])
      expect(typesOf(child).slice(7)).toEqual(['session/end-seed', 'assistant/message', 'user/message'])
      expect(child.eventAt(7)).toMatchObject({ time: 5, data: { inherited: true } })
      expect(child.inheritedEventCount).toBe(7)
      expect(child.eventAt(3)).toBe(parent.eventAt(3))
      expect(child.header).toMatchObject({
        id: 'child',
        createdAt: 5,
        parentSession: 'talk',
        isSeeded: true,
        cwd: '/srv/app',
        agentPreset: 'coder',
        delegationDepth: 2,
        origin: 'subagent',
      })
    }
    expect(parent.length).toBe(13)
  })

  it('names the event behind each copy, whose time and message id are kept', async () => {
    const parent = talk()
    await compact(parent, 1, 5)
    const [reading, saying] = [reply(parent, 'Done.'), say(parent, 'Thanks')]
    const child = undo(parent)
    expect(copiedFrom(child.eventAt(8) as never)).toEqual({ session: 'talk', seq: reading })
    expect(child.eventAt(9)).toEqual({
      ...parent.eventAt(saying),
      seq: 9,
      data: { ...parent.eventAt(saying)?.data, copiedFrom: { session: 'talk', seq: saying } },
    })
    expect(child.deriveMessages().map(({ id }) => id)).toEqual([
      's-0',
      'u-1',
      'a-2',
      'r-3',
      'r-4',
      'a-5',
      'u-6',
      'a-11',
      'u-12',
    ])
    expect(copiedFrom(child.eventAt(6) as never)).toBeUndefined()
  })

  it('takes a copy for what an earlier lifetime wrote: nothing of it is under way', async () => {
    const parent = talk()
    await compact(parent, 1, 5)
    add(parent, 'compaction/start', { compactionId: 'c2', trigger: 'manual', startSeq: 6, endSeq: 6 })
    const child = undo(parent)
    expect(child.firstLiveSeq).toBe(child.length)
    expect(activeCompaction(parent)).toBe('c2')
    expect(activeCompaction(child)).toBeUndefined()
    expect(await compact(child, 1, 5, 'c3')).toBeGreaterThan(0)
  })

  it('keeps what others appended inside the bracket', async () => {
    const parent = talk()
    let late = -1
    const summarize = (): { text: string } => {
      late = say(parent, 'One more thing')
      return { text: 'S' }
    }
    await runCompaction(parent, range(1, 5), summarize, { ...bare, createId: () => 'c1' })
    const child = undo(parent)
    expect(nodesOf(child)).toEqual([0, 1, 2, 3, 4, 5, 6, 8])
    expect(copiedFrom(child.eventAt(8) as never)).toEqual({ session: 'talk', seq: late })
  })

  it('closes the turn and the calls that the parent has not', async () => {
    const parent = talk()
    await compact(parent, 1, 5)
    add(parent, 'turn/start', { turn: 2 })
    call(parent, 'c')
    const child = undo(parent)
    expect(typesOf(child).slice(-4)).toEqual(['turn/start', 'assistant/message', 'tool/result', 'turn/end'])
    expect(interruptedTurnClosers(child.events)).toEqual([])
    expect(violations(child.deriveMessages())).toEqual([])
  })

  it('undoes a compaction that a crash cut off after its replacement', async () => {
    const parent = talk()
    const replacement = await compact(parent, 1, 5)
    const crashed = fresh({ seed: parent.events.slice(0, replacement + 1) })
    say(crashed, 'Where were we?')
    expect(nodesOf(undo(crashed))).toEqual([0, 1, 2, 3, 4, 5, 6, 8])
  })

  it('goes through a store and comes back', async () => {
    const parent = talk()
    await compact(parent, 1, 5)
    say(parent, 'Thanks')
    const { header: of, events, inheritedEventCount } = undo(parent)
    const stored = structuredClone({ header: of, events, inheritedEventCount })
    const again = Session.restore(stored, { vocabulary })
    expect(again.events).toEqual(events)
    expect(undo(parent).deriveMessages()).toEqual(again.deriveMessages())
  })
})

describe('the references of a copy', () => {
  it('move with what they name: sources, ends, requests and later compactions', async () => {
    const parent = talk()
    add(parent, 'request/header', { header, reason: 'initial' })
    await compact(parent, 1, 5)
    const first = say(parent, 'A question that is worth a summary')
    const answered = asked(parent)
    const attempt = add(parent, 'assistant/attempt', { turn: 1, step: 1, stream: [], requestSeq: answered - 1 }).seq
    const note = add(
      parent,
      'user/message',
      { ...parent.eventAt(6)?.data, id: 'note' },
      { ...appended, sourceEventSeqs: [3, first] },
    ).seq
    await compact(parent, first, answered, 'c2')
    const child = undo(parent)
    const moved = (seq: number): number => seq - 3
    expect(child.eventAt(moved(note))?.sourceEventSeqs).toEqual([3, moved(first)])
    expect(child.eventAt(moved(answered))?.data).toMatchObject({ requestSeq: moved(answered - 1) })
    expect(child.eventAt(moved(attempt))?.data).toMatchObject({ requestSeq: moved(answered - 1) })
    expect(child.eventAt(moved(answered - 1))?.data).toMatchObject({ throughSeq: moved(first) })
    const [begun, summed, replaced, ended] = child.events.slice(moved(note) + 1)
    const ends = { startSeq: moved(first), endSeq: moved(answered) }
    expect(begun?.data).toMatchObject({ compactionId: 'c2', ...ends })
    expect(summed?.data).toMatchObject({ shadowedRange: ends, shadowedSeqs: [moved(first), moved(answered)] })
    expect(replaced).toMatchObject({
      surfaceOp: { op: 'replace', ...ends },
      sourceEventSeqs: [moved(first), moved(answered)],
    })
    expect(ended?.data).toMatchObject({ compactionId: 'c2', replacementSeq: replaced?.seq })
  })

  it('to a point inside the bracket move to what stands before it', async () => {
    const parent = talk()
    await compact(parent, 1, 5)
    for (const through of [6, 7, 8, 9, 10]) asked(parent, through)
    const child = undo(parent)
    const points = child.events.flatMap((event) => (event.type === 'request/start' ? [event.data.throughSeq] : []))
    expect(points).toEqual([6, 7, 7, 7, 7])
  })

  it('of a later compaction that failed name what its plan stood for without the summary', async () => {
    const parent = talk()
    const replacement = await compact(parent, 1, 5)
    const blank = { ...bare, createId: () => 'c2' }
    await runCompaction(parent, range(replacement, 6), () => ({ text: '' }), blank)
    await runCompaction(parent, range(replacement, replacement), () => ({ text: '' }), {
      ...blank,
      createId: () => 'c3',
    })
    const stop = parent.on('internal/dispatch', ({ type }) => {
      if (type === 'user/message') throw new Error('no room')
    })
    await runCompaction(parent, range(replacement, 6), () => ({ text: '-' }), { ...blank, createId: () => 'c4' })
    stop()
    const child = undo(parent)
    expect(nodesOf(child)).toEqual([0, 1, 2, 3, 4, 5, 6])
    const starts = child.events.filter(({ type }) => type === 'compaction/start').map(({ data }) => data)
    expect(starts).toMatchObject([range(1, 6), range(1, 5), range(1, 6)])
    const summary = child.events.find(({ type }) => type === 'compaction/summary')?.data
    expect(summary).toMatchObject({ shadowedRange: range(1, 6), shadowedSeqs: [1, 2, 3, 4, 5, 6] })
  })

  it('that name nothing stay as they are', async () => {
    const parent = talk()
    await compact(parent, 1, 5)
    asked(parent, 999)
    add(parent, 'assistant/attempt', { turn: 1, step: 1, stream: [], requestSeq: 999 })
    add(parent, 'assistant/attempt', { turn: 1, step: 1, stream: [] })
    const child = undo(parent)
    expect(child.events.slice(8).map(({ data }) => data)).toMatchObject([
      { throughSeq: 999 },
      { requestSeq: 9 - 1 },
      { requestSeq: 999 },
      {},
    ])
  })

  it('of a rewritten result: its copy keeps the origin of what it rewrites, for it may differ in content alone', async () => {
    const parent = talk()
    const batch = call(parent, 'c', 'd')
    answer(parent, 'c')
    await compact(parent, 1, 1)
    const result = answer(parent, 'd')
    const rewrite = (seq: number, words: string): number => {
      const data = structuredClone(parent.eventAt(seq)?.data) as ReturnType<typeof resultData>
      const [block] = data.message.content
      const content = [{ ...block, content: [text(words)] }]
      return add(parent, 'tool/result', { ...data, message: { ...data.message, content } }, replacing([seq])).seq
    }
    rewrite(batch + 1, 'short')
    rewrite(rewrite(result, 'short'), 'shorter')
    const child = undo(parent)
    expect(child.events.slice(-3).map((event) => copiedFrom(event)?.seq)).toEqual([undefined, result, result])
    expect(child.deriveMessages().length).toBe(10)
  })

  it('reconstructRequest refuses a copy and names the real request; on inherited events it works', async () => {
    const parent = fresh({ id: 'parent' })
    say(parent, 'A question that is long enough')
    add(parent, 'request/header', { header, reason: 'initial' })
    const before = asked(parent)
    await compact(parent, 0, before)
    say(parent, 'More')
    const after = asked(parent)
    const child = undo(parent)
    expect(reconstructRequest(child.events, before)).toEqual(reconstructRequest(parent.events, before))
    const copy = child.length - 1
    expect(() => reconstructRequest(child.events, copy)).toThrow(
      expect.objectContaining({
        code: 'request/copied',
        message: expect.stringContaining(`event ${after} of session parent`) as string,
      }),
    )
    const grandchild = undoCompaction(await compacted(child), 'c2')
    expect(() =>
      reconstructRequest(
        grandchild.events,
        grandchild.events.findLastIndex(({ type }) => type === 'assistant/message'),
      ),
    ).toThrow(
      expect.objectContaining({ message: expect.stringContaining(`event ${after} of session parent`) as string }),
    )
  })

  /** The child with a compaction of its own that covers no copy of an answer. */
  async function compacted(child: Session): Promise<Session> {
    await compact(child, 0, 0, 'c2')
    return child
  }
})

describe('a compaction that was inherited', () => {
  it('is undone in a fork too; the marker of the fork stays, but marks nothing', async () => {
    const parent = talk()
    await compact(parent, 1, 5)
    const fork = new SessionStore().fork(parent, undefined, { id: 'fork' })
    say(fork, 'Thanks')
    const child = undo(fork)
    expect(nodesOf(child)).toEqual([0, 1, 2, 3, 4, 5, 6, 9])
    expect(child.inheritedEventCount).toBe(7)
    expect(child.eventAt(8)).toMatchObject({
      type: 'session/end-seed',
      data: { copiedFrom: { session: 'fork', seq: 11 } },
    })
    expect(child.eventAt(8)?.data).not.toHaveProperty('inherited')
  })

  it('is undone after another undo; a copy of a copy names the event that was really written', async () => {
    const parent = talk()
    await compact(parent, 1, 5, 'c1')
    const early = say(parent, 'A thing that is worth a summary')
    await compact(parent, 6, early, 'c2')
    const late = say(parent, 'Thanks')
    const both = undoCompaction(undoCompaction(parent, 'c2', { id: 'one' }), 'c1', { id: 'two' })
    expect(both.header.parentSession).toBe('one')
    expect(nodesOf(both)).toEqual([0, 1, 2, 3, 4, 5, 6, 8, 10])
    expect(copiedFrom(both.eventAt(10) as never)).toEqual({ session: 'talk', seq: late })
    expect(copiedFrom(both.eventAt(8) as never)).toEqual({ session: 'one', seq: early })
  })
})

describe('undoCompaction refuses', () => {
  it('an id or a seq that names no compaction which replaced something', async () => {
    const parent = talk()
    await runCompaction(parent, range(1, 5), () => ({ text: '' }), { ...bare, createId: () => 'c0' })
    say(parent, 'a summary by hand', replacing([5, 6]))
    await compact(parent, 1, 1)
    for (const named of ['c0', 'nobody', '', 9, 6, 0, 99, -1]) {
      expect(refusal(() => undo(parent, named))).toMatch(/^undo\/unknown: .*in session talk/)
    }
    const source = { kind: 'plugin', plugin: 'compact', compactionId: 'c9' }
    add(parent, 'user/message', { ...parent.eventAt(1)?.data, source }, replacing([2, 3, 4]))
    add(parent, 'compaction/start', { compactionId: 'c9', trigger: 'manual', startSeq: 1, endSeq: 5 })
    expect(refusal(() => undo(parent, 'c9'))).toMatch(/^undo\/unknown: .*compaction\/start/)
  })

  it('when a later compaction covers the summary', async () => {
    const parent = talk()
    const replacement = await compact(parent, 1, 5)
    await compact(parent, replacement, 6, 'c2')
    expect(refusal(() => undo(parent))).toMatch(
      /^undo\/cited: event 13 \(user\/message\) names event 9 of compaction c1/,
    )
  })

  it('when a later event covers or cites something of the bracket', async () => {
    for (const seq of [7, 8, 9, 10]) {
      const parent = talk()
      await compact(parent, 1, 5)
      add(parent, 'user/message', parent.eventAt(6)?.data as object, { ...appended, sourceEventSeqs: [seq] })
      expect(refusal(() => undo(parent))).toMatch(
        new RegExp(`^undo/cited: event 11 .user/message. names event ${seq} `),
      )
    }
    const covering = talk()
    await compact(covering, 1, 5)
    say(covering, 'both', replacing([9, 6]))
    expect(refusal(() => undo(covering))).toMatch(/^undo\/cited: event 11/)
  })

  it('an opaque event that may name seqs, and keeps any other as it is', async () => {
    const parent = talk()
    await compact(parent, 1, 5)
    add(parent, 'acme/note', { extra: ['seq', { sequel: 2 }] }, { ignorable: true })
    const kept = undo(parent)
    expect(kept.eventAt(8)).toEqual({ ...parent.eventAt(11), seq: 8 })
    for (const [data, more] of [
      [{ deep: [{ doneSeq: 3 }] }, {}],
      [{ seqs: [] }, {}],
      [{}, { sourceEventSeqs: [1] }],
      [{}, { surfaceOp: { any: 'thing' } }],
    ]) {
      const odd = fresh({ seed: parent.events })
      add(odd, 'acme/note', data as object, { ignorable: true, ...more })
      expect(refusal(() => undo(odd))).toMatch(/^undo\/opaque: event 12 \(acme\/note\)/)
    }
  })

  it('a session that does not know the events', () => {
    const parent = Session.create()
    expect(refusal(() => undo(parent))).toMatch(/^vocabulary\/missing/)
  })
})
