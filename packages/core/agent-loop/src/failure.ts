import { APICallError } from '@ai-sdk/provider'
import { redact } from '@palimpsest/session'
import type { FailureKind, ModelAdapter } from './adapter.ts'
import type { AgentLoopErrorCode } from './errors.ts'
import type { TurnFailure } from './hooks.ts'

/** Longest message of an error that goes into the log, in UTF-16 units. */
const MESSAGE_LIMIT = 2000

/** A request that did not become an answer. */
export interface RequestFailure {
  readonly kind: FailureKind
  readonly error: unknown
  /** What the log keeps: no headers and no bodies, which may hold secrets, and a message without what is private. */
  readonly failure: TurnFailure
}

/** Where a request failed: a failure of the answer happened after the provider had accepted the request. */
export type FailureStage = 'request' | 'answer'

/** The answer ended without its end. */
export class IncompleteAnswer extends Error {
  override readonly name: string = 'IncompleteAnswer'
}

export function requestFailure(error: unknown, stage: FailureStage, adapter: ModelAdapter): RequestFailure {
  const kind = classify(error, adapter) ?? defaultKind(error, stage)
  const statusCode = APICallError.isInstance(error) ? error.statusCode : undefined
  const failure = { code: codeOf(kind, error), message: redact(messageOf(error)), ...(statusCode && { statusCode }) }
  return { kind, error, failure }
}

function classify(error: unknown, adapter: ModelAdapter): FailureKind | undefined {
  try {
    return adapter.classifyError?.(error)
  } catch {
    // What looks at errors of any shape may stumble: the request is answered for all the same.
    return undefined
  }
}

function defaultKind(error: unknown, stage: FailureStage): FailureKind {
  if (error instanceof IncompleteAnswer) return 'retryable'
  const status = APICallError.isInstance(error) ? (error.statusCode ?? 0) : 0
  // A cut answer is an APICallError with status 200, which says nothing about trying again.
  if (stage === 'answer' && status < 400) return 'retryable'
  return APICallError.isInstance(error) && error.isRetryable ? 'retryable' : 'fatal'
}

function codeOf(kind: FailureKind, error: unknown): AgentLoopErrorCode {
  if (kind === 'overflow') return 'request/overflow'
  return error instanceof IncompleteAnswer ? 'request/incomplete' : 'request/failed'
}

/** The message of whatever was thrown or sent as an error. */
export function messageOf(error: unknown): string {
  const message = findMessage(error) ?? 'an error without a message'
  return message.length > MESSAGE_LIMIT ? `${message.slice(0, MESSAGE_LIMIT)}…` : message
}

function findMessage(error: unknown): string | undefined {
  if (typeof error === 'string') return error
  if (typeof error !== 'object' || error === null) return undefined
  const { message, error: inner } = error as { readonly message?: unknown; readonly error?: unknown }
  if (typeof message === 'string' && message !== '') return message
  return inner === error ? undefined : typeof inner === 'string' ? inner : findNested(inner)
}

function findNested(inner: unknown): string | undefined {
  if (typeof inner !== 'object' || inner === null) return undefined
  const { message } = inner as { readonly message?: unknown }
  return typeof message === 'string' ? message : undefined
}
