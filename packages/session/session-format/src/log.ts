import type { Json, JsonObject } from '@palimpsest/session'

/** Versions of the format that are read. Those up to 3 without `format` in their header are of deepseek-harness. SPEC 6. */
export type FormatVersion = 0 | 1 | 2 | 3

/** A header as a version wrote it, without its `type`. */
export interface FormatHeader extends JsonObject {
  readonly version: FormatVersion
  readonly id: string
  /** Unix epoch, integer milliseconds. */
  readonly createdAt: number
}

/** One event as a version wrote it: one per seq, packed rows expanded, ranges of cited seqs too. */
export interface FormatEvent {
  readonly type: string
  readonly seq: number
  /** Unix epoch, integer milliseconds. */
  readonly time: number
  readonly data: JsonObject
  /** As it stands in the source: `start` and `end` up to 2, `startSeq` and `endSeq` from 3 on. */
  readonly surfaceOp?: Json
  readonly sourceEventSeqs?: readonly number[]
  readonly ignorable?: true
  /** Line of the source that it stands in, from 1. Not part of the event. */
  readonly line: number
}

/** A log of one version, read as a stream, its events in seq order from 0 without gaps. */
export interface FormatLog {
  readonly header: FormatHeader
  readonly events: AsyncIterable<FormatEvent>
}

/**
 * Something that a person should know about a log that was read, though it kept nothing from being read.
 *
 * - `tail/torn`: bytes behind the last whole row, cut off in the middle of a write.
 * - `line/blank`: an empty line, or the first of several.
 * - `number/negative-zero`: a `-0`, which was read as 0.
 * - `placeholder/left-out`: a member of a recorded fixture whose value is a placeholder of another kind.
 * - `placeholder/time`: rows of a recorded fixture have no time and took that of the header.
 * - `seed/marker`: the cut of the inherited history is from the header; the log itself had no marker there.
 * - `header/empty`: a request header's `tools` or `adapterDefaults` were empty and were left out.
 * - `vocabulary/unknown`: an event of a log of ours has a type that nobody here knows; it was kept as it is.
 */
export interface FormatNote {
  readonly code: string
  /** Line of the source, from 1. */
  readonly line?: number
  /** The last of several lines that the note is about. */
  readonly lastLine?: number
  readonly message: string
}

/** Where notes go, as they come up. */
export type TakeNote = (note: FormatNote) => void

/** How a source is read. */
export interface ReadOptions {
  /** Leave to read a recorded fixture: placeholders, and rows without `seq` and `time`. */
  readonly normalised?: boolean
  readonly note?: TakeNote
}

/** What an edge is told beside the log. */
export interface EdgeContext {
  readonly packs: readonly VocabularyPack[]
  readonly note: TakeNote
}

/** One step from a version to the next: frozen once released, strict, streaming. SPEC 6. */
export interface FormatEdge {
  readonly from: FormatVersion
  readonly to: FormatVersion
  /** Throws `SessionFormatUnsupportedMigration`, at once or while the events are read. The given log is not changed. */
  migrate(log: FormatLog, context: EdgeContext): FormatLog
}

/** Members of a payload that are seqs of its own log, or lists of them; nested where they stand deeper. */
export interface SeqMembers {
  readonly [member: string]: 'cited' | SeqMembers
}

/** Event types of a program beside the core's: log-only, declared by name, audited for the seqs that they carry. SPEC 6. */
export interface VocabularyPack {
  /** The program, such as `deepseek-harness`. */
  readonly name: string
  /** By event type, the members of its payload that are seqs. A renamed type needs one entry, under either name. */
  readonly types: Readonly<Record<string, SeqMembers>>
  /** Types that take another name when they come to a version; no other version than 3 renamed any. */
  readonly renamed?: Readonly<Record<string, { readonly at: 3; readonly to: string }>>
}
