import type { SessionId } from '@palimpsest/session'

/** Every code of this package and of the backends that implement its contract. */
export type PersistenceErrorCode =
  /** No session of this id is stored. */
  | 'session/not-found'
  /** A session of this id is stored already. */
  | 'session/exists'
  /** `SessionConflictError`: the events do not continue the log, or somebody else changed the log. */
  | 'session/conflict'
  /** `SessionLockedError`: another writer holds the session. */
  | 'session/locked'
  /** `SessionCorruptionError`: an event is missing, or is there twice with different content. */
  | 'session/corrupt'
  /** The header is none of ours. */
  | 'header/invalid'
  /** The log was written by a newer version: upgrade. */
  | 'header/newer-version'
  /** An event cannot be stored: its envelope is invalid, or it is not JSON. */
  | 'event/invalid'
  /** An attachment's reference is malformed, or does not describe the bytes. */
  | 'attachment/invalid'
  /** The handle was closed. */
  | 'handle/closed'
  /** The handle can no longer tell what is stored; open the session again. `cause` says why. */
  | 'handle/poisoned'
  /** A read handle was asked to write. */
  | 'handle/read-only'
  /** No kernel lock can be had here. */
  | 'lock/unsupported'
  /** Too much waits to be written; nothing was appended. */
  | 'persistence/backpressure'
  /** The store was closed. */
  | 'persistence/closed'
  /** A path would leave the root; no file was touched. */
  | 'path/outside-root'
  /** Something below the root is a symbolic link, or no directory where one belongs. */
  | 'path/unsafe'
  /** The disk or the server refused to read; `cause` is its error. */
  | 'io/read'
  /** The disk or the server refused to write; `cause` is its error. */
  | 'io/write'

/** An error of a session store; `code` is stable, the message is for people and holds no absolute path. */
export class PersistenceError extends Error {
  override readonly name: string = 'PersistenceError'
  readonly code: PersistenceErrorCode

  constructor(code: PersistenceErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}

/**
 * The events do not start at the stored next seq, or the log is no longer what this writer left. Nothing was written.
 * SPEC 5.1, 5.2.
 */
export class SessionConflictError extends PersistenceError {
  override readonly name: string = 'SessionConflictError'

  constructor(message: string, options?: { readonly cause?: unknown }) {
    super('session/conflict', message, options)
  }
}

/** Another writer holds the session. SPEC 5.1. */
export class SessionLockedError extends PersistenceError {
  override readonly name: string = 'SessionLockedError'
  /** Process id of the holder, where known. */
  readonly pid: number | undefined
  /** Host of the holder, where known. */
  readonly host: string | undefined

  constructor(id: SessionId, holder: { readonly pid?: number | undefined; readonly host?: string | undefined } = {}) {
    const who =
      holder.pid === undefined ? 'another writer' : `process ${holder.pid} on ${holder.host ?? 'an unknown host'}`
    super('session/locked', `session ${JSON.stringify(id)} is held by ${who}: close it there, or open it to read`)
    this.pid = holder.pid
    this.host = holder.host
  }
}

/** Where a log is corrupt. */
export interface CorruptionPlace {
  /** Of the log, relative to the store's root. */
  readonly path: string
  /** Bytes: `start` inclusive, `end` exclusive. */
  readonly start: number
  readonly end: number
  /** Counts from 1; the header is line 1. */
  readonly line: number
  /** The seq that is missing or twice; absent when the header is what cannot be read. */
  readonly seq?: number
}

/** A seq is missing, or exists twice with different content. Nothing was changed. SPEC 5.2. */
export class SessionCorruptionError extends PersistenceError {
  override readonly name: string = 'SessionCorruptionError'
  readonly path: string
  readonly start: number
  readonly end: number
  readonly line: number
  readonly seq: number | undefined

  constructor(what: string, place: CorruptionPlace, options?: { readonly cause?: unknown }) {
    super(
      'session/corrupt',
      `${place.path}, line ${place.line}, bytes ${place.start} to ${place.end}: ${what}; nothing was changed, \`palimpsest salvage\` makes a new session from what is readable`,
      options,
    )
    this.path = place.path
    this.start = place.start
    this.end = place.end
    this.line = place.line
    this.seq = place.seq
  }
}
