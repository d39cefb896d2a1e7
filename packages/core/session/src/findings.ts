import type { SessionSeq } from './ids.ts'

/** Something about a session that a person should know. SPEC 2.6. */
export interface Finding {
  /** Stable, `area/name`. */
  readonly code: string
  readonly severity: 'error' | 'warning' | 'info'
  readonly seq?: SessionSeq
  readonly message: string
  /** The command or the change that mends it. */
  readonly fix?: string
}
