import {
  type EventOf,
  type JsonObject,
  type Message,
  type RequestHeader,
  type Session,
  type SessionEvent,
  type SessionSeq,
  type SurfaceEvent,
  copiedFrom,
  deriveEventMessage,
  isSurfaceType,
  jsonEqual,
} from '@palimpsest/session'
import { type EstimateOptions, NOTHING, type Size, sizeOfJson, sizeOfMessage, sumSizes } from './estimate.ts'

/** How large the next request is. */
export interface ContextUsage extends Size {
  /** Whether `tokens` rests on what the provider counted; what came after its count is estimated either way. */
  readonly source: 'provider' | 'estimate'
}

/** A provider's count, and the surface revision that it is bound to. */
interface Figure {
  readonly messageSeq: SessionSeq
  /** The request was derived here: the entries after it, but for the message itself, were not counted. */
  readonly throughSeq: SessionSeq
  /** Input and output. */
  readonly tokens: number
  /** Position of the first entry after `throughSeq`, once it was looked for. */
  firstUncounted?: number
}

/**
 * Says how large a session's next request is: system prompt, tools, every surface entry. One meter follows one session;
 * it holds no listener, and reads what is new when it is asked.
 *
 * A count of the provider (`usage` of an `assistant/message`: all input, cached or not, and output) holds for the surface
 * and header that it was measured on. What was appended since is added by estimate; a replacement, another model or other
 * tools void it, and then all is estimated. SPEC 7.1.
 */
export class TokenMeter {
  readonly #session: Session
  readonly #options: EstimateOptions
  /** By the log's own message objects, so that nothing is counted twice in a session's life. */
  readonly #sizes = new WeakMap<Message, Size>()
  #scanned = 0
  #header: RequestHeader | undefined
  #headerSeq = -1
  #headerSize: Size = NOTHING
  #lastReplacement = -1
  #figure: Figure | undefined
  #generation = 0
  /** Tokens of the first n surface entries, by n. */
  #cumulative = [0]
  #bytes = 0
  #images = 0

  constructor(session: Session, options: EstimateOptions = {}) {
    this.#session = session
    this.#options = options
  }

  /**
   * The size of a request sent now, with `pending` messages at its end. O(new events) after appends; after a replacement
   * O(surface) over figures that are known, without counting a text again. SPEC 7.1.
   */
  usage(pending: readonly Message[] = []): ContextUsage {
    this.#catchUp()
    const added = this.measure(pending)
    const bytes = this.#bytes + this.#headerSize.bytes + added.bytes
    const images = this.#images + added.images
    const counted = this.#counted()
    const tokens = counted ?? (this.#cumulative.at(-1) ?? 0) + this.#headerSize.tokens
    return { source: counted === undefined ? 'estimate' : 'provider', tokens: tokens + added.tokens, bytes, images }
  }

  /** Estimated size of one surface event; nothing for any other. Throws `RangeError` when `seq` is not in the log. */
  entry(seq: number): Size {
    const event = this.#session.eventAt(seq)
    if (event === undefined) throw new RangeError(`seq ${seq} is not in the log: it has ${this.#session.length} events`)
    const message = deriveEventMessage(event)
    if (message === null) return NOTHING
    const known = this.#sizes.get(message)
    if (known !== undefined) return known
    const size = sizeOfMessage(message, this.#options)
    this.#sizes.set(message, size)
    return size
  }

  /** Estimated size of any messages. */
  measure(messages: readonly Message[]): Size {
    return sumSizes(messages.map((message) => this.#sizes.get(message) ?? sizeOfMessage(message, this.#options)))
  }

  /** Estimated size of what every request carries beside its messages: tools and instructions of the header in force. */
  fixed(): Size {
    this.#catchUp()
    return this.#headerSize
  }

  #counted(): number | undefined {
    const figure = this.#figure
    if (figure === undefined) return undefined
    figure.firstUncounted ??= this.#firstAfter(figure.throughSeq)
    const after = (this.#cumulative.at(-1) ?? 0) - (this.#cumulative[figure.firstUncounted] ?? 0)
    return figure.tokens + after - this.entry(figure.messageSeq).tokens
  }

  /** No replacement came after `seq`, so what did stands at the tail. */
  #firstAfter(seq: SessionSeq): number {
    const { nodes } = this.#session.surface
    let position = nodes.length
    while (position > 0 && (nodes[position - 1] ?? 0) > seq) position -= 1
    return position
  }

  #catchUp(): void {
    for (; this.#scanned < this.#session.length; this.#scanned += 1) {
      this.#see(this.#session.eventAt(this.#scanned) as SessionEvent)
    }
    const { nodes, replaceGeneration } = this.#session.surface
    if (replaceGeneration !== this.#generation) {
      this.#generation = replaceGeneration
      this.#cumulative = [0]
      this.#bytes = 0
      this.#images = 0
    }
    for (let position = this.#cumulative.length - 1; position < nodes.length; position += 1) {
      const { tokens, bytes, images } = this.entry(nodes[position] as SessionSeq)
      this.#cumulative.push((this.#cumulative[position] ?? 0) + tokens)
      this.#bytes += bytes
      this.#images += images
    }
  }

  #see(event: SessionEvent): void {
    if (event.type === 'request/header') this.#seeHeader(event)
    else if (event.type === 'assistant/message') this.#figure = this.#figureOf(event) ?? this.#figure
    else if (isSurfaceType(event.type) && (event as SurfaceEvent).surfaceOp !== 'append') {
      this.#lastReplacement = event.seq
      this.#figure = undefined
    }
  }

  #seeHeader({ seq, data: { header } }: EventOf<'request/header'>): void {
    const [before, after] = [countedPart(this.#header), countedPart(header)]
    this.#header = header
    this.#headerSeq = seq
    if (jsonEqual(before, after)) return
    this.#figure = undefined
    const { instructions, tools } = after
    this.#headerSize =
      instructions === null && tools === null ? NOTHING : sizeOfJson({ instructions, tools }, this.#options)
  }

  /** What the provider counted for a message, where that holds for the surface that the message stands on. */
  #figureOf(event: EventOf<'assistant/message'>): Figure | undefined {
    const tokens = contextTokens(event)
    // A copied answer was measured on the surface of another session.
    if (tokens === undefined || copiedFrom(event) !== undefined) return undefined
    const { requestSeq } = event.data
    const start = requestSeq === undefined ? undefined : this.#session.eventAt(requestSeq)
    const throughSeq = start?.type === 'request/start' ? start.data.throughSeq : ((event.seq - 1) as SessionSeq)
    if (this.#lastReplacement > throughSeq || this.#headerSeq > throughSeq) return undefined
    return { messageSeq: event.seq, throughSeq, tokens }
  }
}

/** The members of a header that cost tokens, and those that say who counts them. */
function countedPart(header: RequestHeader | undefined): JsonObject {
  const { config, tools = null } = header ?? {}
  const instructions = config?.['instructions'] ?? null
  return { provider: config?.provider ?? null, model: config?.model ?? null, instructions, tools }
}

/**
 * All tokens of a request and its answer. Most providers count cached input in with the rest; Anthropic's own figures, as
 * imported logs have them, keep it apart.
 */
function contextTokens({ data }: EventOf<'assistant/message'>): number | undefined {
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = data.usage ?? {}
  const cached = cacheReadTokens + cacheWriteTokens
  const isApart =
    cached > inputTokens || (data.requestSeq === undefined && /^anthropic\b/.test(data.message.source.provider))
  const input = isApart ? inputTokens + cached : inputTokens
  return input > 0 ? input + outputTokens : undefined
}
