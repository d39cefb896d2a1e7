import type { AttachmentRef, SessionEvent, SessionHeader, SessionId, StoredSession } from '@palimpsest/session'

/**
 * `degraded`: the last write failed and may succeed later. `poisoned`: nothing more is written; open the session
 * again.
 */
export type HandleStatus = 'ok' | 'degraded' | 'poisoned' | 'closed'

/**
 * What opening found beside good records. SPEC 5.2.
 * `torn`: the unfinished end of the log. `newline`: a whole last record that lacked its newline. `negative-zero`: a
 * record holding `-0`, read as 0. Harmless noise, skipped: `nul` (NUL bytes), `stub` (an unfinished record before a
 * whole one, or on a line of its own), `blank` (an empty line), `repeat` (a record that had been read before, byte for
 * byte).
 */
export type RecoveryKind = 'torn' | 'newline' | 'nul' | 'stub' | 'blank' | 'repeat' | 'negative-zero'

export interface RecoveredRange {
  readonly kind: RecoveryKind
  /** Bytes of the log as it was: `start` inclusive, `end` exclusive. */
  readonly start: number
  readonly end: number
  /** The record's seq, where there is one. */
  readonly seq?: number
  /** Where a write open put torn bytes, relative to the session's own directory. */
  readonly movedTo?: string
}

/** What opening a session found and did. Empty for a log that was closed in good order. */
export interface RecoveryReport {
  /** In log order. */
  readonly ranges: readonly RecoveredRange[]
  /** Seqs of the closers that a write open appended. SPEC 4. */
  readonly closers: readonly number[]
}

export interface OpenedSession extends StoredSession {
  readonly recovered: RecoveryReport
  /** The closers that a write open would append; empty while a writer holds the session, and on write opens. */
  readonly pendingClosers: readonly SessionEvent[]
}

/** What a listing knows of a session without reading its log through. SPEC 2.6. */
export interface SessionStat {
  readonly header: SessionHeader
  readonly eventCount: number
  readonly byteLength: number
  /** Time of the last event, of the session's creation without one. Unix epoch, milliseconds. */
  readonly updatedAt: number
  /** Equal for equal logs; differs after every change. */
  readonly revision: string
  /** Begin of the first text that the user wrote: one line, at most 200 characters. */
  readonly firstPrompt?: string
}

/** Which sessions to list; all of them without a member. */
export interface SessionQuery {
  /** Only sessions of this working directory. */
  readonly cwd?: string
  /** Only direct children of this session. */
  readonly parentSession?: SessionId
}

export type AttachmentMeta = Omit<AttachmentRef, 'attachmentId' | 'bytes'>

/** Bytes that events cite, by content. SPEC 2.4. */
export interface AttachmentStore {
  /** Resolves when the bytes are durable. Equal bytes are stored once. */
  put(bytes: Uint8Array, meta: AttachmentMeta): Promise<AttachmentRef>
  /** The bytes; undefined where they are missing or no longer what the reference says. */
  get(ref: AttachmentRef): Promise<Uint8Array | undefined>
  has(ref: AttachmentRef): Promise<boolean>
}

/**
 * One open session. Every method throws `PersistenceError`; a read handle refuses `append` with `handle/read-only`.
 * SPEC 5.1.
 */
export interface SessionHandle extends AsyncDisposable {
  readonly header: SessionHeader
  /** The session as it was when the handle was opened, closers of a write open included. */
  readonly stored: OpenedSession
  readonly status: HandleStatus
  /** The seq that the next append must start at: all before it is stored or waits in the queue. */
  readonly nextSeq: number
  /**
   * Appends a batch and resolves when it is durable. Calls queue in call order and are committed in groups; the seq is
   * checked at once. A rejected call wrote nothing that counts, and neither did the calls behind it: append again from
   * `nextSeq`. Throws `SessionConflictError`, `event/invalid`, `io/write`, `handle/closed`, `handle/poisoned`.
   */
  append(events: readonly SessionEvent[]): Promise<void>
  /** Resolves when every append so far is durable; makes a session without events durable. */
  flush(): Promise<void>
  /** Waits for what is queued, then lets go of the session. Closing twice is closing once. */
  close(): Promise<void>
}

/** A store of sessions. SPEC 5.1. */
export interface SessionPersistence {
  /**
   * Claims a new session; nothing is durable until the first append or flush. Throws `session/exists`,
   * `SessionLockedError`.
   */
  create(header: SessionHeader): Promise<SessionHandle>
  /**
   * Opens a session. A write open takes the claim, mends what a crash left and appends the closers of SPEC 4; a read
   * open changes nothing. Throws `session/not-found`, `SessionLockedError`, `SessionCorruptionError`,
   * `header/newer-version`, `header/invalid`, `lock/unsupported`.
   */
  open(id: SessionId, mode: 'read' | 'write'): Promise<SessionHandle>
  /** Undefined where nothing is stored. */
  stat(id: SessionId): Promise<SessionStat | undefined>
  /** Newest first. Sessions whose head cannot be read are left out. */
  list(query?: SessionQuery): AsyncIterable<SessionStat>
  /** The attachments of a stored session, or of one that was created here and not closed. */
  attachments(id: SessionId): AttachmentStore
  /**
   * Removes a session, its attachments and all that recovery kept. Throws `session/not-found`, `SessionLockedError`.
   */
  delete(id: SessionId): Promise<void>
  /** Closes every handle; waits for what they still write. */
  close(): Promise<void>
}
