import { stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { FindOptions, FoundSession } from '../claude-code/find.ts'
import { readJsonLines } from '../conversation/source-lines.ts'
import { isObject, stringMember } from '../json.ts'
import { directoryEntries, headOf, promptStart } from '../session-files.ts'
import { messageOf } from './entries.ts'
import { idOfFile } from './import.ts'

/**
 * Lists the user's own pi sessions, newest first. `PI_CODING_AGENT_DIR` moves the root, as it does for pi itself. Reads
 * heads only, and leaves out what it may not read. FORMATS 3.
 */
export async function findPiSessions({ home, env = {} }: FindOptions): Promise<FoundSession[]> {
  const configured = env['PI_CODING_AGENT_DIR']
  const agent = configured === undefined || configured === '' ? join(home, '.pi', 'agent') : configured
  const root = join(agent, 'sessions')
  const found: FoundSession[] = []
  for (const folder of await directoryEntries(root)) {
    if (!folder.isDirectory()) continue
    for (const file of await directoryEntries(join(root, folder.name))) {
      if (!file.isFile() || !file.name.endsWith('.jsonl')) continue
      const path = join(root, folder.name, file.name)
      const info = await stat(path).catch(() => undefined)
      if (info === undefined) continue
      const { sessionId, ...head } = await readHead(path)
      found.push({
        path,
        sessionId: sessionId ?? idOfFile(basename(path)),
        modifiedAt: Math.trunc(info.mtimeMs),
        byteLength: info.size,
        agentPaths: [],
        ...head,
      })
    }
  }
  return found.sort((a, b) => b.modifiedAt - a.modifiedAt || a.path.localeCompare(b.path))
}

async function readHead(path: string): Promise<{ sessionId?: string; cwd?: string; firstPrompt?: string }> {
  const head: { sessionId?: string; cwd?: string; firstPrompt?: string } = {}
  for await (const line of readJsonLines(headOf(path))) {
    if (line.kind !== 'object') continue
    const { value } = line
    if (value['type'] === 'session') {
      const [id, cwd] = [stringMember(value, 'id'), stringMember(value, 'cwd')]
      if (id !== undefined && id !== '') head.sessionId ??= id
      if (cwd !== undefined) head.cwd ??= cwd
    }
    const prompt = promptOf(messageOf(value) ?? {})
    if (prompt === undefined) continue
    head.firstPrompt = promptStart(prompt)
    break
  }
  return head
}

function promptOf({ role, content }: Readonly<Record<string, unknown>>): string | undefined {
  if (role !== 'user') return undefined
  if (typeof content === 'string') return content
  const blocks = Array.isArray(content) ? (content as readonly unknown[]) : []
  const [text] = blocks.flatMap((block) =>
    isObject(block) && block['type'] === 'text' ? (stringMember(block, 'text') ?? []) : [],
  )
  return text
}
