import type { Session } from '@palimpsest/session'

/** The end of the last turn in line, by session. */
const ends = new WeakMap<Session, Promise<void>>()

/** Runs a turn when those before it on the same session have ended: the turns of two loops would answer each other's calls. */
export async function inLine<Value>(session: Session, turn: () => Promise<Value>): Promise<Value> {
  const mine = (ends.get(session) ?? Promise.resolve()).then(turn)
  const end = mine.then(
    () => undefined,
    () => undefined,
  )
  ends.set(session, end)
  return mine
}
