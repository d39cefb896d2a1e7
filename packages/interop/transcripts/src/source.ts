import type { SessionId, StoredSession } from '@palimpsest/session'
import type { AttachmentStore } from '@palimpsest/session-persistence'
import { TranscriptError } from './errors.ts'
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

/** Bytes of a file that is read as a whole. */
const maxBytes = 256 * 1024 * 1024

/** All bytes of a source. Throws `TranscriptError` `source/too-large` above 256 MB. */
export async function readWhole(source: TranscriptSource): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of source.bytes()) {
    length += piece.length
    if (length > maxBytes) {
      throw new TranscriptError('source/too-large', `${sourceName(source)} is over ${maxBytes} bytes: split it up`)
    }
    // A reader may reuse its buffer for the next piece.
    pieces.push(piece.slice())
  }
  return Buffer.concat(pieces)
}
