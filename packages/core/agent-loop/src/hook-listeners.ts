import { throwIfAborted, watchAbort, whileRunning } from './abort.ts'
import { messageOf } from './failure.ts'
import type { AgentHook, AgentHooks } from './hooks.ts'
import type { ToolOutcome } from './tools.ts'
import { TurnStop, failTurn } from './turn-stop.ts'

type ContextOf<Hook extends AgentHook> = Parameters<AgentHooks[Hook]>[0]
type AnswerOf<Hook extends AgentHook> = Exclude<Awaited<ReturnType<AgentHooks[Hook]>>, void>

interface Listener {
  readonly call: (context: never) => unknown
}

/** The listeners of every hook, in the order in which they were added. */
export class HookListeners {
  readonly #listeners = new Map<AgentHook, Set<Listener>>()
  readonly #graceMs: number

  constructor(graceMs: number) {
    this.#graceMs = graceMs
  }

  on<Hook extends AgentHook>(hook: Hook, listener: AgentHooks[Hook]): () => void {
    const entry: Listener = { call: listener }
    const listeners = this.#listeners.get(hook) ?? new Set<Listener>()
    this.#listeners.set(hook, listeners.add(entry))
    return () => void listeners.delete(entry)
  }

  has(hook: AgentHook): boolean {
    return (this.#listeners.get(hook)?.size ?? 0) > 0
  }

  /**
   * Calls every listener, one after another. Throws `TurnStop`: `hook/failed` when one throws, `aborted` when the turn is
   * aborted meanwhile; a listener that is at work then has the grace to end.
   */
  async all<Hook extends AgentHook>(hook: Hook, context: ContextOf<Hook>): Promise<void> {
    for (const listener of this.#snapshot(hook)) await this.#ask(hook, listener, context)
  }

  /** As `all`, but stops at the first listener that answers. */
  async first<Hook extends AgentHook>(hook: Hook, context: ContextOf<Hook>): Promise<AnswerOf<Hook> | undefined> {
    for (const listener of this.#snapshot(hook)) {
      const answer = await this.#ask(hook, listener, context)
      if (answer !== undefined && answer !== null) return answer as AnswerOf<Hook>
    }
    return undefined
  }

  /**
   * The outcome after every listener of `tools/result` had it. A call that ran has an outcome whether the turn is aborted
   * or not, so only a listener that outlives the grace stops this. Throws `TurnStop` `hook/failed`.
   */
  async review(context: ContextOf<'tools/result'>): Promise<ToolOutcome> {
    let { outcome } = context
    for (const listener of this.#snapshot('tools/result')) {
      const watch = watchAbort(context.signal, this.#graceMs)
      try {
        const answer = await Promise.race([callListener(listener, { ...context, outcome }), watch.expired])
        if (answer !== undefined && answer !== null) outcome = answer as ToolOutcome
      } catch (error) {
        throw hookFailure('tools/result', error)
      } finally {
        watch.stop()
      }
    }
    return outcome
  }

  #snapshot(hook: AgentHook): Listener[] {
    return [...(this.#listeners.get(hook) ?? [])]
  }

  async #ask(hook: AgentHook, listener: Listener, context: { readonly signal: AbortSignal }): Promise<unknown> {
    throwIfAborted(context.signal)
    try {
      return await whileRunning(context.signal, callListener(listener, context), this.#graceMs)
    } catch (error) {
      if (error instanceof TurnStop) throw error
      throw hookFailure(hook, error)
    }
  }
}

async function callListener({ call }: Listener, context: unknown): Promise<unknown> {
  return call(context as never)
}

function hookFailure(hook: AgentHook, error: unknown): TurnStop {
  return failTurn('hook/failed', `a listener of ${hook} threw: ${messageOf(error)}`, error)
}
