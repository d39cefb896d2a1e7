import type { AttachmentRef, JsonObject, Session, TokenUsage, TurnEndReason } from '@palimpsest/session'
import type { AgentModel, ModelAdapter } from './adapter.ts'
import type { AgentTool } from './tools.ts'

/** Settings of the request; what is given becomes part of `request/header`. */
export interface RequestSettings {
  readonly temperature?: number
  /** Tokens of the answer. */
  readonly maxTokens?: number
  readonly stop?: readonly string[]
  /** `minimal`, `low`, `medium`, `high` and what else the provider knows. For models of the V4 interface; V3 takes it in `providerOptions`. */
  readonly reasoningEffort?: string
  readonly toolChoice?: 'auto' | 'none' | 'required' | { readonly tool: string }
  /** By provider: sent as they are. */
  readonly providerOptions?: Readonly<Record<string, JsonObject>>
}

export interface RetryOptions {
  /** Requests per step, the first one included. Default 4. */
  readonly maxAttempts?: number
  /** Milliseconds before the second attempt; doubles with each. Default 1,000. A `retry-after` of the provider goes first. */
  readonly initialDelayMs?: number
  /** Milliseconds. Default 60,000. */
  readonly maxDelayMs?: number
}

export interface AgentLoopOptions {
  /** A session without open calls, steps and turns: one from a write open is, and any other after `interruptedTurnClosers`. */
  readonly session: Session
  readonly model: AgentModel
  readonly adapter: ModelAdapter
  /** The system prompt; the surface's first entry follows it. Unless given it stays as the session has it. */
  readonly system?: string
  readonly tools?: readonly AgentTool[]
  readonly settings?: RequestSettings
  /** Tokens; recorded in `request/context`. */
  readonly contextWindow?: number
  /** Resolves when every event so far is durable: the barrier before a request and before a tool body. */
  readonly flush?: () => Promise<void>
  /** Takes the images that a model makes; without it they are left out of the message. */
  readonly attachments?: { put(bytes: Uint8Array, meta: { readonly mediaType: string }): Promise<AttachmentRef> }
  /** Steps per turn. Default 100. */
  readonly maxSteps?: number
  /** Tool bodies at one time. Default 4. */
  readonly maxParallelTools?: number
  readonly retry?: RetryOptions
  /** How long an aborted turn waits for tool bodies that got the signal, in milliseconds. Default 1,000. */
  readonly abortGraceMs?: number
  /** Makes message ids. Random UUIDs unless given. */
  readonly createId?: () => string
  /** Epoch milliseconds of stream chunks. `Date.now` unless given. */
  readonly now?: () => number
  /** Waits between attempts; for tests. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>
}

/** How a turn went. */
export interface TurnResult {
  readonly turn: number
  readonly steps: number
  readonly reason: TurnEndReason
  /** Text of the last assistant message; empty where there is none. */
  readonly text: string
  /** Sum over the turn's answers. */
  readonly usage: TokenUsage
}
