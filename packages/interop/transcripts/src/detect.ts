import { isObject } from './json.ts'
import type { LooseObject } from './json.ts'
import { parseLine } from './lines.ts'
import { detectMessages } from './messages/detect-messages.ts'

/** A format of session files that we can tell from others. */
export type TranscriptFormat =
  | 'claude-code'
  | 'codex'
  | 'pi'
  | 'deepseek-harness'
  | 'gemini'
  | 'openhands'
  | 'opencode'
  | 'messages'
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

const supported: ReadonlySet<TranscriptFormat> = new Set(['claude-code', 'codex', 'pi', 'deepseek-harness', 'messages'])

/** Tells the format that a parsed line, or a whole file, speaks for. FORMATS 10. */
export function detectValue(value: unknown): DetectedTranscript | undefined {
  const marked = isObject(value) ? marks.find(([, matches]) => matches(value))?.[0] : undefined
  const format = marked ?? (detectMessages(value) === undefined ? undefined : 'messages')
  return format === undefined ? undefined : { format, isSupported: supported.has(format) }
}

/**
 * Tells the format of a file from its first lines, by the first line that speaks for one. `undefined` where none does:
 * give more lines, or it is no session file. FORMATS 10.
 */
export function detectTranscript(firstLines: Iterable<string>): DetectedTranscript | undefined {
  for (const line of firstLines) {
    const detected = detectValue(parseLine(line))
    if (detected !== undefined) return detected
  }
  return undefined
}
