import {
  type SessionEvent,
  type SessionSeq,
  Session,
  SessionAcceptanceError,
  stringifyEvent,
} from '@palimpsest/session'
import {
  ReferenceSession,
  answerOf,
  anyCommands,
  callsOf,
  candidateFor,
  codingSession,
  type Command,
  type ReferenceEvent,
} from '@palimpsest/testkit'
import fc from 'fast-check'
import type { RangeEnds } from '@palimpsest/compact'
import { add, fresh, vocabulary } from './support.ts'

const given = process.env['PALIMPSEST_SEED']
/** `PALIMPSEST_SEED` repeats a run. */
export const seed: number = given === undefined ? (Math.random() * 2 ** 31) | 0 : Number(given)

/** The runs of a property: fewer here, `PALIMPSEST_MODEL_RUNS` for more. */
export const runs = (few: number): { numRuns: number; seed: number } => ({
  numRuns: Number(process.env['PALIMPSEST_MODEL_RUNS'] ?? few),
  seed,
})

/** Appends what the commands mean in the session's state; moves that are no appends are passed over. */
export function grow(session: Session, commands: readonly Command[]): void {
  for (const command of commands) {
    if (command.kind !== 'append') continue
    const { type, data, intent } = candidateFor(command.step, new ReferenceSession(session.events))
    try {
      add(session, type, data as object, intent)
    } catch (error) {
      if (!(error instanceof SessionAcceptanceError)) throw error
    }
  }
}

/** A tool-heavy coding session with requests, steps and turns. */
export function coding(of: { seed: number; events: number; replacementRate: number }): Session {
  const session = fresh({ id: `coding-${of.seed}` })
  for (const { type, data, intent } of codingSession(of)) add(session, type, data, intent)
  return session
}

/** Makes the same session each time it is called: what a property does to one must not reach the next run. */
export type Make = () => Session

/** Makes a session of any shape: what the kernel's own model tests append, or a coding session. */
export const anyMake: fc.Arbitrary<Make> = fc.oneof(
  { arbitrary: anyCommands.map((commands): Make => named(commands, () => grown(commands))), weight: 3 },
  {
    arbitrary: fc
      .record({
        seed: fc.nat(),
        events: fc.integer({ min: 20, max: 160 }),
        replacementRate: fc.constantFrom(0, 0.05, 0.2),
      })
      .map((of): Make => named(of, () => coding(of))),
    weight: 1,
  },
)

/** Shown as its recipe when a property fails. */
function named(recipe: unknown, make: Make): Make {
  return Object.assign(make, { [fc.toStringMethod]: () => fc.stringify(recipe) })
}

function grown(commands: readonly Command[]): Session {
  const session = fresh({ id: 'grown' })
  grow(session, commands)
  return session
}

/** A session of any shape, for properties that only read it. */
export const anySession: fc.Arbitrary<Session> = anyMake.map((make) => make())

/** A few appends, as somebody makes them while a summary is made or after it. */
export const anyMoves: fc.Arbitrary<Command[]> = anyCommands.map((commands) => commands.slice(0, 12))

/** Calls that are open after each entry of the surface, counted from the start every time. */
export function openAfterEach(session: Session): number[] {
  const open = new Set<string>()
  return [...session.surface.nodes].map((seq) => {
    const event = session.eventAt(seq) as ReferenceEvent
    for (const id of callsOf(event)) open.add(id)
    const answered = answerOf(event)
    if (answered !== undefined) open.delete(answered)
    return open.size
  })
}

/** Every range that a summary may take, by naive count. */
function balancedRanges(session: Session): RangeEnds[] {
  const nodes = [...session.surface.nodes]
  const open = openAfterEach(session)
  const first = session.eventAt(nodes[0] ?? 0)?.type === 'system/message' ? 1 : 0
  const ranges: RangeEnds[] = []
  nodes.forEach((startSeq, start) => {
    if (start < first || (start > 0 && open[start - 1] !== 0)) return
    nodes.forEach((endSeq, end) => {
      if (end >= start && open[end] === 0) ranges.push({ startSeq, endSeq })
    })
  })
  return ranges
}

export function pickRange(session: Session, pick: number): RangeEnds | undefined {
  const ranges = balancedRanges(session)
  return ranges[pick % ranges.length]
}

/** The session as it comes back from a store after its first `length` events, nothing else. */
export function reopened(session: Session, length: number = session.length): Session {
  return restored(
    session.header,
    session.events.slice(0, length).map((event) => JSON.parse(stringifyEvent(event)) as SessionEvent),
  )
}

export function restored(header: Session['header'], events: readonly SessionEvent[]): Session {
  return Session.restore({ header, events, inheritedEventCount: 0 }, { vocabulary, now: () => 9000 })
}

export const shown = (session: Session): readonly SessionSeq[] => [...session.surface.nodes]
