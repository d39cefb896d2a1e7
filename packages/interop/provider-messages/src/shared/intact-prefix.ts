import { copiedFrom, deriveEventMessage, jsonEqual } from '@palimpsest/session'
import type { EventOf, Json, RequestHeader, SessionEvent, SessionSeq } from '@palimpsest/session'

/** Events by seq. */
interface EventLog {
  readonly length: number
  eventAt(seq: number): SessionEvent | undefined
}

/** What is read of a session: a `Session` is one. Without `eventAt`, which copies no log, `events` is read. */
export type SurfacedLog = { readonly surface: { readonly nodes: readonly SessionSeq[] } } & (
  | EventLog
  | { readonly events: readonly SessionEvent[] }
)

/**
 * How many of the leading derived messages stand on an intact prefix, so that their signed reasoning may go back.
 * An assistant's prefix is intact when its request held every surface entry before it, and the header in force is equal
 * to that of its request; that of a copy is unknown. A request holds what is up to the `throughSeq` of its
 * `request/start`: what is appended or replaced while the answer streams stands before the answer, and the model never
 * saw it. Where no request is recorded, the assistant's own seq stands in. The first assistant with reasoning whose
 * prefix is broken ends the count. What was read of a log is kept while its first event is, whatever object hands it
 * over: a call reads what is new, and the surface again only after a replacement or a changed header. SPEC 2.3, 8.
 */
export function intactThrough(session: SurfacedLog): number {
  const log = 'eventAt' in session ? session : listed(session.events)
  const first = log.eventAt(0)
  if (first === undefined) return 0
  let prefix = PREFIXES.get(first)
  if (prefix?.isOf(log) !== true) {
    prefix = new IntactPrefix()
    PREFIXES.set(first, prefix)
  }
  return prefix.through(log, session.surface.nodes)
}

const PREFIXES = new WeakMap<SessionEvent, IntactPrefix>()

function listed(events: readonly SessionEvent[]): EventLog {
  return { length: events.length, eventAt: (seq) => events[seq] }
}

/** The fold behind `intactThrough`, kept up with one log. */
class IntactPrefix {
  readonly #headers = new HeadersInForce()
  #read = 0
  #lastRead: SessionEvent | undefined
  /** Number of the header that the counted entries were held against. */
  #current = NO_HEADER
  /** Surface entries counted so far, and the highest seq of them. */
  #nodes = 0
  #highest = -1
  #count = 0
  #isBroken = false

  /** Whether the log begins with what was read before. */
  isOf(log: EventLog): boolean {
    return this.#read <= log.length && (this.#read === 0 || log.eventAt(this.#read - 1) === this.#lastRead)
  }

  through(log: EventLog, nodes: readonly SessionSeq[]): number {
    const hasReplaced = this.#readNew(log)
    const current = this.#headers.at(log.length)
    if (hasReplaced || current !== this.#current) this.#restart(current)
    while (!this.#isBroken && this.#nodes < nodes.length) {
      const event = log.eventAt(nodes[this.#nodes] ?? -1)
      if (event === undefined) break
      this.#take(event, log)
    }
    return this.#count
  }

  /** Reads the new events; answers whether one of them replaced surface entries. */
  #readNew(log: EventLog): boolean {
    let hasReplaced = false
    for (; this.#read < log.length; this.#read += 1) {
      const event = log.eventAt(this.#read)
      if (event === undefined) continue
      this.#lastRead = event
      if (event.type === 'request/header') this.#headers.add(event.seq, event.data.header)
      if (typeof event.surfaceOp === 'object') hasReplaced = true
    }
    return hasReplaced
  }

  #restart(current: number): void {
    this.#current = current
    this.#nodes = 0
    this.#highest = -1
    this.#count = 0
    this.#isBroken = false
  }

  #take(event: SessionEvent, log: EventLog): void {
    const { seq } = event
    if (event.type === 'assistant/message' && event.data.message.content.some((block) => block.type === 'reasoning')) {
      const through = heldThrough(event, log)
      const asked = this.#headers.at(through + 1)
      this.#isBroken = this.#highest > through || asked !== this.#current || copiedFrom(event) !== undefined
      if (this.#isBroken) return
    }
    this.#highest = Math.max(this.#highest, seq)
    if (deriveEventMessage(event) !== null) this.#count += 1
    this.#nodes += 1
  }
}

/** The last seq that the request behind an assistant held, always below its own. */
function heldThrough({ seq, data }: EventOf<'assistant/message'>, log: EventLog): number {
  const start = data.requestSeq !== undefined && data.requestSeq < seq ? log.eventAt(data.requestSeq) : undefined
  return start?.type === 'request/start' ? Math.min(start.data.throughSeq, start.seq - 1) : seq - 1
}

const NO_HEADER = -1

/** The request headers of a log, found by seq; equal ones have one number. */
class HeadersInForce {
  readonly #seqs: number[] = []
  readonly #numbers: number[] = []
  readonly #distinct: RequestHeader[] = []

  add(seq: number, header: RequestHeader): void {
    const json = header as unknown as Json
    // The latest first: a header mostly comes back from the one before.
    let number = this.#distinct.findLastIndex((known) => jsonEqual(known as unknown as Json, json))
    if (number < 0) number = this.#distinct.push(header) - 1
    this.#seqs.push(seq)
    this.#numbers.push(number)
  }

  /** The number of the header in force right before `seq`. */
  at(seq: number): number {
    let low = 0
    let high = this.#seqs.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#seqs[middle] ?? Infinity) < seq) low = middle + 1
      else high = middle
    }
    return this.#numbers[low - 1] ?? NO_HEADER
  }
}
