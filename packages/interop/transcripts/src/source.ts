import type { SessionId, StoredSession } from '@palimpsest/session'
import type { AttachmentStore } from '@palimpsest/session-persistence'
import type { ImportReport } from './report.ts'

/** A file of another agent. It may be read more than once and is never written. */
export interface TranscriptSource {
  /** File name, never a path. */
  readonly name: string
  /** The bytes from the start, afresh on each call. */
  bytes(): AsyncIterable<Uint8Array>
}

/** Where the bytes of images and documents go: durable before the event that cites them. */
export type AttachmentSink = Pick<AttachmentStore, 'put'>

export interface ImportOptions {
  /** Where the images and documents of a session go. `put` is awaited before any event cites the bytes. */
  readonly attachments: (session: SessionId) => AttachmentSink
  /** Leave to read recorded fixtures of deepseek-harness, with placeholders and without `seq` and `time`. SPEC 6. */
  readonly normalised?: boolean
}

export interface ImportedSession {
  readonly session: StoredSession
  readonly report: ImportReport
}

/** The name of a source without any directory that a caller left in it. */
export function sourceName({ name }: TranscriptSource): string {
  return name.replace(/^.*[/\\]/, '')
}
