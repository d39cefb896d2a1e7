import type { Session } from '@palimpsest/session'
import type { CompactionEnd } from './events.ts'

interface Brackets {
  /** Events before it were looked at. */
  scanned: number
  /** Ids of brackets of this lifetime that no `compaction/end` closed, oldest first. */
  readonly open: Set<string>
  /** Ends that the session refused. Their brackets are over, so they lock nothing. */
  readonly unwritten: Map<string, CompactionEnd>
}

const bracketsOf = new WeakMap<Session, Brackets>()

/**
 * Id of the compaction that is under way: one whose `compaction/start` this lifetime wrote and nothing ended yet.
 * Brackets before `session.firstLiveSeq` belong to a lifetime that is over and are ignored. Each event is looked at
 * once, however often this is asked. SPEC 7.1.
 */
export function activeCompaction(session: Session): string | undefined {
  const { open, unwritten } = catchUp(session)
  for (const compactionId of open) if (!unwritten.has(compactionId)) return compactionId
  return undefined
}

/** Closes a bracket. Where the session refuses the event the lock is released all the same, and the next bracket tries again. */
export function endBracket(session: Session, end: CompactionEnd): void {
  const { unwritten } = catchUp(session)
  unwritten.set(end.compactionId, end)
  writeEnds(session)
}

/** Writes the ends that were refused before. One that is refused again does not hold up the others. */
export function writeEnds(session: Session): void {
  const { unwritten } = catchUp(session)
  for (const end of unwritten.values()) {
    try {
      session.append('compaction/end', end)
      unwritten.delete(end.compactionId)
    } catch {
      // Vetoed, as by a handle that is out of space: whoever vetoes reports why.
    }
  }
}

function catchUp(session: Session): Brackets {
  const brackets = bracketsOf.get(session) ?? {
    scanned: session.firstLiveSeq,
    open: new Set(),
    unwritten: new Map(),
  }
  bracketsOf.set(session, brackets)
  for (; brackets.scanned < session.length; brackets.scanned += 1) {
    const event = session.eventAt(brackets.scanned)
    if (event?.type === 'compaction/start') brackets.open.add(event.data.compactionId)
    if (event?.type === 'compaction/end') brackets.open.delete(event.data.compactionId)
  }
  return brackets
}
