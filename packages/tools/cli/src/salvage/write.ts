import { isUtf8 } from 'node:buffer'
import { type SeqMap, remapReferences } from '@palimpsest/compact'
import {
  Session,
  SessionAcceptanceError,
  type SessionEvent,
  type SessionHeader,
  type SessionSeq,
  interruptedTurnClosers,
} from '@palimpsest/session'
import { allEvents } from '../vocabulary.ts'
import type { HistoryStep } from './history.ts'
import type { SalvagePart } from './sections.ts'

/** Something of the damaged log that could not stand where it stood. */
export interface Unplaced {
  /** Bytes of the damaged log: `start` inclusive, `end` exclusive. */
  readonly start: number
  readonly end: number
  /** Line of the damaged log, from 1. */
  readonly line: number
  /**
   * An acceptance code, or `unreadable`, `out-of-order`, `header/other` (a header that begins no log, or another one of
   * this log), `header/newer-version` (what a newer version wrote), `too-many-histories`.
   */
  readonly reason: string
  /** Its seq in the damaged log, where it has one. */
  readonly seq?: number
  /** The `salvage/raw` event that keeps it. */
  readonly keptAs: number
}

/** Where a part of the damaged log is now. */
export interface Place {
  readonly seq: number
  /** Why it is kept raw; absent where it is an event as it was. */
  readonly reason?: string
}

export interface SalvagedBranch {
  readonly session: Session
  /** The event that holds each part of the damaged log that is in this session. */
  readonly places: ReadonlyMap<SalvagePart, Place>
  readonly unplaced: readonly Unplaced[]
  /** Seqs of the damaged log that it did not hold. */
  readonly missing: readonly { readonly from: number; readonly to: number }[]
  /** Events that were added so that every call has an answer and every turn an end. */
  readonly closers: number
  /** Some of them stand between events of the damaged log, which acceptance refuses without them. */
  readonly isMended: boolean
}

export type ReadBytes = (start: number, end: number) => Promise<Buffer>

/**
 * Writes one history as a session in which every rule of acceptance holds. What a rule refuses is kept as `salvage/raw`;
 * calls whose answers are lost are closed as interrupted ones are. A seq that an event names is one of its own history:
 * it moves with its target, one that is missing becomes that of the `salvage/missing` event, and one that the history
 * does not hold before the event is refused.
 */
export async function writeBranch(
  steps: readonly HistoryStep[],
  header: SessionHeader,
  read: ReadBytes,
): Promise<SalvagedBranch> {
  const writer = new BranchWriter(header, read)
  for (const step of steps) await writer.write(step)
  return writer.finish()
}

/** What of an event is neither its place nor its payload: acceptance judges all of it. */
type Append = (type: string, data: unknown, intent: object) => SessionEvent

class BranchWriter {
  readonly #session: Session
  readonly #append: Append
  readonly #read: ReadBytes
  readonly #map = new Map<number, SessionSeq>()
  readonly #places = new Map<SalvagePart, Place>()
  readonly #unplaced: Unplaced[] = []
  /** Ascending; `keptAs` is the `salvage/missing` event. */
  readonly #missing: { readonly from: number; readonly to: number; readonly keptAs: SessionSeq }[] = []
  #time: number
  #closers = 0
  #isMended = false
  #lastCalls = 0

  constructor(header: SessionHeader, read: ReadBytes) {
    const { parentSession, ...rest } = header
    this.#time = header.createdAt
    this.#session = Session.create({
      ...rest,
      ...(parentSession === undefined ? {} : { parentSession }),
      vocabulary: allEvents,
      now: () => this.#time,
    })
    this.#append = (type, data, intent) => this.#session.append(type as 'turn/start', data as never, intent as never)
    this.#read = read
  }

  async write(step: HistoryStep): Promise<void> {
    if (step.kind === 'missing') {
      const { from, to } = step
      const { seq } = this.#append('salvage/missing', { from, to }, { ignorable: true })
      this.#missing.push({ from, to, keptAs: seq })
    } else if (step.kind === 'bytes') await this.#keepRaw(step.part, step.reason)
    else {
      const { event } = step.part
      this.#time = event.time
      const refusal = this.#place(event)
      if (refusal !== undefined) await this.#keepRaw(step.part, refusal)
      else this.#places.set(step.part, { seq: this.#session.length - 1 })
    }
  }

  finish(): SalvagedBranch {
    for (const closer of interruptedTurnClosers(this.#session.events)) this.#appendCloser(closer)
    const missing = this.#missing.map(({ from, to }) => ({ from, to }))
    const [session, places, unplaced] = [this.#session, this.#places, this.#unplaced]
    return { session, places, unplaced, missing, closers: this.#closers, isMended: this.#isMended }
  }

  /** Appends the event, or says which rule refuses it. */
  #place(original: SessionEvent): string | undefined {
    const event = this.#moved(original)
    const { type, seq, time: _, data, ...intent } = event
    let code = this.#try(seq, () => this.#append(type, data, intent))
    if (code === 'pairing/open-calls') {
      this.#answer()
      this.#isMended = true
      code = this.#try(seq, () => this.#append(type, data, intent))
    }
    // The mark that lets readers skip the type is all that an unknown one lacks.
    if (code === 'vocabulary/unknown' && event.surfaceOp === undefined) {
      code = this.#try(seq, () => this.#append(type, data, { ...intent, ignorable: true }))
    }
    return code
  }

  /** Every seq that the event names is where its target is now. */
  #moved(original: SessionEvent): SessionEvent {
    // Its own seq is one that no event may name.
    const self = this.#session.length as SessionSeq
    const move = (seq: SessionSeq): SessionSeq => this.#map.get(seq) ?? this.#missingAt(seq) ?? self
    const event = remapReferences(original, { cited: move, through: move } satisfies SeqMap)
    // Two of them may be kept in one place now.
    const { sourceEventSeqs } = event
    if (!Array.isArray(sourceEventSeqs)) return event
    return { ...event, sourceEventSeqs: [...new Set(sourceEventSeqs)] } as SessionEvent
  }

  #try(seq: SessionSeq, append: () => SessionEvent): string | undefined {
    try {
      const event = append()
      this.#map.set(seq, event.seq)
      if (event.type === 'assistant/message' && event.data.message.content.some((block) => block.type === 'tool-call'))
        this.#lastCalls = event.seq
      return undefined
    } catch (error) {
      if (error instanceof SessionAcceptanceError) return error.code
      throw error
    }
  }

  #missingAt(seq: number): SessionSeq | undefined {
    return this.#missing.find(({ from, to }) => from <= seq && seq <= to)?.keptAs
  }

  /** Answers the calls that are open. */
  #answer(): void {
    // Only calls of the last message that made any can be open.
    const tail: SessionEvent[] = []
    for (let seq = this.#lastCalls; seq < this.#session.length; seq += 1) {
      const event = this.#session.eventAt(seq)
      if (event !== undefined) tail.push(event)
    }
    for (const closer of interruptedTurnClosers(tail)) {
      if (closer.type !== 'tool/result') continue
      const { message, ...data } = closer.data
      const id = `interrupted-${this.#session.length}`
      this.#appendCloser({ ...closer, data: { ...data, message: { ...message, id: id as typeof message.id } } })
    }
  }

  #appendCloser({ type, seq: _, time, data, ...intent }: SessionEvent): void {
    this.#time = time
    this.#append(type, data, intent)
    this.#closers += 1
  }

  async #keepRaw(part: Extract<HistoryStep, { readonly part: object }>['part'], reason: string): Promise<void> {
    const { start, end, line } = part
    const bytes = await this.#read(start, end)
    const seq = part.kind === 'record' ? { seq: part.event.seq } : {}
    const text = isUtf8(bytes)
      ? { text: bytes.toString('utf8') }
      : { text: bytes.toString('base64'), encoding: 'base64' as const }
    const kept = this.#append('salvage/raw', { start, end, reason, ...text, ...seq }, { ignorable: true })
    if (part.kind === 'record') this.#map.set(part.event.seq, kept.seq)
    this.#places.set(part, { seq: kept.seq, reason })
    this.#unplaced.push({ start, end, line, reason, ...seq, keptAs: kept.seq })
  }
}
