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
import type { Branch, BranchStep } from './branches.ts'

/** Something of the damaged log that could not stand where it stood. */
export interface Unplaced {
  /** Bytes of the damaged log: `start` inclusive, `end` exclusive. */
  readonly start: number
  readonly end: number
  /** Line of the damaged log, from 1. */
  readonly line: number
  /** An acceptance code, `unreadable` or `out-of-order`. */
  readonly reason: string
  /** Its seq in the damaged log, where it has one. */
  readonly seq?: number
  /** The `salvage/raw` event that keeps it. */
  readonly keptAs: number
}

export interface SalvagedBranch {
  readonly session: Session
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
 * Writes one branch as a session in which every rule of acceptance holds. What a rule refuses is kept as `salvage/raw`;
 * calls whose answers are lost are closed as interrupted ones are.
 */
export async function writeBranch(branch: Branch, header: SessionHeader, read: ReadBytes): Promise<SalvagedBranch> {
  const writer = new BranchWriter(header, read)
  for (const step of branch.steps) await writer.write(step)
  return writer.finish()
}

/** What of an event is neither its place nor its payload: acceptance judges all of it. */
type Append = (type: string, data: unknown, intent: object) => SessionEvent

class BranchWriter {
  readonly #session: Session
  readonly #append: Append
  readonly #read: ReadBytes
  readonly #map = new Map<number, SessionSeq>()
  readonly #unplaced: Unplaced[] = []
  readonly #missing: { from: number; to: number }[] = []
  #time: number
  #closers = 0
  #isMended = false

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

  async write(step: BranchStep): Promise<void> {
    if (step.kind === 'missing') {
      const { from, to } = step
      this.#missing.push({ from, to })
      this.#append('salvage/missing', { from, to }, { ignorable: true })
    } else if (step.kind === 'bytes') await this.#keepRaw(step.part, step.reason)
    else {
      const { event } = step.part
      this.#time = event.time
      const refusal = this.#place(event)
      if (refusal !== undefined) await this.#keepRaw(step.part, refusal)
    }
  }

  finish(): SalvagedBranch {
    this.#close(() => true)
    const [session, unplaced, missing, closers] = [this.#session, this.#unplaced, this.#missing, this.#closers]
    return { session, unplaced, missing, closers, isMended: this.#isMended }
  }

  /** Appends the event, or says which rule refuses it. */
  #place(original: SessionEvent): string | undefined {
    const event = this.#moved(original)
    const { type, seq, time: _, data, ...intent } = event
    let code = this.#try(seq, () => this.#append(type, data, intent))
    if (code === 'pairing/open-calls') {
      this.#close((closer) => closer.type === 'tool/result')
      this.#isMended = true
      code = this.#try(seq, () => this.#append(type, data, intent))
    }
    // The mark that lets readers skip the type is all that an unknown one lacks.
    if (code === 'vocabulary/unknown' && Object.keys(intent).length === 0) {
      code = this.#try(seq, () => this.#append(type, data, { ignorable: true }))
    }
    return code
  }

  /** Every seq that the event names is where its target is now. A seq that the damaged log never held stays what it was. */
  #moved(original: SessionEvent): SessionEvent {
    const move = (seq: SessionSeq): SessionSeq => this.#map.get(seq) ?? seq
    const event = remapReferences(original, { cited: move, through: move } satisfies SeqMap)
    // Two of them may be kept in one place now.
    const { sourceEventSeqs } = event
    if (!Array.isArray(sourceEventSeqs)) return event
    return { ...event, sourceEventSeqs: [...new Set(sourceEventSeqs)] } as SessionEvent
  }

  #try(seq: SessionSeq, append: () => SessionEvent): string | undefined {
    try {
      this.#map.set(seq, append().seq)
      return undefined
    } catch (error) {
      if (error instanceof SessionAcceptanceError) return error.code
      throw error
    }
  }

  #close(isWanted: (closer: SessionEvent) => boolean): void {
    for (const closer of interruptedTurnClosers(this.#session.events).filter(isWanted)) {
      const { type, seq: _, time, data, ...intent } = closer
      this.#time = time
      this.#append(type, data, intent)
      this.#closers += 1
    }
  }

  async #keepRaw(
    { start, end, line, ...part }: Extract<BranchStep, { readonly part: object }>['part'],
    reason: string,
  ): Promise<void> {
    const bytes = await this.#read(start, end)
    const seq = part.kind === 'record' ? { seq: part.event.seq } : {}
    const text = isUtf8(bytes)
      ? { text: bytes.toString('utf8') }
      : { text: bytes.toString('base64'), encoding: 'base64' as const }
    const kept = this.#append('salvage/raw', { start, end, reason, ...text, ...seq }, { ignorable: true })
    if (part.kind === 'record') this.#map.set(part.event.seq, kept.seq)
    this.#unplaced.push({ start, end, line, reason, ...seq, keptAs: kept.seq })
  }
}
