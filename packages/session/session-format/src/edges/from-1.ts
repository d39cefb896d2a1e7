import { SessionFormatUnsupportedMigration, unsupported } from '../errors.ts'
import type { EdgeContext, FormatEdge, FormatEvent, FormatHeader, FormatLog } from '../log.ts'
import { moveEvent } from '../references.ts'
import { SeqMap } from '../seq-map.ts'
import { type PendingChunk, attemptEvent, pendingChunk, splitAttempts, streamOf } from './attempts.ts'
import { requireKnown } from './vocabulary.ts'

/**
 * Version 1 to 2: chunks move into the stream of the message that cites them, or of an `assistant/attempt`; the other
 * events are numbered anew and every seq they name with them; the numeric `seedLength` becomes the inherited
 * `session/end-seed` at its place. A chunk waits for its message until the step ends: that is all that is held. SPEC 6.
 */
export const edgeFrom1: FormatEdge = {
  from: 1,
  to: 2,
  migrate: (log, context) => ({ header: migrateHeader(log.header), events: migrateEvents(log, context) }),
}

function migrateHeader({ seedLength, ...header }: FormatHeader): FormatHeader {
  return { ...header, version: 2, isSeeded: typeof seedLength === 'number' && seedLength > 0 }
}

async function* migrateEvents(
  { header, events }: FormatLog,
  context: EdgeContext,
): AsyncGenerator<FormatEvent, void, void> {
  const stage = new Stage(header, context)
  for await (const event of events) yield* stage.take(event)
  yield* stage.end()
}

/** Where an attempt that no message cited by then is over. */
const bounds: ReadonlySet<string> = new Set(['turn/start', 'turn/end', 'step/start', 'step/end', 'session/end-seed'])

class Stage {
  readonly #context: EdgeContext
  readonly #map = new SeqMap()
  readonly #createdAt: number
  /** Seq of the first event that is not inherited. */
  readonly #cut: number | undefined
  /** From the first chunk on that no message has cited yet, in log order. */
  #held: (FormatEvent | PendingChunk)[] = []
  #length = 0

  constructor({ seedLength, createdAt }: FormatHeader, context: EdgeContext) {
    this.#context = context
    this.#createdAt = createdAt
    this.#cut = typeof seedLength === 'number' && seedLength > 0 ? seedLength : undefined
  }

  *take(event: FormatEvent): Generator<FormatEvent, void, void> {
    requireKnown(event, 1, this.#context.packs)
    this.#length = event.seq + 1
    if (event.seq === this.#cut) {
      yield* this.#settle()
      if (event.type !== 'session/end-seed') yield this.#marker(event.line)
    }
    if (event.type === 'assistant/chunk') {
      this.#held.push(pendingChunk(event))
      return
    }
    if (event.type === 'assistant/message') {
      yield* this.#message(event)
      return
    }
    if (bounds.has(event.type)) yield* this.#settle()
    if (this.#held.length > 0) this.#held.push(event)
    else yield this.#kept(event)
  }

  *end(): Generator<FormatEvent, void, void> {
    yield* this.#settle()
    if (this.#cut === this.#length) yield this.#marker()
    if (this.#cut === undefined || this.#cut <= this.#length) return
    throw new SessionFormatUnsupportedMigration(
      1,
      `the header says that ${this.#cut} events are inherited, and the log has ${this.#length}`,
      { line: 1 },
    )
  }

  *#message(event: FormatEvent): Generator<FormatEvent, void, void> {
    const { sourceEventSeqs = [], ...message } = event
    if (Object.hasOwn(event.data, 'stream')) throw unsupported(1, event, 'has a stream, which comes with version 2')
    const chunks = yield* this.#settle(this.#cited(event, sourceEventSeqs))
    yield this.#kept({ ...message, data: { ...event.data, stream: streamOf(chunks) } })
  }

  /** The chunks that a message cites: all pending, of its step, and without another between them. */
  #cited(event: FormatEvent, sources: readonly number[]): ReadonlySet<number> {
    const cited = new Set(sources)
    if (cited.size < sources.length) throw unsupported(1, event, 'cites an event twice')
    const chunks = this.#held.filter(isChunk)
    const first = chunks.findIndex((chunk) => cited.has(chunk.event.seq))
    const run = first === -1 ? [] : chunks.slice(first, first + cited.size)
    const found = new Set(run.map((chunk) => chunk.event.seq))
    const stranger = sources.find((seq) => !found.has(seq))
    if (stranger !== undefined) {
      throw unsupported(1, event, `cites event ${stranger}, which is not in one run of chunks with the others it cites`)
    }
    const { turn, step } = event.data
    const other = run.find((chunk) => chunk.turn !== turn || chunk.step !== step)
    if (other !== undefined) throw unsupported(1, event, `cites event ${other.event.seq}, a chunk of another step`)
    return cited
  }

  /** Lets go of all that is held, attempts at the place of their last chunk. Returns the cited chunks. */
  *#settle(cited: ReadonlySet<number> = new Set()): Generator<FormatEvent, PendingChunk[], void> {
    const held = this.#held
    this.#held = []
    const chunks = held.filter(isChunk)
    const attempts = new Map(splitAttempts(chunks, cited).map((attempt) => [attempt.at(-1), attempt]))
    for (const entry of held) {
      if (!isChunk(entry)) yield this.#kept(entry)
      const attempt = isChunk(entry) ? attempts.get(entry) : undefined
      if (attempt !== undefined) yield attemptEvent(attempt, this.#map.insert())
    }
    return chunks.filter((chunk) => cited.has(chunk.event.seq))
  }

  #kept(event: FormatEvent): FormatEvent {
    if (event.type !== 'session/end-seed') return moveEvent(event, 1, this.#map, this.#context.packs)
    if (Object.hasOwn(event.data, 'inherited')) throw unsupported(1, event, 'is tagged, which comes with version 2')
    const data = event.seq === this.#cut ? { ...event.data, inherited: true } : event.data
    return moveEvent({ ...event, data }, 1, this.#map, this.#context.packs)
  }

  /** The end of the inherited history, where the log itself does not have it: the header alone says where it is. */
  #marker(line: number = 1): FormatEvent {
    const message = `the header says that ${this.#cut} events are inherited: their end was marked`
    this.#context.note({ code: 'seed/marker', line, message })
    const seq = this.#map.insert()
    return { type: 'session/end-seed', seq, time: this.#createdAt, data: { inherited: true }, line }
  }
}

function isChunk(entry: FormatEvent | PendingChunk): entry is PendingChunk {
  return 'chunk' in entry
}
