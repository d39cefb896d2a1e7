import { interruptedTurnClosers } from '@palimpsest/session'
import { TurnAborted } from './abort.ts'
import { AgentLoopError } from './errors.ts'
import { messageOf } from './failure.ts'
import { HookListeners } from './hook-listeners.ts'
import type { AgentHook, AgentHooks } from './hooks.ts'
import { type AgentInput, type InputKind, InputQueue, inputMessage } from './input.ts'
import { LogView } from './log-view.ts'
import { type LoopParts, resolveOptions } from './loop-config.ts'
import type { AgentLoopOptions, TurnResult } from './options.ts'
import { inLine } from './turn-line.ts'
import { runTurn } from './turn.ts'

interface Waiter {
  readonly resolve: (result: TurnResult) => void
  readonly reject: (error: unknown) => void
}

/**
 * The reference loop: one turn at a time, everything in the log before it has an effect. Writes nothing before the first
 * turn. Loops of one session wait for each other's turns. The constructor throws `AgentLoopError`: `options/invalid`,
 * `tools/invalid`, and `loop/unrepaired` for a session with something open. SPEC 7.4.
 */
export class AgentLoop {
  readonly #parts: LoopParts
  readonly #queue = new InputQueue<Waiter>()
  /** Of the running turn, or of the one that is about to start. */
  #controller: AbortController | undefined
  #running: Promise<void> | undefined
  #isClosed = false

  constructor(options: AgentLoopOptions) {
    const config = resolveOptions(options)
    const [closer] = interruptedTurnClosers(config.session.events)
    if (closer !== undefined) {
      const why = `session ${config.session.id} ends inside a turn (it lacks a ${closer.type}): append interruptedTurnClosers(session.events) first`
      throw new AgentLoopError('loop/unrepaired', why)
    }
    this.#parts = { ...config, hooks: new HookListeners(config.abortGraceMs), log: new LogView(config.session) }
  }

  /** Whether a turn is running, or about to start. */
  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /**
   * Queues input for a turn of its own and wakes the loop. Resolves when that turn has ended, however it ended. Rejects
   * with `AgentLoopError` `loop/closed` when the loop is closed first, with `SessionAcceptanceError` for input that no
   * log would take, and with what a listener of the session threw that vetoed the turn itself. A tool or hook that awaits
   * it waits for the end of its own turn, until that is aborted.
   */
  async send(input: AgentInput): Promise<TurnResult> {
    return new Promise((resolve, reject) => this.#enqueue('send', input, { resolve, reject }))
  }

  /**
   * Input for the next step, of this turn if one runs: then the turn goes on. Wakes an idle loop. Throws as `send`
   * rejects.
   */
  steer(input: AgentInput): void {
    this.#enqueue('steer', input)
  }

  /** Input for the next step, whenever that is: neither wakes the loop nor keeps a turn going. Throws as `send` rejects. */
  inject(input: AgentInput): void {
    this.#enqueue('inject', input)
  }

  /**
   * Ends the running turn: the visible prefix of the answer stays, calls that did not start are answered. What is queued
   * for later turns runs. Does nothing when no turn runs. The cause stands in `turn/end`: a text, or an error for its
   * message, as `AbortSignal.reason` is one.
   */
  abort(cause?: unknown): void {
    this.#controller?.abort(new TurnAborted(cause === undefined ? undefined : messageOf(cause)))
  }

  /** Resolves when nothing runs and nothing is queued that would wake the loop. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  /** Aborts, waits, and takes no more input; what no turn has claimed is dropped, and its `send` rejects. */
  async close(): Promise<void> {
    this.#isClosed = true
    const error = closedError()
    for (const { waiter } of this.#queue.claimAll()) waiter?.reject(error)
    this.abort('closed')
    await this.idle()
    this.#parts.log.close()
  }

  /** Adds a listener; the result removes it. The order of the hooks is that of `AgentHooks`. */
  on<Hook extends AgentHook>(hook: Hook, listener: AgentHooks[Hook]): () => void {
    return this.#parts.hooks.on(hook, listener)
  }

  #enqueue(kind: InputKind, input: AgentInput, waiter?: Waiter): void {
    if (this.#isClosed) throw closedError()
    const message = inputMessage(input, this.#parts.session, this.#parts.createId)
    this.#queue.push({ kind, message, ...(waiter && { waiter }) })
    this.#wake()
  }

  #wake(): void {
    if (this.#running !== undefined || !this.#queue.wakes) return
    this.#controller = new AbortController()
    this.#running = this.#turns()
  }

  async #turns(): Promise<void> {
    // Whoever wakes the loop gets to the end of its own turn first.
    await Promise.resolve()
    while (this.#queue.wakes) {
      this.#controller ??= new AbortController()
      const { signal } = this.#controller
      // Another loop may have kept the session while this one was closed.
      const settle = await inLine(this.#parts.session, async () =>
        this.#queue.wakes ? this.#turn(signal) : (): void => undefined,
      )
      this.#controller = undefined
      settle()
    }
    this.#controller = undefined
    this.#running = undefined
  }

  /** Resolves with what tells the sender, who then finds the loop idle. */
  async #turn(signal: AbortSignal): Promise<() => void> {
    const claimed = this.#queue.claimTurn()
    const sent = claimed.find((input) => input.waiter !== undefined)
    const pending = claimed.map(({ message }) => message)
    try {
      const result = await runTurn(this.#parts, {
        signal,
        pending,
        claimStep: () => this.#queue.claimStep().map(({ message }) => message),
        isSteered: () => this.#queue.steers,
      })
      return () => sent?.waiter?.resolve(result)
    } catch (error) {
      // Who sent hears of it; nobody would miss the rest.
      this.#queue.putBack(pending.filter((message) => message !== sent?.message))
      return () => sent?.waiter?.reject(error)
    }
  }
}

function closedError(): AgentLoopError {
  return new AgentLoopError('loop/closed', 'the loop was closed: make a new one for this session')
}
