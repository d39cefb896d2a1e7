import type {
  CompactionEnd,
  CompactionRange,
  CompactionStart,
  ForeignCompactionEnd,
  ForeignCompactionStart,
  RangeEnds,
} from '@palimpsest/compact'
import type { LogOnlyEventType, Session, SessionEvent } from '@palimpsest/session'
import { describe, expectTypeOf, it } from 'vitest'

declare const session: Session
declare const event: SessionEvent

describe('the types of compaction', () => {
  it('are those of the session once the package is imported', () => {
    expectTypeOf<'compaction/start' | 'compaction/summary' | 'compaction/end'>().toExtend<LogOnlyEventType>()
    if (event.type === 'compaction/start')
      expectTypeOf(event.data).toEqualTypeOf<CompactionStart | ForeignCompactionStart>()
    expectTypeOf(session.append('compaction/end', { compactionId: 'c' }).data).toEqualTypeOf<
      CompactionEnd | ForeignCompactionEnd
    >()
    // @ts-expect-error a log-only event has no place on the surface
    session.append('compaction/end', { compactionId: 'c' }, { surfaceOp: 'append' })
  })

  it('let a plan be carried out as it is', () => {
    expectTypeOf<CompactionRange>().toExtend<RangeEnds>()
  })
})
