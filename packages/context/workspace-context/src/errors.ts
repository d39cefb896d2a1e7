/**
 * Why a workspace context cannot be made. Files never throw: what cannot be read is told to the model.
 *
 * | code | meaning | way out |
 * |---|---|---|
 * | `options/invalid` | a file name is a path, a byte count is no whole number, a path is not absolute | correct the option |
 * | `options/outside-root` | `cwd` does not lie in `root` | give a root above it, or none |
 */
export type WorkspaceContextErrorCode = 'options/invalid' | 'options/outside-root'

/** The one error of this package. Switch on `code`; the message is for people. */
export class WorkspaceContextError extends Error {
  override readonly name = 'WorkspaceContextError'
  readonly code: WorkspaceContextErrorCode

  constructor(code: WorkspaceContextErrorCode, message: string) {
    super(message)
    this.code = code
  }
}
