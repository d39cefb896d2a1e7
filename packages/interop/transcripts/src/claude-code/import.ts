import type { SessionId } from '@palimpsest/session'
import { readJsonLines } from '../conversation/source-lines.ts'
import type { ReadLine } from '../conversation/source-lines.ts'
import { writeConversation } from '../conversation/write.ts'
import { sourceName } from '../source.ts'
import type { ImportOptions, ImportedSession, TranscriptSource } from '../source.ts'
import { splitLanes } from './lanes.ts'
import { readLane } from './read.ts'
import { recordLine } from './record.ts'

/**
 * Imports a Claude Code session file: the user's own conversation first, then one session for each subagent in it.
 * Foreign, torn or contradictory lines never stop it: they are kept raw and reported. Throws what the source or the
 * sink throw. SPEC 8.
 */
export async function* importClaudeCode(
  source: TranscriptSource,
  options: ImportOptions,
): AsyncGenerator<ImportedSession> {
  const file: ReadLine[] = []
  for await (const line of readJsonLines(source.bytes())) file.push(line)
  for (const lane of splitLanes(file.map(recordLine), sourceName(source))) {
    const { sessionId, parent, records } = lane
    const cwd = records.find((record) => /^(\/|[A-Za-z]:[\\/])/.test(record.cwd ?? ''))?.cwd
    const conversation = await readLane(lane, file, options.attachments(sessionId as SessionId))
    const init = {
      agent: 'claude-code',
      source: sourceName(source),
      sessionId,
      ...(cwd === undefined ? {} : { cwd }),
      ...(parent === undefined ? {} : { parentSession: parent, isSubagent: true }),
    }
    yield writeConversation(init, conversation)
  }
}
