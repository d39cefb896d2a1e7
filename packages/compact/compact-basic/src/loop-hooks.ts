import type { Session, UserMessage } from '@palimpsest/session'

type Awaitable<Value> = Value | Promise<Value>

/** What the policy reads before a step. */
export interface PreStep {
  readonly session: Session
  readonly signal: AbortSignal
  /** What the step will append. */
  readonly input: readonly UserMessage[]
}

/** What it reads of a request that failed. */
export interface FailedRequest {
  readonly session: Session
  readonly signal: AbortSignal
  readonly kind: 'overflow' | 'retryable' | 'fatal'
}

/** A loop that compaction can be attached to: `AgentLoop` of `@palimpsest/agent-loop` is one. */
export interface CompactableLoop {
  on(hook: 'agent/pre-step', listener: (context: PreStep) => Awaitable<void>): () => void
  on(hook: 'agent/request-error', listener: (context: FailedRequest) => Awaitable<'retry' | 'fail' | void>): () => void
}
