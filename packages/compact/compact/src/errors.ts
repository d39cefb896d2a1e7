/** Every code of this package. */
export type CompactionErrorCode =
  /** An end of the range is not on the surface now. */
  | 'range/not-on-surface'
  /** The first entry of the range stands after the last one. */
  | 'range/reversed'
  /** The range covers the system prompt. */
  | 'range/head'
  /** The range cuts a call from its result. */
  | 'range/unbalanced'
  /** The session does not know the `compaction/*` events. */
  | 'vocabulary/missing'
  /** The id or seq names no compaction that replaced anything. */
  | 'undo/unknown'
  /** A later event cites or covers something that the undo would leave out. */
  | 'undo/cited'
  /** A later event of a type that this package does not know seems to name seqs, which nobody could remap. */
  | 'undo/opaque'

/** A refusal; nothing was written. `code` is stable, the message is for people. */
export class CompactionError extends Error {
  override readonly name: string = 'CompactionError'
  readonly code: CompactionErrorCode

  constructor(code: CompactionErrorCode, message: string) {
    super(`${code}: ${message}`)
    this.code = code
  }
}
