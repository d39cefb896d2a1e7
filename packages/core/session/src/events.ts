import type { SessionSeq, ToolCallId } from './ids.ts'
import type { Json, JsonObject } from './json.ts'
import type { AssistantMessage, ResultContentBlock, SystemMessage, ToolResultMessage, UserMessage } from './messages.ts'
import type { AssistantStreamRecord, TokenUsage } from './stream.ts'

/** How a surface event joins the surface; both ends of a replacement are inclusive. SPEC 1. */
export type SurfaceOp = 'append' | ReplaceOp
export interface ReplaceOp {
  readonly op: 'replace'
  readonly startSeq: SessionSeq
  readonly endSeq: SessionSeq
}

/** Placement of a surface event, as given to `Session.append`. SPEC 2.6. */
export interface SurfaceIntent {
  readonly surfaceOp: SurfaceOp
  /** Earlier events that this one draws on. A replacement cites every surface entry it shadows. */
  readonly sourceEventSeqs?: readonly SessionSeq[]
}
/** Placement of an `assistant/message`: it can only append, and cites nothing. */
export interface AssistantIntent {
  readonly surfaceOp: 'append'
  readonly sourceEventSeqs?: never
}
/** What a log-only event may carry: the mark that lets readers skip its type. */
export interface LogIntent {
  readonly ignorable?: true
}

/** What every event of a log is, known type or not. SPEC 2.1. */
export interface EventEnvelope {
  readonly type: string
  readonly seq: SessionSeq
  /** Unix epoch, integer milliseconds. */
  readonly time: number
  readonly data: JsonObject
  readonly surfaceOp?: SurfaceOp
  readonly sourceEventSeqs?: readonly SessionSeq[]
  readonly ignorable?: true
}

/** Position in the conversation. Both count from 1. */
export interface StepRef {
  readonly turn: number
  readonly step: number
}

export type TurnEndReason =
  | { readonly kind: 'completed' }
  | { readonly kind: 'aborted'; readonly cause?: Json }
  | { readonly kind: 'error'; readonly failure?: Json }
  | { readonly kind: 'blocked' }
  | { readonly kind: 'max-tokens' }
  | { readonly kind: 'interrupted' }

/** A code and a name for what went wrong in a tool, kept beside the text the model reads. */
export interface ToolError {
  readonly name: string
  readonly code: string
}

export interface RequestConfig {
  readonly provider: string
  readonly model: string
  readonly reasoningEffort?: string
  readonly temperature?: number
  /** Tokens. */
  readonly maxTokens?: number
  readonly stop?: readonly string[]
  readonly [member: string]: Json | undefined
}

/** Everything of a request that is not history. SPEC 2.3. */
export interface RequestHeader {
  readonly config: RequestConfig
  readonly adapterDefaults?: JsonObject
  readonly tools?: readonly JsonObject[]
}

/** Payloads by event type. Plugins add theirs by declaration merging. SPEC 2.2, 2.3. */
export interface SessionEventMap {
  'turn/start': { readonly turn: number }
  'turn/end': { readonly turn: number; readonly reason: TurnEndReason }
  'step/start': StepRef
  'step/end': StepRef
  'system/message': StepRef & { readonly message: SystemMessage }
  'user/message': UserMessage
  'assistant/message': StepRef & {
    readonly message: AssistantMessage
    /** The provider stream that built the message; empty where it is not known. */
    readonly stream: readonly AssistantStreamRecord[]
    readonly usage?: TokenUsage
    readonly interrupted?: true
    /** The `request/start` this message answers. */
    readonly requestSeq?: SessionSeq
  }
  'assistant/attempt': StepRef & {
    readonly stream: readonly AssistantStreamRecord[]
    readonly failure?: Json
    readonly requestSeq?: SessionSeq
  }
  'tool/call': StepRef & {
    readonly callId: ToolCallId
    readonly name: string
    /** The raw JSON text that the model wrote. */
    readonly arguments: string
  }
  'tool/result': StepRef & { readonly message: ToolResultMessage; readonly error?: ToolError; readonly meta?: Json }
  'request/header': {
    readonly header: RequestHeader
    readonly reason: 'initial' | 'resume' | 'change' | 'series'
  }
  'request/context': {
    readonly provider: string
    readonly model: string
    /** Tokens. */
    readonly contextWindow?: number
  }
  'request/start': StepRef & {
    /** Counts from 1 within the step. */
    readonly attempt: number
    /** The request is the header in force plus the messages derived at this seq. */
    readonly throughSeq: SessionSeq
  }
  'session/end-seed': { readonly inherited?: true }
  'tool/progress': StepRef & { readonly callId: ToolCallId; readonly content: readonly ResultContentBlock[] }
  'tool/late-result': StepRef & { readonly callId: ToolCallId; readonly content: readonly ResultContentBlock[] }
}

export type SessionEventType = keyof SessionEventMap
/** The types that produce model messages. Every other type is log-only. SPEC 1. */
export type SurfaceEventType = 'system/message' | 'user/message' | 'assistant/message' | 'tool/result'
export type LogOnlyEventType = Exclude<SessionEventType, SurfaceEventType>

type Placement<Type extends SessionEventType> = Type extends 'assistant/message'
  ? { readonly surfaceOp: 'append'; readonly sourceEventSeqs?: never }
  : Type extends SurfaceEventType
    ? { readonly surfaceOp: SurfaceOp; readonly sourceEventSeqs?: readonly SessionSeq[] }
    : { readonly surfaceOp?: never; readonly sourceEventSeqs?: never }

/** An event of one type, or of a union of types. */
export type EventOf<Type extends SessionEventType> = {
  [T in Type]: {
    readonly type: T
    readonly seq: SessionSeq
    readonly time: number
    readonly data: SessionEventMap[T]
    readonly ignorable?: true
  } & Placement<T>
}[Type]

/**
 * One accepted event: deeply frozen, discriminated by `type`. Events of unknown type that a log keeps opaque reach
 * the `default` branch of a `switch`. SPEC 2.1.
 */
export type SessionEvent = EventOf<SessionEventType>
export type SurfaceEvent = EventOf<SurfaceEventType>

/** What `Session.append` asks for beside type and data. */
export type IntentOf<Type extends SessionEventType> = Type extends 'assistant/message'
  ? AssistantIntent
  : Type extends SurfaceEventType
    ? SurfaceIntent
    : LogIntent

/** Whether events of this type stand on the surface. */
export function isSurfaceType(type: string): type is SurfaceEventType {
  return type === 'user/message' || type === 'assistant/message' || type === 'tool/result' || type === 'system/message'
}
