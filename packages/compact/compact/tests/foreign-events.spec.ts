import { type CompactionError, activeCompaction, compactionEvents, undoCompaction } from '@palimpsest/compact'
import { type SessionEvent, Session, coreEvents } from '@palimpsest/session'
import { describe, expect, it } from 'vitest'

const vocabulary = coreEvents.extend(compactionEvents)
const step = { turn: 1, step: 1 }

const said = (words: string, rest: object = { surfaceOp: 'append' }, source: object = { kind: 'user' }): object => ({
  type: 'user/message',
  data: { id: `m-${words}`, role: 'user', content: [{ type: 'text', text: words }], source },
  ...rest,
})

/** A log of deepseek-harness after its migration: it cites more than it covers, and the range is in the summary alone. */
function migrated(later: readonly object[] = []): Session {
  const compactionId = 'c1'
  const events = [
    { type: 'turn/start', data: { turn: 1 } },
    { type: 'step/start', data: step },
    said('one'),
    said('two'),
    { type: 'compaction/start', data: { compactionId, turn: 1 } },
    {
      type: 'compaction/summary',
      data: {
        compactionId,
        summary: [{ type: 'text', text: 'Both.' }],
        rawOutput: [],
        shadowedRange: { start: 2, end: 3 },
        shadowedSeqs: [2, 3],
        shadowedTokenCount: 40,
        provider: 'acme',
        model: 'acme-1',
      },
    },
    said(
      'both',
      { surfaceOp: { op: 'replace', startSeq: 2, endSeq: 3 }, sourceEventSeqs: [4, 5, 2, 3] },
      { kind: 'plugin', plugin: 'compact', compactionId },
    ),
    { type: 'compaction/end', data: { compactionId, turn: 1 } },
    said('three'),
    ...later,
  ].map((event, seq) => ({ ...event, seq, time: 1000 + seq }) as unknown as SessionEvent)
  const header = { format: 'palimpsest', version: 3, id: 's', createdAt: 0, isSeeded: false, delegationDepth: 0 }
  return Session.restore({ header, events, inheritedEventCount: 0 } as never, { vocabulary, unknown: 'keep' })
}

const textsOf = (session: Session): string[] => session.deriveMessages().map(({ id }) => id.slice(2))

describe('a compaction that deepseek-harness wrote', () => {
  it('is accepted in its own members, and holds no lock', () => {
    const session = migrated()
    expect(textsOf(session)).toEqual(['both', 'three'])
    expect(activeCompaction(session)).toBeUndefined()
    expect(session.findings).toEqual([])
  })

  it('is undone, with all that it covered and what came later', () => {
    const child = undoCompaction(migrated(), 'c1')
    expect(textsOf(child)).toEqual(['one', 'two', 'three'])
    expect([...child.events].map(({ type }) => type)).not.toContain('compaction/end')
  })

  it('is not undone where a later one stands on it', () => {
    const compactionId = 'c2'
    const summary = { compactionId, summary: [], shadowedTokenCount: 1, provider: 'acme', model: 'acme-1' }
    const parent = migrated([
      { type: 'compaction/start', data: { compactionId, turn: 1 } },
      { type: 'compaction/summary', data: { ...summary, shadowedRange: { start: 6, end: 8 }, shadowedSeqs: [6, 8] } },
    ])
    expect(() => undoCompaction(parent, 'c1')).toThrow(
      expect.objectContaining({ code: 'undo/cited' }) as CompactionError,
    )
  })

  it('moves its own range where an earlier one is undone', () => {
    const compactionId = 'c2'
    const summary = { compactionId, summary: [], shadowedTokenCount: 1, provider: 'acme', model: 'acme-1' }
    const child = undoCompaction(
      migrated([
        { type: 'compaction/start', data: { compactionId, turn: 1 } },
        { type: 'compaction/summary', data: { ...summary, shadowedRange: { start: 8, end: 8 }, shadowedSeqs: [8] } },
      ]),
      'c1',
    )
    // Inherited events, the marker, and the copy of event 8.
    expect(child.events.find(({ type }) => type === 'compaction/summary')?.data).toMatchObject({
      shadowedRange: { start: 5, end: 5 },
      shadowedSeqs: [5],
    })
  })

  it('is not undone where a plugin that is not known here names seqs', () => {
    const prune = { type: 'compaction/prune', data: { shadowedRange: { start: 8, end: 8 }, shadowedSeqs: [8] } }
    expect(() => undoCompaction(migrated([prune]), 'c1')).toThrow(
      expect.objectContaining({ code: 'undo/opaque' }) as CompactionError,
    )
  })

  it('is refused with members of both, or of neither', () => {
    for (const data of [{ compactionId: 'c' }, { compactionId: 'c', turn: 1, trigger: 'manual' }])
      expect(() => migrated([{ type: 'compaction/start', data }])).toThrow(
        expect.objectContaining({ code: 'payload/invalid' }) as Error,
      )
  })
})
