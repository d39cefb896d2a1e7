import type { PinnedEntry } from '@palimpsest/compact'

/** Every code of this package. */
export type CompactBasicErrorCode =
  /** An option is missing or out of range, or the session does not know the compaction events. */
  | 'options/invalid'
  /** Compaction does not get the session below its budget. `largest` names what stands in the way. */
  | 'no-progress'
  /** The model refused to write a summary, or its answer broke off. */
  | 'summary/failed'

/** An error of this package; `code` is stable, the message is for people. */
export class CompactBasicError extends Error {
  override readonly name: string = 'CompactBasicError'
  readonly code: CompactBasicErrorCode
  /** Entries that compaction cannot remove, largest first; empty unless the code is `no-progress`. */
  readonly largest: readonly PinnedEntry[]

  constructor(
    code: CompactBasicErrorCode,
    message: string,
    { largest = [], ...options }: { readonly cause?: unknown; readonly largest?: readonly PinnedEntry[] } = {},
  ) {
    super(message, options)
    this.code = code
    this.largest = largest
  }
}
