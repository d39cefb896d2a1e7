import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { FindOptions, FoundSession } from '../claude-code/find.ts'
import { readJsonLines } from '../conversation/source-lines.ts'
import { directoryEntries, promptStart } from '../session-files.ts'
import { idOfName } from './import.ts'
import { readItem } from './item.ts'
import { codexLine, codexMeta } from './line.ts'
import type { CodexMeta } from './line.ts'

/** Bytes of a file that are read for a list: instructions and tools stand in its first line. */
const headBytes = 262_144

interface CodexFile {
  readonly found: Omit<FoundSession, 'agentPaths'>
  readonly parent?: string
}

/**
 * Lists the user's own Codex sessions, archived ones too, newest first; `CODEX_HOME` moves the root. Files of subagents are
 * `agentPaths` of the session that they name, where that is there. Reads heads only, and leaves out what it may not read.
 * FORMATS 2.
 */
export async function findCodexSessions({ home, env = {} }: FindOptions): Promise<FoundSession[]> {
  const configured = env['CODEX_HOME']
  const root = configured === undefined || configured === '' ? join(home, '.codex') : configured
  const files: CodexFile[] = []
  for (const folder of ['sessions', 'archived_sessions']) {
    for (const path of await rollouts(join(root, folder), 3)) {
      const file = await readFile(path)
      if (file !== undefined) files.push(file)
    }
  }
  const ids = new Set(files.map(({ found }) => found.sessionId))
  const agents = new Map<string, string[]>()
  const own = files.filter(({ parent, found }) => {
    if (parent === undefined || !ids.has(parent)) return true
    agents.set(parent, [...(agents.get(parent) ?? []), found.path])
    return false
  })
  return own
    .map(({ found }) => ({ ...found, agentPaths: (agents.get(found.sessionId) ?? []).sort() }))
    .sort((a, b) => b.modifiedAt - a.modifiedAt || a.path.localeCompare(b.path))
}

/** Rollout files of a folder and of the years, months and days in it. */
async function rollouts(directory: string, depth: number): Promise<string[]> {
  const found: string[] = []
  for (const entry of await directoryEntries(directory)) {
    const path = join(directory, entry.name)
    if (entry.isDirectory() && depth > 0) found.push(...(await rollouts(path, depth - 1)))
    else if (entry.isFile() && /^rollout-.*\.jsonl$/.test(entry.name)) found.push(path)
  }
  return found
}

async function readFile(path: string): Promise<CodexFile | undefined> {
  const info = await stat(path).catch(() => undefined)
  if (info === undefined) return undefined
  const head = await readHead(path)
  if (head === undefined) return undefined
  const { meta, firstPrompt } = head
  const { cwd, id, parent, isSubagent = false } = meta ?? {}
  const found = {
    path,
    sessionId: id ?? idOfName(path.replace(/^.*[/\\]/, '')),
    modifiedAt: Math.trunc(info.mtimeMs),
    byteLength: info.size,
    ...(cwd === undefined ? {} : { cwd }),
    ...(firstPrompt === undefined ? {} : { firstPrompt }),
  }
  return { found, ...(isSubagent && parent !== undefined ? { parent } : {}) }
}

async function readHead(path: string): Promise<{ meta?: CodexMeta; firstPrompt?: string } | undefined> {
  const head: { meta?: CodexMeta; firstPrompt?: string } = {}
  try {
    for await (const read of readJsonLines(createReadStream(path, { end: headBytes - 1 }))) {
      const line = read.kind === 'object' ? codexLine(read) : undefined
      if (line?.type === 'session_meta') head.meta ??= codexMeta(line.payload)
      const item = line?.type === 'response_item' ? readItem(line.payload, new Map()).item : undefined
      if (item?.kind !== 'user' || !item.isTurn || item.plugin !== undefined) continue
      const [text] = item.content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
      if (text === undefined) continue
      head.firstPrompt = promptStart(text)
      break
    }
    return head
  } catch {
    return undefined
  }
}
