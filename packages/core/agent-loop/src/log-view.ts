import type { EventOf, Session, SessionEvent } from '@palimpsest/session'
import { LateResults } from './late-results.ts'

/** What the loop must know of the log, kept up to date event by event. A resume reads it from the events that are there. */
export class LogView {
  readonly late: LateResults = new LateResults()
  lastTurn = 0
  /** A turn that was started and not ended: its closing was refused. */
  isTurnOpen = false
  header: EventOf<'request/header'> | undefined
  context: EventOf<'request/context'> | undefined
  readonly #off: () => void

  constructor(session: Session) {
    for (const event of session.events) this.#see(event)
    this.#off = session.on('session/event', (event) => this.#see(event))
  }

  close(): void {
    this.#off()
  }

  #see(event: SessionEvent): void {
    if (event.type === 'turn/start') {
      this.lastTurn = Math.max(this.lastTurn, event.data.turn)
      this.isTurnOpen = true
    } else if (event.type === 'turn/end') this.isTurnOpen = false
    else if (event.type === 'request/header') this.header = event
    else if (event.type === 'request/context') this.context = event
    else this.late.see(event)
  }
}
