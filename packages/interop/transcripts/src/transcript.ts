import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { importClaudeCode } from './claude-code/import.ts'
import { importCodex } from './codex/import.ts'
import { importDeepSeekHarness } from './deepseek-harness/import.ts'
import { detectTranscript, detectValue } from './detect.ts'
import type { DetectedTranscript, TranscriptFormat } from './detect.ts'
import { TranscriptError } from './errors.ts'
import { lineText, parseLine, readLines } from './lines.ts'
import { importMessages } from './messages/import.ts'
import { importPi } from './pi/import.ts'
import { readWhole } from './source.ts'
import type { ImportOptions, ImportedSession, TranscriptSource } from './source.ts'

/** A file on disk as a source. Opened for reading only; errors of the file system come through as they are. */
export function fileSource(path: string): TranscriptSource {
  return { name: basename(path), bytes: () => createReadStream(path, { highWaterMark: 1 << 20 }) }
}

type Importer = (source: TranscriptSource, options: ImportOptions) => AsyncIterable<ImportedSession>

const importers: { readonly [Format in TranscriptFormat]?: Importer } = {
  'claude-code': importClaudeCode,
  codex: importCodex,
  'deepseek-harness': importDeepSeekHarness,
  messages: importMessages,
  pi: importPi,
}

/** Lines that are looked at before a format is given up. */
const linesToDetect = 200

/**
 * Imports a session file of any agent we know, told by what stands in it and not by its name. Throws `TranscriptError`
 * `format/unknown` or `format/unsupported` before anything is imported, and what the importer of the format throws.
 */
export async function* importTranscript(
  source: TranscriptSource,
  options: ImportOptions,
): AsyncGenerator<ImportedSession> {
  const detected = (await detectLines(source)) ?? (await detectWhole(source))
  if (detected === undefined) {
    throw new TranscriptError(
      'format/unknown',
      `${source.name} is no session file that we know: expected JSON lines of a coding agent, or JSON with messages`,
    )
  }
  if (detected.format === 'palimpsest') {
    throw new TranscriptError(
      'format/unsupported',
      `${source.name} is a session of ours already: open it, do not import it`,
    )
  }
  const importer = importers[detected.format]
  if (importer === undefined) {
    throw new TranscriptError(
      'format/unsupported',
      `${source.name} is a ${detected.format} session, which is not supported yet`,
    )
  }
  yield* importer(source, options)
}

async function detectLines(source: TranscriptSource): Promise<DetectedTranscript | undefined> {
  for await (const { line, bytes } of readLines(source.bytes())) {
    const detected = detectTranscript([lineText(bytes) ?? ''])
    if (detected !== undefined) return detected
    if (line >= linesToDetect) break
  }
  return undefined
}

/** JSON that is laid out over many lines says nothing by the line. */
async function detectWhole(source: TranscriptSource): Promise<DetectedTranscript | undefined> {
  const text = lineText(await readWhole(source)) ?? ''
  return /^\uFEFF?\s*[[{]/.test(text.slice(0, 1000)) ? detectValue(parseLine(text)) : undefined
}
