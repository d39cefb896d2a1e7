import { refuse } from './errors.ts'
import { type SessionEvent, type SurfaceEvent, isSurfaceType } from './events.ts'
import type { SessionSeq, ToolCallId } from './ids.ts'
import { answerOf, callsOf, repeatedId } from './pairing.ts'
import { type ReplacementPlan, checkBalance, planReplacement } from './replacement.ts'
import { SurfaceOrder } from './surface-order.ts'

/** All that the surface needs of a log, so that one with cold payloads on disk can be slotted in. SPEC 3.3. */
export interface EventLog {
  readonly length: number
  eventAt(seq: number): SessionEvent | undefined
}

/** What the model sees, as seqs in order. SPEC 1. */
export interface SessionSurface {
  /** Borrowed view, valid until the next append. */
  readonly nodes: readonly SessionSeq[]
  /** Replacements in the log so far. */
  readonly replaceGeneration: number
}

/** What an accepted event will do to the surface. Made by `validateNext`, applied by `commit`. */
export type SurfacePlan = { readonly kind: 'log-only'; readonly event: SessionEvent } | SurfaceChange
/** A plan that changes the surface. */
export type SurfaceChange =
  | { readonly kind: 'append'; readonly event: SurfaceEvent }
  | ({ readonly kind: 'replace'; readonly event: SurfaceEvent } & ReplacementPlan)

/**
 * The one owner of a session's surface: folds it from the log, and judges candidates against it as it stands.
 * O(1) when nothing is new, O(new events) otherwise. SPEC 1, 3.3.
 */
export class SurfaceManager implements SessionSurface {
  readonly #log: EventLog
  readonly #onChange: ((change: SurfaceChange) => void) | undefined
  readonly #order = new SurfaceOrder()
  /** Open calls in call order, with the assistant message that made each. */
  readonly #open = new Map<ToolCallId, SessionSeq>()
  #folded = 0
  #replaceGeneration = 0

  /** `onChange` hears every change right after it was applied. */
  constructor(log: EventLog, onChange?: (change: SurfaceChange) => void) {
    this.#log = log
    this.#onChange = onChange
  }

  get nodes(): readonly SessionSeq[] {
    this.#catchUp()
    return this.#order.nodes
  }

  get replaceGeneration(): number {
    this.#catchUp()
    return this.#replaceGeneration
  }

  /**
   * Judges a candidate against the surface as it stands and says what it would do. Changes nothing. The payload and
   * placement must have passed their own rules. Throws `SessionAcceptanceError` with a `replace/`, `sources/` or
   * `pairing/` code. SPEC 3.1.
   */
  validateNext(event: SessionEvent): SurfacePlan {
    this.#catchUp()
    const plan = this.#plan(event)
    if (plan.kind === 'append') this.#checkPairing(plan.event)
    if (plan.kind === 'replace') checkBalance(plan.event, plan.shadowed.map(this.#entryAt))
    return plan
  }

  /** Applies a plan whose event the log now holds as its next one. Any other plan is stale and changes nothing. */
  commit(plan: SurfacePlan): void {
    if (plan.event.seq !== this.#folded || this.#log.eventAt(this.#folded) !== plan.event) return
    this.#apply(plan)
  }

  #catchUp(): void {
    while (this.#folded < this.#log.length) {
      // What the log holds was accepted, so its pairing is not looked at again.
      this.#apply(this.#plan(this.#log.eventAt(this.#folded) as SessionEvent))
    }
  }

  readonly #entryAt = (seq: SessionSeq): SurfaceEvent => this.#log.eventAt(seq) as SurfaceEvent

  #plan(event: SessionEvent): SurfacePlan {
    if (!isSurfaceType(event.type)) return { kind: 'log-only', event }
    const entry = event as SurfaceEvent
    if (entry.surfaceOp === 'append') return { kind: 'append', event: entry }
    return { kind: 'replace', event: entry, ...planReplacement(this.#order, entry, entry.surfaceOp, this.#entryAt) }
  }

  #apply(plan: SurfacePlan): void {
    this.#folded += 1
    if (plan.kind === 'log-only') return
    if (plan.kind === 'append') {
      this.#order.push(plan.event.seq)
      for (const id of callsOf(plan.event)) this.#open.set(id, plan.event.seq)
      const answered = answerOf(plan.event)
      if (answered !== undefined) this.#open.delete(answered)
    } else {
      this.#order.replace(plan.start, plan.end, plan.event.seq)
      this.#replaceGeneration += 1
    }
    this.#onChange?.(plan)
  }

  #checkPairing(event: SurfaceEvent): void {
    const answered = answerOf(event)
    if (answered !== undefined) {
      if (!this.#open.has(answered)) refuse(event, 'pairing/unknown-call', `call ${answered} is not open`)
      return
    }
    if (this.#open.size > 0) {
      const calls = [...this.#open].map(([id, seq]) => `${id} (made by event ${seq})`).join(', ')
      refuse(event, 'pairing/open-calls', `these calls wait for a tool/result first: ${calls}`)
    }
    const repeated = repeatedId(callsOf(event))
    if (repeated !== undefined) refuse(event, 'pairing/duplicate-call', `call ${repeated} is opened twice`)
  }
}
