/** `options/invalid`: a budget is no non-negative integer, or a low mark lies above its high mark. */
export type ToolResultPrunerErrorCode = 'options/invalid'

export class ToolResultPrunerError extends Error {
  override readonly name = 'ToolResultPrunerError'
  readonly code: ToolResultPrunerErrorCode

  constructor(code: ToolResultPrunerErrorCode, message: string) {
    super(message)
    this.code = code
  }
}
