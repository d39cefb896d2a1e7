/**
 * What went wrong with a whole source. Faults of single lines never throw: they are in the report.
 *
 * - `format/unknown`: no line of the file looks like a session of an agent we know.
 * - `format/unsupported`: the format is known, its importer is not there yet.
 * - `source/too-large`: a file that has to be read as a whole is larger than that is possible for.
 */
export type TranscriptErrorCode = 'format/unknown' | 'format/unsupported' | 'source/too-large'

/** The error of this package; `code` says what to do about it. */
export class TranscriptError extends Error {
  override readonly name = 'TranscriptError'
  readonly code: TranscriptErrorCode

  constructor(code: TranscriptErrorCode, message: string) {
    super(message)
    this.code = code
  }
}
