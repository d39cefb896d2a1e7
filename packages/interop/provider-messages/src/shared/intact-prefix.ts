import { deriveEventMessage, jsonEqual } from '@palimpsest/session'
import type { Json, RequestHeader, SessionEvent, SessionSeq } from '@palimpsest/session'

/** What is read of a session: a `Session` is one. */
export interface SurfacedLog {
  readonly events: readonly SessionEvent[]
  readonly surface: { readonly nodes: readonly SessionSeq[] }
}

/**
 * How many of the leading derived messages stand on an intact prefix, so that their signed reasoning may go back.
 * An assistant's prefix is intact when every surface entry before it has a lower seq and the header in force is equal to
 * the one of its request. The first assistant with reasoning whose prefix is broken ends the count. SPEC 8.
 */
export function intactThrough(session: SurfacedLog): number {
  const { events } = session
  const headers = new HeadersInForce(events)
  const current = headers.at(events.length)
  let highest = -1
  let count = 0
  for (const seq of session.surface.nodes) {
    const event = events[seq]
    if (event === undefined) break
    if (event.type === 'assistant/message' && event.data.message.content.some((block) => block.type === 'reasoning')) {
      const asked = headers.at(event.data.requestSeq ?? seq)
      if (highest > seq || !jsonEqual(asHeaderJson(asked), asHeaderJson(current))) break
    }
    highest = Math.max(highest, seq)
    if (deriveEventMessage(event) !== null) count += 1
  }
  return count
}

/** The request headers of a log, found by seq. */
class HeadersInForce {
  readonly #seqs: number[] = []
  readonly #headers: RequestHeader[] = []

  constructor(events: readonly SessionEvent[]) {
    for (const event of events) {
      if (event.type !== 'request/header') continue
      this.#seqs.push(event.seq)
      this.#headers.push(event.data.header)
    }
  }

  /** The header in force right before `seq`. */
  at(seq: number): RequestHeader | undefined {
    return this.#headers[this.#seqs.findLastIndex((candidate) => candidate < seq)]
  }
}

function asHeaderJson(header: RequestHeader | undefined): Json | undefined {
  return header as Json | undefined
}
