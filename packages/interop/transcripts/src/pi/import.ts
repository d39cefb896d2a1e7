import type { SessionId } from '@palimpsest/session'
import { keepInline } from '../attachments.ts'
import { readJsonLines, timeOf } from '../conversation/source-lines.ts'
import type { ReadLine } from '../conversation/source-lines.ts'
import { writeConversation } from '../conversation/write.ts'
import type { ConversationInit } from '../conversation/write.ts'
import { stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'
import { sourceName } from '../source.ts'
import type { ImportOptions, ImportedSession, TranscriptSource } from '../source.ts'
import { readPiFile } from './entries.ts'
import { readConversation } from './read.ts'

/**
 * Imports a session file of pi, of any version: the conversation that ends with the last entry; branches that it left are
 * kept raw. Foreign, torn or contradictory lines never stop it. Throws what the source or the sink throw. SPEC 8,
 * FORMATS 3.
 */
export async function* importPi(source: TranscriptSource, options: ImportOptions): AsyncGenerator<ImportedSession> {
  const lines: ReadLine[] = []
  for await (const line of readJsonLines(source.bytes())) lines.push(line)
  const file = readPiFile(lines)
  const init = initOf(file.header, sourceName(source))
  const sink = options.attachments(init.sessionId as SessionId)
  yield writeConversation(init, await readConversation(file, (inline) => keepInline(sink, inline)))
}

function initOf(header: LooseObject, source: string): ConversationInit {
  const id = stringMember(header, 'id')
  const createdAt = timeOf(header)
  const cwd = stringMember(header, 'cwd')
  const parent = stringMember(header, 'parentSession') ?? stringMember(header, 'branchedFrom') ?? ''
  return {
    agent: 'pi',
    source,
    sessionId: id === undefined || id === '' ? idOfFile(source) || 'pi' : id,
    ...(createdAt === undefined ? {} : { createdAt }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(idOfFile(parent) === '' ? {} : { parentSession: idOfFile(parent) }),
  }
}

/** The id of a session in the name of its file: `<time>_<id>.jsonl`. */
export function idOfFile(path: string): string {
  return path
    .replace(/^.*[/\\]/s, '')
    .replace(/\.jsonl$/, '')
    .replace(/^.*_/s, '')
}
