import { Session, interruptedTurnClosers } from '@palimpsest/session'
import type { SessionEvent, StoredSession } from '@palimpsest/session'
import { ReferenceSession, anyCommands, candidateFor } from '@palimpsest/testkit'
import type { Command } from '@palimpsest/testkit'
import type fc from 'fast-check'

/** A session that went through the valid steps of a sequence of commands, with nothing left open. */
function play(commands: readonly Command[]): StoredSession {
  const session = Session.create({ id: 'played', now: () => 1_700_000_000_000 })
  let reference = new ReferenceSession()
  for (const command of commands) {
    if (command.kind !== 'append') continue
    const { type, data, intent } = candidateFor(command.step, reference)
    reference = reference.with(session.append(type as never, data as never, intent as never) as SessionEvent)
  }
  const events = [...session.events, ...interruptedTurnClosers(session.events)]
  return { header: session.header, events, inheritedEventCount: 0 }
}

/** Sessions of any shape, as the kernel's own model tests grow them. */
export const anyPlayedSession: fc.Arbitrary<StoredSession> = anyCommands.map(play)
