import { Session, type SessionEvent } from '@palimpsest/session'

/** Counts how many events are read of a session from now on, until it is set back; a snapshot of the log reads all of them. */
export function countReads(session: Session): { reads: number } {
  const counter = { reads: 0 }
  const plain = Session.prototype
  Object.defineProperties(session, {
    eventAt: {
      value: (seq: number): SessionEvent | undefined => {
        counter.reads += 1
        return plain.eventAt.call(session, seq)
      },
    },
    eventsFrom: {
      *value(seq: number): Iterable<SessionEvent> {
        for (const event of plain.eventsFrom.call(session, seq)) {
          counter.reads += 1
          yield event
        }
      },
    },
    events: {
      get(): readonly SessionEvent[] {
        counter.reads += session.length
        return Reflect.get<Session, 'events'>(plain, 'events', session)
      },
    },
  })
  return counter
}
