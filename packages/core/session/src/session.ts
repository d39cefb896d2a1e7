import { type Accepted, acceptAppend, acceptStored } from './acceptance.ts'
import { coreEvents } from './core-events.ts'
import { DerivedMessages } from './derive.ts'
import { refuse } from './errors.ts'
import type {
  AssistantIntent,
  EventOf,
  IntentOf,
  LogIntent,
  LogOnlyEventType,
  SessionEvent,
  SessionEventMap,
  SessionEventType,
  SurfaceEventType,
  SurfaceIntent,
} from './events.ts'
import type { Finding } from './findings.ts'
import {
  type HeaderOptions,
  type SessionHeader,
  type StoredSession,
  countInherited,
  createSessionHeader,
  parseSessionHeader,
} from './header.ts'
import type { SessionId, SessionSeq } from './ids.ts'
import type { JsonObject } from './json.ts'
import { ListenerErrors } from './listener-errors.ts'
import { Listeners } from './listeners.ts'
import type { Message } from './messages.ts'
import { type SessionSurface, SurfaceManager } from './surface.ts'
import { type Vocabulary, requireTypes } from './vocabulary.ts'

/** Called as `(event, session)`. SPEC 3.2. */
export type SessionListener = (event: SessionEvent, session: Session) => void

/**
 * `internal/dispatch` runs before the commit, and a throw vetoes the event. `session/event` runs after it, in seq
 * order, and a throw is contained.
 */
export type SessionHook = 'internal/dispatch' | 'session/event'

/** What every way to make a session takes. */
export interface SessionOptions {
  /** The event types that the session knows; `coreEvents` unless given. */
  readonly vocabulary?: Vocabulary
  /** Gives the time of each appended event in epoch milliseconds; `Date.now` unless given. */
  readonly now?: () => number
  /** Hears what `session/event` listeners throw. Without it the first error of each goes to `console.error`. */
  readonly onListenerError?: (error: unknown, event: SessionEvent) => void
}

export interface CreateSessionOptions extends SessionOptions, HeaderOptions {
  /** History that the log begins with: validated, copied, and counted as restored. */
  readonly seed?: readonly SessionEvent[]
}

export interface RestoreSessionOptions extends SessionOptions {
  /** Keep events of unknown type that have no place on the surface, and list them in `findings`. SPEC 2.2. */
  readonly unknown?: 'keep'
}

/** A type of which only the run time knows whether it stands on the surface. */
type Widened<Type> = [Type] extends [SurfaceEventType] ? never : [Type] extends [LogOnlyEventType] ? never : Type

interface SessionParts extends RestoreSessionOptions {
  readonly header: SessionHeader
  readonly stored: readonly unknown[]
  readonly mode: 'copy' | 'adopt'
  /** Events of `stored` that an earlier lifetime wrote. */
  readonly firstLiveSeq: number
}

/** Makes a session from its parts; for this package alone. */
export let openSession: (parts: SessionParts) => Session

/**
 * One append-only log and its surface. Accepted events are deeply frozen and never change; whatever a candidate
 * breaks is found before anything is committed. SPEC 1, 3.
 */
export class Session {
  static {
    openSession = (parts) => new Session(parts)
  }

  readonly header: SessionHeader
  readonly vocabulary: Vocabulary
  /** Types that a restore with `{ unknown: 'keep' }` kept without knowing them. */
  readonly findings: readonly Finding[]
  /** What the model sees: `nodes` is a borrowed view, valid until the next append. */
  readonly surface: SessionSurface
  /** Events before it were restored or inherited: an earlier lifetime wrote them. */
  readonly firstLiveSeq: number

  readonly #log: SessionEvent[] = []
  readonly #now: () => number
  readonly #derived = new DerivedMessages()
  readonly #manager: SurfaceManager
  readonly #deciding = new Listeners<SessionListener>()
  readonly #observing = new Listeners<SessionListener>()
  readonly #listenerErrors: ListenerErrors<SessionEvent>
  readonly #deliveries: (readonly [event: SessionEvent, listeners: readonly SessionListener[]])[] = []
  #isDeciding = false
  #isDelivering = false
  #snapshot: readonly SessionEvent[] | undefined

  /** A new session, empty but for its seed. Throws `SessionAcceptanceError` when the seed breaks a rule. SPEC 3.3. */
  static create(options: CreateSessionOptions = {}): Session {
    const stored = options.seed ?? []
    const isSeeded = options.isSeeded ?? countInherited(stored) > 0
    const header = createSessionHeader({ ...options, isSeeded }, options.now)
    return new Session({ ...options, header, stored, mode: 'copy', firstLiveSeq: stored.length })
  }

  /**
   * A session from storage. Adopts the given events: they are checked, frozen in place and not copied. Throws
   * `SessionAcceptanceError` for the first event that breaks a rule, `SessionError` `header/invalid` or
   * `header/newer-version` for the header. SPEC 3.3.
   */
  static restore(stored: StoredSession, options: RestoreSessionOptions = {}): Session {
    const header = parseSessionHeader(stored.header)
    return new Session({ ...options, header, stored: stored.events, mode: 'adopt', firstLiveSeq: stored.events.length })
  }

  private constructor(parts: SessionParts) {
    this.header = parts.header
    this.vocabulary = parts.vocabulary ?? coreEvents
    requireTypes(this.vocabulary, coreEvents)
    this.firstLiveSeq = parts.firstLiveSeq
    this.#now = parts.now ?? Date.now
    this.#listenerErrors = new ListenerErrors(parts.onListenerError)
    const log = this.#log
    const eventLog = {
      get length() {
        return log.length
      },
      eventAt: (seq: number) => log[seq],
    }
    const manager = new SurfaceManager(eventLog, (plan) => this.#derived.apply(plan))
    this.#manager = manager
    this.surface = Object.freeze({
      get nodes() {
        return manager.nodes
      },
      get replaceGeneration() {
        return manager.replaceGeneration
      },
    })
    this.findings = Object.freeze(this.#adopt(parts))
  }

  get id(): SessionId {
    return this.header.id
  }

  /** Number of events; the seq of the next one. */
  get length(): number {
    return this.#log.length
  }

  /** Events before the last inherited `session/end-seed`; 0 without one. */
  get inheritedEventCount(): number {
    return countInherited(this.#log)
  }

  /** A frozen snapshot of the log, the same array until the next append. */
  get events(): readonly SessionEvent[] {
    this.#snapshot ??= Object.freeze(this.#log.slice())
    return this.#snapshot
  }

  /** The events from `seq` on, without a copy of the log; also those appended while the walk goes on. */
  *eventsFrom(seq: number): Iterable<SessionEvent> {
    for (let at = Math.max(0, seq); at < this.#log.length; at += 1) yield this.#log[at] as SessionEvent
  }

  eventAt(seq: number): SessionEvent | undefined {
    return this.#log[seq]
  }

  /**
   * Validates an event against the surface as it stands and commits it. Returns the frozen event. A surface type
   * says how it joins the surface; a log-only type takes nothing, or the mark that lets readers skip it. Throws
   * `SessionAcceptanceError` when a rule is broken, or what an `internal/dispatch` listener threw; then nothing
   * changed. SPEC 3.1, 3.2.
   */
  append<Type extends SurfaceEventType>(type: Type, data: SessionEventMap[Type], intent: IntentOf<Type>): EventOf<Type>
  append<Type extends LogOnlyEventType>(type: Type, data: SessionEventMap[Type], intent?: LogIntent): EventOf<Type>
  append<Type extends SessionEventType>(
    type: Widened<Type> & Type,
    data: SessionEventMap[Type],
    intent?: SurfaceIntent | AssistantIntent | LogIntent,
  ): EventOf<Type>
  /** An event of a type that this session does not know; it stays opaque. */
  append<Type extends string>(
    type: Type extends SessionEventType ? never : Type,
    data: JsonObject,
    intent: { readonly ignorable: true },
  ): SessionEvent
  append(type: string, data: unknown, intent?: unknown): SessionEvent {
    const seq = this.#log.length as SessionSeq
    if (this.#isDeciding)
      refuse({ seq, type }, 'append/reentrant', 'append from session/event, which runs after the commit')
    const event = acceptAppend({ type, data, intent, seq, time: this.#now() }, this.vocabulary)
    // The clock, an accessor of the payload or a schema may have appended: then this event's seq is taken.
    if (this.#log.length !== seq) refuse({ seq, type }, 'append/reentrant', 'something it called appended meanwhile')
    const plan = this.#manager.validateNext(event)
    const observers = this.#observing.current
    this.#decide(event)
    this.#log.push(event)
    this.#manager.commit(plan)
    this.#snapshot = undefined
    this.#deliver(event, observers)
    return event
  }

  /**
   * The messages that the model sees now: one walk of the surface, the same array until the surface changes, the
   * same frozen objects as in the log. SPEC 3.3.
   */
  deriveMessages(): readonly Message[] {
    return this.#derived.messages()
  }

  /** Adds a listener; the result removes it. */
  on(hook: SessionHook, listener: SessionListener): () => void {
    return (hook === 'internal/dispatch' ? this.#deciding : this.#observing).add(listener)
  }

  #adopt({ stored, mode, unknown }: SessionParts): Finding[] {
    const findings: Finding[] = []
    for (const value of stored) {
      const seq = this.#log.length as SessionSeq
      const accepted = acceptStored({ value, seq, mode, keepUnknown: unknown === 'keep' }, this.vocabulary)
      const plan = this.#manager.validateNext(accepted.event)
      this.#log.push(accepted.event)
      this.#manager.commit(plan)
      if (accepted.kept) findings.push(keptFinding(accepted, this.vocabulary))
    }
    return findings
  }

  #decide(event: SessionEvent): void {
    const listeners = this.#deciding.current
    if (listeners.length === 0) return
    this.#isDeciding = true
    try {
      for (const listener of listeners) listener(event, this)
    } finally {
      this.#isDeciding = false
    }
  }

  /** A nested append commits at once; only its delivery waits, so that every listener sees events in seq order. */
  #deliver(event: SessionEvent, listeners: readonly SessionListener[]): void {
    if (listeners.length === 0) return
    this.#deliveries.push([event, listeners])
    if (this.#isDelivering) return
    this.#isDelivering = true
    for (let next = this.#deliveries.shift(); next !== undefined; next = this.#deliveries.shift()) {
      const [delivered, audience] = next
      for (const listener of audience)
        this.#listenerErrors.contain(listener, delivered, () => listener(delivered, this))
    }
    this.#isDelivering = false
  }
}

function keptFinding({ event }: Accepted, vocabulary: Vocabulary): Finding {
  const isRetired = vocabulary.get(event.type)?.retired === true
  return {
    code: 'vocabulary/unknown',
    severity: 'warning',
    seq: event.seq,
    message: `event ${event.seq} has the ${isRetired ? 'retired' : 'unknown'} type ${event.type}: it is kept as it is and not interpreted`,
    ...(isRetired ? {} : { fix: 'compose the vocabulary of the plugin that wrote it' }),
  }
}
