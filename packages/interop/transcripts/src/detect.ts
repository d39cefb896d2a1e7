import { isObject } from './json.ts'
import type { LooseObject } from './json.ts'
import { parseLine } from './lines.ts'

/** A format of session files that we can tell from others. */
export type TranscriptFormat =
  | 'claude-code'
  | 'codex'
  | 'pi'
  | 'deepseek-harness'
  | 'gemini'
  | 'openhands'
  | 'opencode'
  | 'palimpsest'

export interface DetectedTranscript {
  readonly format: TranscriptFormat
  /** Whether `importTranscript` reads it. */
  readonly isSupported: boolean
}

const marks: readonly (readonly [TranscriptFormat, (value: LooseObject) => boolean])[] = [
  ['palimpsest', (value) => value['type'] === 'session' && value['format'] === 'palimpsest'],
  ['deepseek-harness', (value) => value['type'] === 'session' && 'createdAt' in value],
  ['pi', (value) => value['type'] === 'session' && 'timestamp' in value],
  ['codex', (value) => value['type'] === 'session_meta' || 'payload' in value],
  ['codex', (value) => 'id' in value && 'instructions' in value && !('type' in value)],
  ['gemini', (value) => 'sessionId' in value && 'projectHash' in value],
  ['openhands', (value) => typeof value['kind'] === 'string' && value['kind'].endsWith('Event')],
  ['opencode', (value) => 'info' in value && 'messages' in value],
  ['claude-code', (value) => ('uuid' in value && 'parentUuid' in value) || 'leafUuid' in value],
]

/**
 * Tells the format of a file from its first lines, by the first line that speaks for one. `undefined` where none does:
 * give more lines, or it is no session file. FORMATS 10.
 */
export function detectTranscript(firstLines: Iterable<string>): DetectedTranscript | undefined {
  for (const line of firstLines) {
    const value = parseLine(line)
    const format = isObject(value) ? marks.find(([, matches]) => matches(value))?.[0] : undefined
    if (format !== undefined) return { format, isSupported: format === 'claude-code' }
  }
  return undefined
}
