/** Every code of this package; `AgentLoopError` carries one, and so does the `failure` of a turn that ended in error. */
export type AgentLoopErrorCode =
  /** An option is missing or out of range. */
  | 'options/invalid'
  /** Two tools have one name, a tool's schema is none of an object, or its `timeoutMs` is out of range. */
  | 'tools/invalid'
  /** The loop was closed. */
  | 'loop/closed'
  /** A turn needed more steps than `maxSteps`. */
  | 'loop/max-steps'
  /** The session has open calls, an open step or an open turn: append `interruptedTurnClosers` first. */
  | 'loop/unrepaired'
  /** The request is larger than the model's context. */
  | 'request/overflow'
  /** The provider refused the request, or went on failing. */
  | 'request/failed'
  /** The answer ended before it was whole. */
  | 'request/incomplete'
  /** What must be durable before the next effect could not be written. */
  | 'flush/failed'
  /** A hook threw. */
  | 'hook/failed'

/** An error of the agent loop; `code` is stable, the message is for people. */
export class AgentLoopError extends Error {
  override readonly name: string = 'AgentLoopError'
  readonly code: AgentLoopErrorCode

  constructor(code: AgentLoopErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}
