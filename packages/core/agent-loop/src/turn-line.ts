import type { Session } from '@palimpsest/session'

/** The end of the last turn in line, by session. */
const ends = new WeakMap<Session, Promise<void>>()

/** Runs a turn when those before it on the same session have ended: the turns of two loops would answer each other's calls. */
export async function inLine(session: Session, turn: () => Promise<void>): Promise<void> {
  const mine = (ends.get(session) ?? Promise.resolve()).then(turn)
  const end = mine.catch(() => undefined)
  ends.set(session, end)
  await mine
}
