import { SessionFormatError, openAnyVersion } from '@palimpsest/session-format'
import { importVocabulary } from '../events.ts'
import { writeConversation } from '../conversation/write.ts'
import { readJsonLines } from '../conversation/source-lines.ts'
import type { ReadLine } from '../conversation/source-lines.ts'
import { countMember, stringMember } from '../json.ts'
import { sourceName } from '../source.ts'
import type { ImportOptions, ImportedSession, TranscriptSource } from '../source.ts'
import { agent, headerOf, migratedSession } from './migrated.ts'
import { readConversation } from './settle.ts'

/**
 * Imports a log of deepseek-harness, versions 0 to 3. One that its codec and the edges convert with proof is taken as it
 * is, event by event. One that they refuse, because it is damaged, of unknown types, or breaks a rule of pairing, is read
 * line by line as other agents' files are, and the report says so: `migration/refused`. Throws `SessionFormatError`
 * `format/normalised`, `format/newer-version`, `format/ours` or `format/not-a-log`, and what the source throws. SPEC 6, 8.
 */
export async function* importDeepSeekHarness(
  source: TranscriptSource,
  options: ImportOptions,
): AsyncGenerator<ImportedSession> {
  const { normalised = false } = options
  const lines: ReadLine[] = []
  let length = 0
  const count = (bytes: Uint8Array): void => void (length += bytes.length)
  for await (const line of readJsonLines(watched(source.bytes(), count))) lines.push(line)
  const name = sourceName(source)
  // A log that is in use may have grown since: both readings are of the same bytes.
  const bytes = (): AsyncGenerator<Uint8Array> => firstBytes(source.bytes(), length)
  yield await openAnyVersion({ name, bytes }, { normalised, vocabulary: importVocabulary }).then(
    (opened) => {
      if (!opened.isOurs) return migratedSession(name, opened, lines)
      throw new SessionFormatError('format/ours', `${name}: a log of this library: open it, there is nothing to import`)
    },
    (error: unknown) => {
      if (!(error instanceof SessionFormatError) || isFinal(error, lines)) throw error
      const { line = 0, message } = error
      const refusal = { line, code: 'migration/refused', message: `${message}: the log was read line by line instead` }
      return writeConversation({ agent, source: name, ...headerOf(name, lines) }, readConversation(lines, refusal))
    },
  )
}

async function* watched(
  chunks: AsyncIterable<Uint8Array>,
  watch: (chunk: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    watch(chunk)
    yield chunk
  }
}

async function* firstBytes(chunks: AsyncIterable<Uint8Array>, length: number): AsyncGenerator<Uint8Array> {
  let left = length
  for await (const chunk of chunks) {
    yield chunk.subarray(0, left)
    left -= chunk.length
    if (left <= 0) return
  }
}

/** What no other way of reading would mend. A header of such a log with one wrong member is no reason to lose the rest. */
function isFinal({ code }: SessionFormatError, [first]: readonly ReadLine[]): boolean {
  if (code !== 'format/not-a-log') return code === 'format/normalised' || code === 'format/newer-version'
  const header = first?.kind === 'object' ? first.value : {}
  return (
    stringMember(header, 'type') !== 'session' ||
    countMember(header, 'version') === undefined ||
    countMember(header, 'createdAt') === undefined
  )
}
