import type { Session, SessionSeq, SurfaceEvent, ToolCallId } from '@palimpsest/session'

/** How many calls are open along the surface of one session, kept up with it. */
interface OpenCalls {
  /** The replacements that the surface had when this was counted. */
  readonly generation: number
  readonly positions: Map<SessionSeq, number>
  /** By position: how many calls are open right after the entry. */
  readonly after: number[]
  /** Open after the last counted entry. */
  readonly calls: Set<ToolCallId>
}

const counted = new WeakMap<Session, OpenCalls>()

/**
 * Whether no call is open right before the surface entry `seq`: a range may begin there. O(1) when nothing is new,
 * O(new entries) after appends, O(surface) after a replacement. Throws `RangeError` when `seq` is not on the surface.
 * SPEC 7.1.
 */
export function balancedBefore(session: Session, seq: number): boolean {
  const position = requirePosition(session, seq)
  return position === 0 || openAfter(session, position - 1) === 0
}

/**
 * Whether no call is open right after the surface entry `seq`: a range may end there. Costs and throws as
 * `balancedBefore`. SPEC 7.1.
 */
export function balancedAfter(session: Session, seq: number): boolean {
  return openAfter(session, requirePosition(session, seq)) === 0
}

/** Position of an entry on the surface; undefined when it is not on it. */
export function positionOf(session: Session, seq: number): number | undefined {
  return openCalls(session).positions.get(seq as SessionSeq)
}

function requirePosition(session: Session, seq: number): number {
  const position = positionOf(session, seq)
  if (position === undefined) throw new RangeError(`event ${seq} is not on the surface of session ${session.id}`)
  return position
}

function openAfter(session: Session, position: number): number | undefined {
  return openCalls(session).after[position]
}

function openCalls(session: Session): OpenCalls {
  const { nodes, replaceGeneration: generation } = session.surface
  const known = counted.get(session)
  const count: OpenCalls =
    known?.generation === generation ? known : { generation, positions: new Map(), after: [], calls: new Set() }
  if (count !== known) counted.set(session, count)
  for (let position = count.after.length; position < nodes.length; position += 1) {
    const seq = nodes[position] as SessionSeq
    pass(count.calls, session.eventAt(seq) as SurfaceEvent)
    count.positions.set(seq, position)
    count.after.push(count.calls.size)
  }
  return count
}

function pass(calls: Set<ToolCallId>, event: SurfaceEvent): void {
  if (event.type === 'tool/result') calls.delete(event.data.message.source.callId)
  if (event.type !== 'assistant/message') return
  for (const block of event.data.message.content) if (block.type === 'tool-call') calls.add(block.id)
}
