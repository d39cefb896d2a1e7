import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { importClaudeCode } from './claude-code/import.ts'
import type { ImportOptions, ImportedSession, TranscriptSource } from './source.ts'
import { detectTranscript } from './detect.ts'
import { TranscriptError } from './errors.ts'
import { lineText, readLines } from './lines.ts'

/** A file on disk as a source. Opened for reading only; errors of the file system come through as they are. */
export function fileSource(path: string): TranscriptSource {
  return { name: basename(path), bytes: () => createReadStream(path, { highWaterMark: 1 << 20 }) }
}

/** Lines that are looked at before a format is given up. */
const linesToDetect = 200

/**
 * Imports a session file of any agent we know. Throws `TranscriptError` `format/unknown` or `format/unsupported`
 * before anything is imported, and what the importer of the format throws.
 */
export async function* importTranscript(
  source: TranscriptSource,
  options: ImportOptions,
): AsyncGenerator<ImportedSession> {
  const first: string[] = []
  for await (const { line, bytes } of readLines(source.bytes())) {
    first.push(lineText(bytes) ?? '')
    if (line >= linesToDetect || detectTranscript(first.slice(-1)) !== undefined) break
  }
  const detected = detectTranscript(first)
  if (detected === undefined) {
    throw new TranscriptError(
      'format/unknown',
      `${source.name} is no session file that we know: expected JSON lines of a coding agent`,
    )
  }
  if (detected.format === 'palimpsest') {
    throw new TranscriptError(
      'format/unsupported',
      `${source.name} is a session of ours already: open it, do not import it`,
    )
  }
  if (!detected.isSupported) {
    throw new TranscriptError(
      'format/unsupported',
      `${source.name} is a ${detected.format} session, which is not supported yet`,
    )
  }
  yield* importClaudeCode(source, options)
}
