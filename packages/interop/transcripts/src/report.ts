/** Something a person should know about the import; `line` is 0 where it concerns no single line. */
export interface ImportWarning {
  readonly line: number
  readonly code: string
  readonly message: string
}

/** A line that is in the log as `import/raw` only, and why. */
export interface UnmappedLine {
  readonly line: number
  readonly reason: string
  /** The source's own type of the line, such as `attachment/file`. */
  readonly type?: string
}

/** What an import did. SPEC 8. */
export interface ImportReport {
  /** File name, never a path. */
  readonly source: string
  readonly sessionId: string
  readonly events: number
  /** Messages derived from the imported log. */
  readonly messages: number
  /** Tool calls in the log, those included that a compaction took off the surface. */
  readonly calls: number
  /** Calls of those that the source itself answers; closers that the importer wrote do not count. */
  readonly answered: number
  /** Where the lines went. A line may be mapped in part and kept raw too. Blank lines are only counted. */
  readonly lines: { readonly total: number; readonly mapped: number; readonly raw: number; readonly blank: number }
  readonly warnings: readonly ImportWarning[]
  readonly unmapped: readonly UnmappedLine[]
  /** Members of mapped lines that have no place in a session log, with how many lines had them. */
  readonly leftOut: Readonly<Record<string, number>>
  /** The lines that had such members, ascending. Counts from 1. */
  readonly leftOutLines: readonly number[]
}
