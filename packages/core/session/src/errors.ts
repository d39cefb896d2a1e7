import type { AcceptanceCode } from './acceptance-codes.ts'

/** Every code of this package. `SessionAcceptanceError` carries the acceptance codes, `SessionError` the others. */
export type SessionErrorCode =
  | AcceptanceCode
  /** A session header lacks a member or has one of the wrong kind. */
  | 'header/invalid'
  /** The log was written by a newer version of the format. */
  | 'header/newer-version'
  /** Two vocabularies define one type, or a vocabulary lacks the core types. */
  | 'vocabulary/conflict'
  /** `toJson` met a value that JSON cannot hold. */
  | 'json/lossy'
  /** An assistant stream is not what `StreamAccumulator` writes. */
  | 'stream/invalid'
  /** The boundary of a fork is not an event of its source. */
  | 'fork/boundary'
  /** The boundary of a fork lies inside a turn and the caller refuses that. */
  | 'fork/open-turn'
  /** A store already holds a session of this id. */
  | 'store/duplicate'
  /** A store does not hold the session. */
  | 'store/unknown'
  /** No recorded request stands behind the event. */
  | 'request/unrecorded'
  /** The event is a copy; its request is in the log that it was copied from. */
  | 'request/copied'

/** An error of the session kernel; `code` is stable, the message is for people. */
export class SessionError extends Error {
  override readonly name: string = 'SessionError'
  readonly code: SessionErrorCode

  constructor(code: SessionErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}

/** A candidate event was refused, and nothing changed. SPEC 3.1. */
export class SessionAcceptanceError extends SessionError {
  override readonly name: string = 'SessionAcceptanceError'
  override readonly code: AcceptanceCode
  /** The seq that the candidate would have had. */
  readonly seq: number
  readonly eventType: string

  constructor(code: AcceptanceCode, seq: number, eventType: string, message: string) {
    super(code, `${code}: event ${seq} (${eventType}): ${message}`)
    this.code = code
    this.seq = seq
    this.eventType = eventType
  }
}

/** Refuses a candidate event. Every rule ends here, so that a refusal always has a code and a place. */
export function refuse(
  event: { readonly seq: number; readonly type: string },
  code: AcceptanceCode,
  message: string,
): never {
  throw new SessionAcceptanceError(code, event.seq, event.type, message)
}
