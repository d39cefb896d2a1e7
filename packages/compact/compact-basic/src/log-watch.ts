import type { Message, MessageId, RequestConfig, Session } from '@palimpsest/session'

/** What a log says about turns and requests, kept up with it: every event is looked at once. */
export class LogWatch {
  readonly #session: Session
  #scanned = 0
  #config: RequestConfig | undefined
  #inputs = 0
  /** Input that was counted before it came into the log. */
  readonly #announced = new Set<MessageId>()

  constructor(session: Session) {
    this.#session = session
  }

  /** The config of the request header in force. */
  get config(): RequestConfig | undefined {
    this.#catchUp()
    return this.#config
  }

  /** How often a turn began or a user spoke. It rises once for a message, whether it is announced first or not. */
  get inputs(): number {
    this.#catchUp()
    return this.#inputs
  }

  /** Counts what is about to be appended. */
  announce(messages: readonly Message[]): void {
    this.#catchUp()
    for (const { id, source } of messages) {
      if (source.kind !== 'user' || this.#announced.has(id)) continue
      this.#announced.add(id)
      this.#inputs += 1
    }
  }

  #catchUp(): void {
    for (; this.#scanned < this.#session.length; this.#scanned += 1) {
      const event = this.#session.eventAt(this.#scanned)
      if (event?.type === 'request/header') this.#config = event.data.header.config
      if (event?.type === 'turn/start') this.#inputs += 1
      if (event?.type !== 'user/message' || event.data.source.kind !== 'user' || event.surfaceOp !== 'append') continue
      if (!this.#announced.delete(event.data.id)) this.#inputs += 1
    }
  }
}
