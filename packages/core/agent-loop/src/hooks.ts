import type { Json, Message, RequestHeader, Session, UserMessage } from '@palimpsest/session'
import type { FailureKind } from './adapter.ts'
import type { RequestedCall, ToolOutcome } from './tools.ts'

type Awaitable<Value> = Value | Promise<Value>

interface StepContext {
  readonly session: Session
  readonly turn: number
  readonly step: number
  /** Aborted when the turn is. */
  readonly signal: AbortSignal
}

export interface PreStepContext extends StepContext {
  /** What this step will append as user messages, after what `inject` adds. */
  readonly input: readonly UserMessage[]
  /** Adds a user message before the input of this step; `sourceEventSeqs` are the events that it draws on. */
  inject(message: UserMessage, sourceEventSeqs?: readonly number[]): void
}

export interface RequestContext extends StepContext {
  /** Counts from 1 within the step. */
  readonly attempt: number
  /** The header as it would be sent. */
  readonly header: RequestHeader
  /** The derived messages as they stand. To change them, append a replacement. */
  readonly messages: readonly Message[]
}

export interface RequestErrorContext extends StepContext {
  readonly attempt: number
  readonly kind: FailureKind
  readonly error: unknown
  /** Whether the loop would try again by itself. */
  readonly willRetry: boolean
}

export interface CallContext extends StepContext {
  readonly call: RequestedCall
}

/** `deny` answers the call with an error result that says why; `answer` settles it without running the tool. */
export type CallDecision = { readonly deny: string } | { readonly answer: ToolOutcome }

/**
 * The hooks of the loop, in the order in which a step meets them. Listeners of one hook run one after another, in the
 * order in which they were added, and are awaited. A throw ends the turn with `hook/failed`, after whatever is open was
 * closed.
 */
export interface AgentHooks {
  /** After the input was claimed and before `step/start`: no call is open. Compaction and context go here. */
  'agent/pre-step': (context: PreStepContext) => Awaitable<void>
  /** After the user messages and before `request/header`: the first answer replaces the header. Once per attempt. */
  'agent/request': (context: RequestContext) => Awaitable<RequestHeader | void>
  /**
   * After the `assistant/attempt` of a failed request: `retry` sends the step's request again (derived anew), `fail` ends
   * the turn; without an answer the loop decides. A failure of kind `overflow` may be retried once per step.
   */
  'agent/request-error': (context: RequestErrorContext) => Awaitable<'retry' | 'fail' | void>
  /** After `assistant/message` and before `tool/call`; in model order, one at a time. Approval goes here. */
  'tools/pre-execute': (context: CallContext) => Awaitable<CallDecision | void>
  /** After the body and before `tool/result`: an answer replaces the outcome. */
  'tools/result': (context: CallContext & { readonly outcome: ToolOutcome }) => Awaitable<ToolOutcome | void>
}

export type AgentHook = keyof AgentHooks

/** Why a turn ended in error, as it stands in `turn/end`. */
export interface TurnFailure {
  readonly code: string
  readonly message: string
  readonly [member: string]: Json | undefined
}
