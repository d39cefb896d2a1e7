import type { AcceptanceCode, Session } from '@palimpsest/session'
import { at } from '../sessions.ts'

/** One rule of SPEC 3.1, tried on a fresh `talk()`. */
export interface Case {
  readonly code: AcceptanceCode
  readonly rule: string
  /** The seq that the candidate would have had; the length of `talk()` unless told. */
  readonly seq?: number
  readonly refused: (session: Session) => unknown
  /** The nearest valid neighbour. */
  readonly accepted: (session: Session) => unknown
}

/** The seq of the next event after `talk()`. */
export const next: number = at.done + 1
