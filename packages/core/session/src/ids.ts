declare const brand: unique symbol
type Brand<Base, Name extends string> = Base & { readonly [brand]: Name }

/** Position of an event in its session's log: a non-negative safe integer, never `-0`. SPEC 2.1. */
export type SessionSeq = Brand<number, 'SessionSeq'>
/** Names a session. Any non-empty string; untrusted where it reaches a file system. SPEC 2.1. */
export type SessionId = Brand<string, 'SessionId'>
/** Names a message through delivery, log and request. Non-empty and opaque: never compare two ids for order. SPEC 2.4. */
export type MessageId = Brand<string, 'MessageId'>
/** Names a tool call while it is open; may come back once it was answered. Non-empty. SPEC 2.4. */
export type ToolCallId = Brand<string, 'ToolCallId'>

/** Whether `value` is a seq: a non-negative safe integer, not `-0`. */
export function isSessionSeq(value: unknown): value is SessionSeq {
  return Number.isSafeInteger(value) && (value as number) >= 0 && !Object.is(value, -0)
}

/** Brands a number as a seq. Throws `RangeError` when it is none. */
export function sessionSeq(value: number): SessionSeq {
  if (!isSessionSeq(value)) throw new RangeError(`${String(value)} is not a seq: expected a non-negative safe integer`)
  return value
}

function nonEmpty(value: string, what: string): string {
  if (typeof value !== 'string' || value === '') throw new TypeError(`a ${what} is a non-empty string`)
  return value
}

/** Brands a string as a session id. Throws `TypeError` when it is empty. */
export function sessionId(value: string): SessionId {
  return nonEmpty(value, 'session id') as SessionId
}

/** Brands a string as a message id. Throws `TypeError` when it is empty. */
export function messageId(value: string): MessageId {
  return nonEmpty(value, 'message id') as MessageId
}

/** Brands a string as a tool call id. Throws `TypeError` when it is empty. */
export function toolCallId(value: string): ToolCallId {
  return nonEmpty(value, 'tool call id') as ToolCallId
}
