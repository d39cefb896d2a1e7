import { foldSurface, sessionSeq } from '@palimpsest/session'
import type { SessionEvent } from '@palimpsest/session'
import type { ImportRegrown } from '../events.ts'
import { Places, isSamePrompt } from './places.ts'
import { isStillGiven, sourceLines } from './still-given.ts'

/**
 * What a source that was imported before has to add. `unchanged`: nothing. `extended`: these events, from the next seq of
 * the log on. `diverged`: the log holds something that no import of this source wrote, or that it no longer gives.
 */
export type ImportGrowth =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'extended'; readonly events: readonly SessionEvent[] }
  | { readonly kind: 'diverged' }

/**
 * Compares a stored import with an import of the same source now. Where the source ended inside a turn, the log closed
 * it; when the source went on, that turn is read again, and its prompt replaces the old reading. So the log derives what a
 * fresh import derives, and keeps what it had. Pure. SPEC 8.
 */
export function growImport(here: readonly SessionEvent[], fresh: readonly SessionEvent[]): ImportGrowth {
  const places = new Places(here)
  let matched = 0
  while (matched < fresh.length && matched < places.length && places.isAt(fresh, matched, here)) matched += 1
  if (matched === fresh.length) return { kind: 'unchanged' }
  if (matched === places.length) return { kind: 'extended', events: appended(fresh, matched, places, here.length) }
  const rest = here.slice(places.of(matched))
  return rest.every(isOfImport) && isStillGiven(rest, fresh)
    ? regrown(here, fresh, matched, places)
    : { kind: 'diverged' }
}

function appended(
  fresh: readonly SessionEvent[],
  from: number,
  places: Places,
  next: number,
  heads: ImportRegrown['heads'] = [],
): SessionEvent[] {
  const events: SessionEvent[] = []
  for (const event of fresh.slice(from)) {
    if (heads.some(({ event: kept }) => kept === event.seq)) continue
    places.add(next + events.length)
    events.push(places.moved(event))
  }
  return events
}

/** Whether an import wrote this event, as against somebody who went on with the session here. */
function isOfImport(event: SessionEvent): boolean {
  switch (event.type) {
    case 'import/raw':
    case 'import/regrown':
    case 'turn/start':
    case 'turn/end':
    case 'step/start':
    case 'step/end':
    case 'tool/call':
    case 'request/header':
    case 'assistant/attempt':
      return true
    case 'user/message':
      return sourceLines(event).length > 0
    case 'system/message':
      return event.data.message.content.length === 0 || sourceLines(event).length > 0
    case 'assistant/message':
      return sourceLines(event).length > 0
    case 'tool/result':
      return sourceLines(event).length > 0 || event.data.message.id.startsWith('interrupted-')
    default:
      return false
  }
}

/** Reads the source again from the begin of the turn in which the two part, or of an earlier one. */
function regrown(
  here: readonly SessionEvent[],
  fresh: readonly SessionEvent[],
  matched: number,
  places: Places,
): ImportGrowth {
  const { nodes } = foldSurface(here)
  const begins = turnsUpTo(fresh, matched)
  for (const begin of new Set([begins.at(-1), begins[0]])) {
    if (begin === undefined) continue
    const kept = foldSurface(fresh.slice(0, begin.from)).nodes.map((seq) => places.of(seq))
    if (kept.some((seq, at) => nodes[at] !== seq)) continue
    const heads = kept.length === 0 ? keptHeads(here, fresh, begin.prompt, places, matched) : []
    const last = heads.at(-1)?.at
    const covered = nodes.slice(last === undefined ? kept.length : 1)
    if (last === undefined ? covered[0] === nodes[0] && covered.length > 0 : nodes[0] !== last) continue
    const turns = lastTurn(here) - lastTurn(fresh.slice(0, begin.from))
    const mark = { from: begin.from, turns, covers: covered.length > 0, ...(heads.length === 0 ? {} : { heads }) }
    const seq = sessionSeq(here.length)
    const time = fresh[matched]?.time ?? 0
    places.restart(mark)
    places.cover(begin.prompt, covered)
    const events = appended(fresh, begin.from, places, here.length + 1, heads)
    return {
      kind: 'extended',
      events: [{ type: 'import/regrown', seq, time, ignorable: true, data: mark }, ...events],
    }
  }
  return { kind: 'diverged' }
}

/** Turns that begin with a prompt up to an event: the prompt can replace what was read of the turn before. */
function turnsUpTo(fresh: readonly SessionEvent[], last: number): { readonly from: number; readonly prompt: number }[] {
  const turns: { from: number; prompt: number }[] = []
  let from: number | undefined
  for (const event of fresh) {
    if (event.type === 'turn/start') from = event.seq > last ? undefined : event.seq
    if (from === undefined || event.surfaceOp === undefined || event.type === 'system/message') continue
    if (event.type === 'user/message' && event.surfaceOp === 'append') turns.push({ from, prompt: event.seq })
    from = undefined
  }
  // Before the first turn there was a system prompt at most, or nothing that a model reads: all of it is read again.
  const first = fresh.find(({ type, surfaceOp }) => surfaceOp !== undefined && type !== 'system/message')
  if (turns.length === 0 && (first === undefined || first.type === 'user/message'))
    turns.push({ from: openTurn(fresh, last), prompt: first?.seq ?? fresh.length })
  return turns
}

/** The begin of the turn that is open before an event, or the event itself. */
function openTurn(events: readonly SessionEvent[], before: number): number {
  let open = before
  for (const { type, seq } of events.slice(0, before)) {
    if (type === 'turn/start') open = seq
    else if (type === 'turn/end') open = before
  }
  return open
}

function lastTurn(events: readonly SessionEvent[]): number {
  return events.findLast((event) => event.type === 'turn/start')?.data.turn ?? 0
}

/** Events of the import that made the head of the surface before the prompt, where the log has each of them. */
function keptHeads(
  here: readonly SessionEvent[],
  fresh: readonly SessionEvent[],
  prompt: number,
  places: Places,
  matched: number,
): NonNullable<ImportRegrown['heads']> {
  const made = fresh.slice(0, prompt).filter(({ surfaceOp }) => surfaceOp !== undefined)
  if (made.every(({ seq }) => seq < matched)) return made.map(({ seq }) => ({ event: seq, at: places.of(seq) }))
  // An import that found nothing but a prompt of the system has its head elsewhere.
  const [event] = made
  const known = here.find(({ surfaceOp }) => surfaceOp !== undefined)
  return made.length === 1 && event !== undefined && known !== undefined && isSamePrompt(event, known)
    ? [{ event: event.seq, at: known.seq }]
    : []
}
