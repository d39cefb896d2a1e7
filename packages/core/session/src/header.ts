import type { SessionEvent } from './events.ts'
import type { SessionId } from './ids.ts'

/** Version of the log format that this package writes. SPEC 6. */
export const SESSION_FORMAT_VERSION = 3

/** Identity and lineage of a session: immutable, outside the log. Unknown members survive a round trip. SPEC 2.6. */
export interface SessionHeader {
  readonly format: 'palimpsest'
  readonly version: typeof SESSION_FORMAT_VERSION
  readonly id: SessionId
  /** Unix epoch, integer milliseconds. */
  readonly createdAt: number
  /** Absolute path. */
  readonly cwd?: string
  readonly parentSession?: SessionId
  /** Whether the log begins with inherited history; the cut is its last inherited `session/end-seed`. */
  readonly isSeeded: boolean
  readonly origin?: 'subagent'
  /** 0 for a session that no agent delegated. */
  readonly delegationDepth: number
  readonly agentPreset?: string
  /** What an importer read; `source` is a file name, never an absolute path. */
  readonly importedFrom?: { readonly agent: string; readonly source: string }
}

/** A session at rest. SPEC 2.6. */
export interface StoredSession {
  readonly header: SessionHeader
  readonly events: readonly SessionEvent[]
  /** Events before the last inherited `session/end-seed`; 0 without one. */
  readonly inheritedEventCount: number
}
