import type { StepRef } from '@palimpsest/session'
import { abortStop, throwIfAborted, watchAbort, whileRunning } from './abort.ts'
import { flushBarrier } from './barrier.ts'
import { messageOf } from './failure.ts'
import type { LoopParts } from './loop-config.ts'
import type { AssistantEvent } from './model-call.ts'
import { startBody } from './tool-body.ts'
import { failedOutcome, soundOutcome, synthetic } from './tool-output.ts'
import { ToolSlot } from './tool-slot.ts'
import type { ToolOutcome } from './tools.ts'
import { TurnStop, failTurn } from './turn-stop.ts'

/** Runs the calls of a message. Throws `TurnStop` once every one of them is answered. */
export async function runTools(
  parts: LoopParts,
  place: StepRef,
  message: AssistantEvent,
  signal: AbortSignal,
): Promise<number> {
  const slots = message.data.message.content.flatMap((block) =>
    block.type === 'tool-call' ? [new ToolSlot(parts, place, block)] : [],
  )
  if (slots.length > 0) await new ToolRunner(parts, slots, signal).run()
  return slots.length
}

/** The calls of one step: decided one by one, run side by side, answered in model order. */
class ToolRunner {
  readonly #parts: LoopParts
  readonly #slots: readonly ToolSlot[]
  readonly #signal: AbortSignal
  /** How many calls are answered in the log. */
  #answered = 0
  /** Why no more calls are started. */
  #stop: TurnStop | undefined
  /** Of the bodies that run. */
  readonly #clocks = new Set<() => void>()
  /** Listeners of `tools/result` run one after another. */
  #reviews: Promise<unknown> = Promise.resolve()

  constructor(parts: LoopParts, slots: readonly ToolSlot[], signal: AbortSignal) {
    this.#parts = parts
    this.#slots = slots
    this.#signal = signal
  }

  async run(): Promise<void> {
    try {
      throwIfAborted(this.#signal)
      for (const slot of this.#slots) await this.#decide(slot)
    } catch (error) {
      this.#stopFor(error)
    }
    try {
      this.#answerReady()
      await this.#execute()
    } catch (error) {
      this.#stopFor(error)
    }
    if (this.#signal.aborted) {
      this.#stop ??= abortStop(this.#signal)
      // Bodies that are left behind were told to stop already; their clocks would keep the process up.
      for (const stopClock of this.#clocks) stopClock()
    }
    for (const slot of this.#slots) slot.outcome ??= this.#closing(slot)
    this.#answerReady()
    if (this.#stop !== undefined) throw this.#stop
  }

  #stopFor(error: unknown): void {
    this.#stop ??= error instanceof TurnStop ? error : failTurn('hook/failed', messageOf(error), error)
  }

  /** Settles what needs no body: unknown tools, arguments that do not fit, and what a hook decides. */
  async #decide(slot: ToolSlot): Promise<void> {
    const { call, tool } = slot
    if (tool === undefined) {
      slot.outcome = synthetic.unknownTool(call.name, [...this.#parts.tools.keys()])
      return
    }
    const parsed = await whileRunning(
      this.#signal,
      tool.parse(call.arguments).catch((error: unknown) => ({ problem: messageOf(error) })),
    )
    if ('problem' in parsed) {
      slot.outcome = synthetic.invalidArguments(call.name, parsed.problem)
      return
    }
    slot.call = { ...call, input: parsed.input }
    const { session, hooks } = this.#parts
    const context = { ...slot.place, session, signal: this.#signal, call: slot.call }
    const decision = await hooks.first('tools/pre-execute', context)
    if (decision === undefined) return
    slot.outcome = 'deny' in decision ? synthetic.denied(decision.deny) : sound(decision.answer)
  }

  async #execute(): Promise<void> {
    const waiting = this.#slots.filter(({ outcome }) => outcome === undefined)
    const running = new Set<Promise<void>>()
    const watch = watchAbort(this.#signal, this.#parts.abortGraceMs)
    try {
      while (running.size > 0 || (waiting.length > 0 && this.#canStart)) {
        const batch = this.#canStart ? waiting.splice(0, this.#parts.maxParallelTools - running.size) : []
        for (const body of await this.#start(batch)) {
          const closed = body.finally(() => running.delete(closed))
          running.add(closed)
        }
        if (running.size > 0) await Promise.race([...running, watch.expired])
      }
    } finally {
      watch.stop()
    }
  }

  get #canStart(): boolean {
    return this.#stop === undefined && !this.#signal.aborted
  }

  /** Records the calls, makes them durable with one barrier, and starts their bodies. */
  async #start(batch: readonly ToolSlot[]): Promise<Promise<void>[]> {
    if (batch.length === 0) return []
    try {
      for (const slot of batch) slot.recordCall()
      await flushBarrier(this.#parts, this.#signal)
    } catch (error) {
      // Bodies of an earlier batch go on: they are awaited before the turn ends.
      this.#stopFor(error)
      return []
    }
    return batch.map((slot) => this.#runBody(slot))
  }

  /** Resolves when the call is closed; a body that goes on after that reports late. */
  async #runBody(slot: ToolSlot): Promise<void> {
    slot.isRunning = true
    const body = startBody(slot, this.#signal)
    const reviewed = body.outcome.then((outcome) => this.#review(slot, outcome))
    const closed = reviewed.then((outcome) => this.#settle(slot, outcome))
    const timedOut = body.timedOut.then((outcome) => this.#expire(slot, outcome))
    // An append that a listener vetoes must not become an unhandled rejection once the race is over.
    closed.catch((error: unknown) => this.#stopFor(error))
    const { stopClock } = body
    this.#clocks.add(stopClock)
    try {
      await Promise.race([closed, timedOut])
    } finally {
      stopClock()
      this.#clocks.delete(stopClock)
    }
  }

  async #review(slot: ToolSlot, outcome: ToolOutcome): Promise<ToolOutcome> {
    const { session, hooks } = this.#parts
    if (!hooks.has('tools/result')) return sound(outcome)
    const context = { ...slot.place, session, signal: this.#signal, call: slot.call, outcome }
    const review = this.#reviews.then(() => hooks.review(context))
    this.#reviews = review.catch(() => undefined)
    try {
      return sound(await review)
    } catch (error) {
      this.#stopFor(error)
      return synthetic.withheld()
    }
  }

  #settle(slot: ToolSlot, outcome: ToolOutcome): void {
    slot.isRunning = false
    if (slot.outcome !== undefined) return slot.recordLate(outcome)
    slot.outcome = outcome
    if (this.#slots[this.#answered] !== slot) slot.outcome = slot.recordWaiting(outcome)
    this.#answerReady()
  }

  #expire(slot: ToolSlot, outcome: ToolOutcome): void {
    if (slot.outcome !== undefined) return
    slot.outcome = outcome
    this.#answerReady()
  }

  /** Records results as far as they are there without a gap. */
  #answerReady(): void {
    for (;;) {
      const slot = this.#slots[this.#answered]
      if (slot?.outcome === undefined) return
      slot.recordResult(slot.outcome)
      this.#answered += 1
    }
  }

  #closing(slot: ToolSlot): ToolOutcome {
    if (slot.isRunning) return synthetic.outcomeUnknown()
    const reason = this.#stop?.reason
    if (reason?.kind !== 'error') return synthetic.abortedBeforeDispatch()
    const { message } = reason.failure as { readonly message: string }
    return synthetic.notStarted(message)
  }
}

/** Outcomes of foreign code are read as they are meant, and never break the step. */
function sound(outcome: ToolOutcome): ToolOutcome {
  try {
    return soundOutcome(outcome)
  } catch (error) {
    return failedOutcome(error)
  }
}
