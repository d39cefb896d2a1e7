import {
  type CopiedFrom,
  type EventEnvelope,
  type SessionEvent,
  type SessionSeq,
  SESSION_FORMAT_VERSION,
  Session,
  copiedFrom,
  interruptedTurnClosers,
  parseSessionHeader,
} from '@palimpsest/session'
import { type Bracket, findBracket } from './bracket.ts'
import { CompactionError } from './errors.ts'
import { type SeqMap, isUnderstood, remapReferences, requireNoReferences } from './references.ts'
import { requireVocabulary } from './events.ts'
import type { RangeEnds } from './span.ts'

export interface UndoOptions {
  /** Id of the child; a random UUID unless given. */
  readonly id?: string
  /** Gives the time of the marker and of what the child appends, in epoch milliseconds; `Date.now` unless given. */
  readonly now?: () => number
}

/**
 * A child in which a compaction never happened, named by its id or by the seq of its replacement. The child inherits
 * the events before `compaction/start`, as a fork does, then has the inherited end-seed marker, then copies of the later
 * events without the bracket's own. So the shadowed entries are visible again and later turns are kept. A turn that the
 * parent has not ended is closed, as in a fork.
 *
 * A copy has its seq and every seq that it names remapped, its own time and message id, and a member `copiedFrom:
 * { session, seq }` in its data: the event that an earlier lifetime really wrote. A copy of a copy names the first one.
 * A copied `user/message`, whose data is the message itself, derives the parent's message plus that member. A rewrite
 * of a tool result may differ from what it rewrites in content alone, so its copy has the `copiedFrom` of that entry.
 * All copies stand before `firstLiveSeq`: no tool and no compaction of theirs is under way in the child.
 *
 * Opaque events are copied verbatim. Throws `CompactionError` `undo/unknown`, `undo/cited` when a later event names
 * something left out, `undo/opaque`, `vocabulary/missing`; the parent is never changed. SPEC 7.1.
 */
export function undoCompaction(
  parent: Session,
  compaction: string | number,
  { id, now = Date.now }: UndoOptions = {},
): Session {
  requireVocabulary(parent)
  const bracket = findBracket(parent, compaction)
  const cut = bracket.startSeq
  const marker: SessionEvent = { type: 'session/end-seed', seq: cut, time: now(), data: { inherited: true } }
  const events: SessionEvent[] = [...parent.events.slice(0, cut), marker]
  const seqs = new Map<SessionSeq, SessionSeq>()
  for (const event of parent.eventsFrom(cut + 1)) {
    if (bracket.seqs.has(event.seq)) continue
    const seq = events.length as SessionSeq
    if (!isUnderstood(event.type, parent.vocabulary)) requireNoReferences(event)
    const moved = remapReferences(planBehind(event, bracket), mapFor(event, parent, bracket, seqs))
    seqs.set(event.seq, seq)
    events.push(copyOf(moved, seq, parent, events))
  }
  events.push(...interruptedTurnClosers(events))
  return Session.restore(
    { header: childHeader(parent, id, now()), events, inheritedEventCount: cut },
    { vocabulary: parent.vocabulary, unknown: 'keep', now },
  )
}

/**
 * What a later compaction planned, with the entries behind the summary in its place. Where it came to a replacement, that
 * covers the summary and hinders the undo; where it failed, nothing does. SPEC 7.1.
 */
function planBehind(event: SessionEvent, { replacementSeq, shadowedSeqs }: Bracket): SessionEvent {
  if (event.type !== 'compaction/start' && event.type !== 'compaction/summary') return event
  const first = (seq: SessionSeq): SessionSeq => (seq === replacementSeq ? shadowedSeqs[0] : undefined) ?? seq
  const last = (seq: SessionSeq): SessionSeq => (seq === replacementSeq ? shadowedSeqs.at(-1) : undefined) ?? seq
  const behind = ({ startSeq, endSeq }: RangeEnds): RangeEnds => ({ startSeq: first(startSeq), endSeq: last(endSeq) })
  if (event.type === 'compaction/start') {
    return event.data.trigger === undefined ? event : { ...event, data: { ...event.data, ...behind(event.data) } }
  }
  const { data } = event
  // One of another program names its range otherwise: where that holds the replacement, `cited` refuses it.
  if (data.tokensBefore === undefined) return event
  const shadowed = data.shadowedSeqs.flatMap((seq) => (seq === replacementSeq ? shadowedSeqs : [seq]))
  const shadowedRange = { ...data.shadowedRange, ...behind(data.shadowedRange) }
  return { ...event, data: { ...data, shadowedRange, shadowedSeqs: shadowed } }
}

/** How the references of one event of the parent move. `moved` holds the copies so far. */
function mapFor(
  event: SessionEvent,
  parent: Session,
  { startSeq: cut, seqs: leftOut, compactionId }: Bracket,
  moved: ReadonlyMap<SessionSeq, SessionSeq>,
): SeqMap {
  const cited = (seq: SessionSeq): SessionSeq => {
    if (leftOut.has(seq)) {
      throw new CompactionError(
        'undo/cited',
        `event ${event.seq} (${event.type}) names event ${seq} of compaction ${compactionId}: undo what came later first, or fork before event ${cut}`,
      )
    }
    return moved.get(seq) ?? seq
  }
  const through = (seq: SessionSeq): SessionSeq => {
    if (seq <= cut || seq >= parent.length) return seq
    let last = seq
    while (last > cut && leftOut.has(last)) last = (last - 1) as SessionSeq
    return moved.get(last) ?? last
  }
  return { cited, through }
}

function copyOf(event: SessionEvent, seq: SessionSeq, parent: Session, child: readonly SessionEvent[]): SessionEvent {
  if (!isUnderstood(event.type, parent.vocabulary)) return { ...event, seq }
  if (event.type === 'tool/result' && event.surfaceOp !== 'append') {
    return { ...event, seq, data: { ...event.data, ...originOf(child[event.surfaceOp.startSeq]) } }
  }
  const origin: CopiedFrom = copiedFrom(event) ?? { session: parent.id, seq: event.seq }
  // A marker of the parent's own fork lies behind this one's cut: what it marked is a copy here.
  const { inherited: _, ...data } = event.data as EventEnvelope['data']
  const kept = event.type === 'session/end-seed' ? data : event.data
  return { ...event, seq, data: { ...kept, copiedFrom: { ...origin } } } as unknown as SessionEvent
}

/** The origin that an event of the child has, as a member. */
function originOf(event: SessionEvent | undefined): object {
  const { copiedFrom: origin } = (event as unknown as EventEnvelope | undefined)?.data ?? {}
  return origin === undefined ? {} : { copiedFrom: origin }
}

function childHeader(parent: Session, id: string | undefined, createdAt: number): Session['header'] {
  const { cwd, origin, delegationDepth, agentPreset } = parent.header
  return parseSessionHeader({
    format: 'palimpsest',
    version: SESSION_FORMAT_VERSION,
    id: id ?? crypto.randomUUID(),
    createdAt,
    ...(cwd === undefined ? {} : { cwd }),
    parentSession: parent.id,
    isSeeded: true,
    ...(origin === undefined ? {} : { origin }),
    delegationDepth,
    ...(agentPreset === undefined ? {} : { agentPreset }),
  })
}
