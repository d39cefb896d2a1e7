import { type TurnEndReason, redact, toJson } from '@palimpsest/session'
import type { AgentLoopErrorCode } from './errors.ts'
import type { TurnFailure } from './hooks.ts'

/** Unwinds a turn to its `turn/end`; every layer on the way closes what it opened. Never leaves the package. */
export class TurnStop extends Error {
  override readonly name: string = 'TurnStop'
  readonly reason: TurnEndReason

  constructor(reason: TurnEndReason, cause?: unknown) {
    super(reason.kind, { cause })
    this.reason = reason
  }
}

/** The message goes into the log: what is private in it is left out. */
export function failTurn(code: AgentLoopErrorCode, message: string, cause?: unknown): TurnStop {
  return stopOf({ code, message: redact(message) }, cause)
}

export function stopOf(failure: TurnFailure, cause?: unknown): TurnStop {
  return new TurnStop({ kind: 'error', failure: toJson(failure) }, cause)
}
