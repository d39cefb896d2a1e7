import type { SessionId } from '@palimpsest/session'
import { readJsonLines } from '../conversation/source-lines.ts'
import type { ReadLine } from '../conversation/source-lines.ts'
import { writeConversation } from '../conversation/write.ts'
import type { LooseObject } from '../json.ts'
import { sourceName } from '../source.ts'
import type { ImportOptions, ImportedSession, TranscriptSource } from '../source.ts'
import { keepImages } from './content.ts'
import { codexLine, codexMeta } from './line.ts'
import type { CodexMeta } from './line.ts'
import { readCodex } from './read.ts'
import { replacementItems } from './replacement.ts'

/**
 * Imports a rollout file of the Codex CLI, of any version: one session. Foreign, torn or contradictory lines never stop it:
 * they are kept raw and reported. Throws what the source or the sink throw. SPEC 8.
 */
export async function* importCodex(source: TranscriptSource, options: ImportOptions): AsyncGenerator<ImportedSession> {
  const file: ReadLine[] = []
  for await (const line of readJsonLines(source.bytes())) file.push(line)
  const name = sourceName(source)
  const meta = metaOf(file)
  const sessionId = meta?.id ?? idOfName(name)
  const images = await keepImages(itemsOf(file), options.attachments(sessionId as SessionId))
  const { cwd, createdAt, parent, isSubagent = false } = meta ?? {}
  const init = {
    agent: 'codex',
    source: name,
    sessionId,
    ...(createdAt === undefined ? {} : { createdAt }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(parent === undefined ? {} : { parentSession: parent }),
    ...(isSubagent ? { isSubagent } : {}),
  }
  yield writeConversation(init, readCodex(file, images))
}

function metaOf(file: readonly ReadLine[]): CodexMeta | undefined {
  for (const read of file) {
    const line = read.kind === 'object' ? codexLine(read) : undefined
    if (line?.type === 'session_meta') return codexMeta(line.payload)
  }
  return undefined
}

/** The id that stands in the name of a rollout file, or the name itself. */
export function idOfName(name: string): string {
  const id = /^rollout-.*-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/i.exec(name)?.[1]
  const bare = name.replace(/\.jsonl$/, '')
  return id ?? (bare === '' ? 'codex' : bare)
}

function* itemsOf(file: readonly ReadLine[]): Generator<LooseObject> {
  for (const read of file) {
    const line = read.kind === 'object' ? codexLine(read) : undefined
    if (line === undefined) continue
    if (line.type === 'response_item') yield line.payload
    else if (line.type === 'compacted') yield* replacementItems(line.payload, new Map())?.items ?? []
  }
}
