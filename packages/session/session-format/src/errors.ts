import type { FormatEvent } from './log.ts'

/**
 * What keeps a log of another version from being read.
 *
 * - `format/not-a-log`: the first line is no header of any version.
 * - `format/newer-version`: written by a newer version: upgrade.
 * - `format/ours`: a log of this library: open it, there is nothing to migrate.
 * - `format/row`: a line is no row of its version; `line` says which.
 * - `format/seq`: seqs are missing, repeated or out of order.
 * - `format/normalised`: a recorded fixture, with placeholders or without `seq` and `time`, without leave to read one.
 * - `format/unsupported`: an edge cannot prove what the event would mean: see `SessionFormatUnsupportedMigration`.
 * - `format/exists`: a successor is there already.
 * - `format/refused`: the migrated log breaks a rule of acceptance; `cause` is the `SessionAcceptanceError`.
 * - `source/changed`: the source was written to while it was read.
 */
export type SessionFormatErrorCode =
  | 'format/not-a-log'
  | 'format/newer-version'
  | 'format/ours'
  | 'format/row'
  | 'format/seq'
  | 'format/normalised'
  | 'format/unsupported'
  | 'format/exists'
  | 'format/refused'
  | 'source/changed'

export interface SessionFormatErrorPlace {
  /** Line of the source, from 1. */
  readonly line?: number
  /** Seq in the source's own numbering. */
  readonly seq?: number
  readonly eventType?: string
  readonly cause?: unknown
}

/** The error of this package; the message names the place and the way out. SPEC 6. */
export class SessionFormatError extends Error {
  override readonly name: string = 'SessionFormatError'
  readonly code: SessionFormatErrorCode
  readonly line: number | undefined
  readonly seq: number | undefined
  readonly eventType: string | undefined

  constructor(
    code: SessionFormatErrorCode,
    message: string,
    { line, seq, eventType, cause }: SessionFormatErrorPlace = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.line = line
    this.seq = seq
    this.eventType = eventType
  }
}

/** An event that an edge cannot convert with proof: it is named, and nothing is repaired or left out. SPEC 6. */
export class SessionFormatUnsupportedMigration extends SessionFormatError {
  override readonly name = 'SessionFormatUnsupportedMigration'
  /** The version that the event is of. */
  readonly from: number

  constructor(from: number, message: string, place: SessionFormatErrorPlace = {}) {
    super('format/unsupported', message, place)
    this.from = from
  }
}

/** The refusal of one event; `why` goes on after its seq and type. */
export function unsupported(from: number, event: FormatEvent, why: string): SessionFormatUnsupportedMigration {
  const { seq, type, line } = event
  return new SessionFormatUnsupportedMigration(from, `line ${line}: event ${seq} (${type}) ${why}`, {
    line,
    seq,
    eventType: type,
  })
}
