import { SessionFormatError, openAnyVersion } from '@palimpsest/session-format'
import { importVocabulary } from '../events.ts'
import { writeConversation } from '../conversation/write.ts'
import { readJsonLines } from '../conversation/source-lines.ts'
import type { ReadLine } from '../conversation/source-lines.ts'
import { sourceName } from '../source.ts'
import type { ImportOptions, ImportedSession, TranscriptSource } from '../source.ts'
import { agent, headerOf, migratedSession } from './migrated.ts'
import { readConversation } from './settle.ts'

/**
 * Imports a log of deepseek-harness, versions 0 to 3. One that its codec and the edges convert with proof is taken as it
 * is, event by event. One that they refuse, because it is damaged, of unknown types, or breaks a rule of pairing, is read
 * line by line as other agents' files are, and the report says so: `migration/refused`. Throws `SessionFormatError`
 * `format/normalised`, `format/newer-version` or `format/not-a-log`, and what the source throws. SPEC 6, 8.
 */
export async function* importDeepSeekHarness(
  source: TranscriptSource,
  options: ImportOptions,
): AsyncGenerator<ImportedSession> {
  const { normalised = false } = options
  const lines: ReadLine[] = []
  for await (const line of readJsonLines(source.bytes())) lines.push(line)
  const name = sourceName(source)
  try {
    yield migratedSession(name, await openAnyVersion(source, { normalised, vocabulary: importVocabulary }), lines)
  } catch (error) {
    if (!(error instanceof SessionFormatError) || isFinal(error)) throw error
    const refusal = {
      line: error.line ?? 0,
      code: 'migration/refused',
      message: `${error.message}: the log was read line by line instead`,
    }
    yield writeConversation({ agent, source: name, ...headerOf(name, lines) }, readConversation(lines, refusal))
  }
}

/** What no other way of reading would mend. */
function isFinal({ code }: SessionFormatError): boolean {
  return code === 'format/normalised' || code === 'format/newer-version' || code === 'format/not-a-log'
}
