import { Session, SessionAcceptanceError, SessionStore, stringifyEvent } from '@palimpsest/session'
import type { SessionEvent, StoredSession } from '@palimpsest/session'
import { callsOf, candidateFor, plantFault, ReferenceSession, type Candidate, type Command } from '@palimpsest/testkit'

/** What the runs of a law must have met. */
export const situations = [
  'nested replacement',
  'prune inside a later range',
  'id reuse',
  'parallel batch',
  'veto',
  'fork inside a turn',
] as const
export type Situation = (typeof situations)[number]

/** Watches a run; throws when its law is broken. */
export interface Observer {
  /** Before any candidate is offered. */
  before?(run: Run): void
  /** After an append returned. */
  accepted?(run: Run, event: SessionEvent): void
  /** After a refusal or a veto. */
  refused?(run: Run): void
  /** After each candidate that no listener vetoed. `code` is undefined when it was accepted. */
  judged?(run: Run, candidate: Candidate, code: string | undefined): void
  /** After the run moved to the fork of `parent` at `boundary`. */
  forked?(run: Run, parent: Session, boundary: number): void
  /** After the run moved to the restored copy of `original`. */
  restored?(run: Run, original: Session): void
  /** After the last command. */
  end?(run: Run): void
}

class Veto extends Error {}

/** Offers a candidate. The code of a refusal, or the event; any other error passes through. */
function offer(session: Session, { type, data, intent }: Candidate): SessionEvent | string {
  try {
    return session.append(type as never, data as never, intent as never)
  } catch (error) {
    if (error instanceof SessionAcceptanceError) return error.code
    throw error
  }
}

export function inheritedEventCount(events: readonly SessionEvent[]): number {
  return events.findLast((event) => event.type === 'session/end-seed' && event.data.inherited === true)?.seq ?? 0
}

/** The session as it stands on disk and comes back: through the text of every event. */
export function reread(session: Session): StoredSession {
  const events = session.events.map((event) => JSON.parse(stringifyEvent(event)) as SessionEvent)
  return { header: session.header, events, inheritedEventCount: inheritedEventCount(events) }
}

/** A session and its reference going through one sequence of commands. */
export class Run {
  session: Session
  reference: ReferenceSession = new ReferenceSession()
  readonly met: Set<Situation> = new Set()
  /** What became of each candidate: a code, or `accepted`, or `vetoed`. */
  readonly outcomes: string[] = []
  readonly #store: SessionStore
  readonly #observer: Observer
  #clock = 1_700_000_000_000

  constructor(observer: Observer) {
    this.#observer = observer
    this.#store = new SessionStore()
    this.session = this.#store.create({ id: 'model', createdAt: this.#clock, now: this.now })
  }

  readonly now = (): number => (this.#clock += 7)

  execute(commands: readonly Command[]): this {
    for (const command of commands) this.#step(command)
    this.#observer.end?.(this)
    return this
  }

  #step(command: Command): void {
    switch (command.kind) {
      case 'read':
        return readEverything(this.session)
      case 'append':
        return this.#offer(candidateFor(command.step, this.reference))
      case 'broken': {
        const candidate = candidateFor(command.step, this.reference)
        return this.#offer(plantFault(command.fault, candidate, this.reference, command.step.pick))
      }
      case 'veto': {
        const candidate = candidateFor(command.step, this.reference)
        this.#veto(candidate)
        return command.retry ? this.#offer(candidate) : undefined
      }
      case 'fork':
        return this.#fork(this.session.length - 1 - command.back)
      case 'restore':
        return this.#restore()
    }
  }

  #offer(candidate: Candidate): void {
    this.#observer.before?.(this)
    const outcome = offer(this.session, candidate)
    const code = typeof outcome === 'string' ? outcome : undefined
    this.outcomes.push(code ?? 'accepted')
    this.#observer.judged?.(this, candidate, code)
    if (typeof outcome === 'string') return this.#observer.refused?.(this)
    this.#note(outcome)
    this.reference = this.reference.with(outcome)
    this.#observer.accepted?.(this, outcome)
  }

  #veto(candidate: Candidate): void {
    const veto = new Veto()
    const stop = this.session.on('internal/dispatch', () => {
      throw veto
    })
    this.#observer.before?.(this)
    try {
      const outcome = offer(this.session, candidate)
      throw new Error(`a vetoed ${candidate.type} ended as ${JSON.stringify(outcome)}`)
    } catch (error) {
      if (error !== veto) throw error
    } finally {
      stop()
    }
    this.outcomes.push('vetoed')
    this.met.add('veto')
    this.#observer.refused?.(this)
  }

  #fork(boundary: number): void {
    if (boundary < 0) return
    if (this.reference.prefix(boundary + 1).position().turn !== undefined) this.met.add('fork inside a turn')
    const parent = this.session
    this.session = this.#store.fork(parent, boundary, { now: this.now })
    this.reference = new ReferenceSession(this.session.events)
    this.#observer.forked?.(this, parent, boundary)
  }

  #restore(): void {
    const original = this.session
    this.session = Session.restore(reread(original), { now: this.now })
    this.reference = new ReferenceSession(this.session.events)
    this.#observer.restored?.(this, original)
  }

  #note(event: SessionEvent): void {
    const calls = callsOf(event)
    if (calls.length > 1) this.met.add('parallel batch')
    if (calls.length > 0 && this.reference.log.some((earlier) => callsOf(earlier).some((id) => calls.includes(id)))) {
      this.met.add('id reuse')
    }
    if (typeof event.surfaceOp !== 'object') return
    const shadowed = this.reference.with(event).shadows(event.seq)
    const replacements = this.reference.replacements().filter(({ seq }) => shadowed.includes(seq))
    if (replacements.length > 0) this.met.add('nested replacement')
    if (event.type !== 'tool/result' && replacements.some(({ type }) => type === 'tool/result')) {
      this.met.add('prune inside a later range')
    }
  }
}

/** Touches every public read. */
export function readEverything(session: Session): void {
  void [session.events, session.length, session.surface.nodes, session.surface.replaceGeneration]
  void [session.deriveMessages(), session.eventAt(0), [...session.eventsFrom(0)]]
}
