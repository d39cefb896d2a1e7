import { runCompaction } from '@palimpsest/compact'
import { describe, expect, it } from 'vitest'
import { bare, nodesOf, range, short, talk, typesOf } from './support.ts'

describe('runCompaction', () => {
  it('puts one user message in the place of the range, inside its bracket', async () => {
    const session = talk()
    const outcome = await runCompaction(session, range(1, 5), short, { ...bare, createId: () => 'c1' })
    expect(outcome).toMatchObject({
      kind: 'compacted',
      compactionId: 'c1',
      replacementSeq: 9,
      shadowedSeqs: [1, 2, 3, 4, 5],
    })
    expect(typesOf(session).slice(7)).toEqual([
      'compaction/start',
      'compaction/summary',
      'user/message',
      'compaction/end',
    ])
    expect(nodesOf(session)).toEqual([0, 9, 6])
    expect(session.eventAt(9)).toMatchObject({
      sourceEventSeqs: [1, 2, 3, 4, 5],
      data: { source: { kind: 'plugin', plugin: 'compact', compactionId: 'c1' } },
    })
  })
})
