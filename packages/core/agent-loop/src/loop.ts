import type { UserMessage } from '@palimpsest/session'
import type { AgentHook, AgentHooks } from './hooks.ts'
import type { AgentLoopOptions, TurnResult } from './options.ts'

/** What a user says: text, blocks, or a whole message. */
export type AgentInput = string | UserMessage['content'] | UserMessage

/** The reference loop. SPEC 7.4. */
export declare class AgentLoop {
  constructor(options: AgentLoopOptions)
  /** Whether a turn is running. */
  readonly isRunning: boolean
  /** Queues input for a turn of its own and wakes the loop. Resolves when that turn has ended; rejects only when the loop is closed first. */
  send(input: AgentInput): Promise<TurnResult>
  /** Input for the next step, of this turn if one runs: then the turn goes on. Wakes an idle loop. */
  steer(input: AgentInput): void
  /** Input for the next step, whenever that is. Does not wake the loop, and does not keep a turn going. */
  inject(input: AgentInput): void
  /** Ends the running turn: the visible prefix of the answer stays, calls that did not start are answered. */
  abort(cause?: string): void
  /** Resolves when nothing runs and nothing is queued that would wake the loop. */
  idle(): Promise<void>
  /** Aborts, waits, and takes no more input. */
  close(): Promise<void>
  on<Hook extends AgentHook>(hook: Hook, listener: AgentHooks[Hook]): () => void
}
