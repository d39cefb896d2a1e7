import { stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { readJsonLines } from '../conversation/source-lines.ts'
import { objectMember } from '../json.ts'
import type { LooseObject } from '../json.ts'
import { directoryEntries, headOf, promptStart } from '../session-files.ts'
import { userBlocks } from './blocks.ts'
import { recordLine } from './record.ts'

export interface FindOptions {
  /** The user's home directory, absolute. */
  readonly home: string
  /** `CLAUDE_CONFIG_DIR` moves the root, as it does for Claude Code itself. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** A session file as a list shows it. */
export interface FoundSession {
  /** Absolute. */
  readonly path: string
  readonly sessionId: string
  /** Working directory of the session, where the head of the file tells it. */
  readonly cwd?: string
  /** Epoch milliseconds. */
  readonly modifiedAt: number
  /** Bytes of the file. */
  readonly byteLength: number
  /** What the user typed first, at most 200 characters; absent where the head of the file does not tell. */
  readonly firstPrompt?: string
  /** Files of its subagents, absolute. */
  readonly agentPaths: readonly string[]
}

/**
 * Lists the user's own Claude Code sessions, newest first. Reads heads only, and leaves out what it may not read.
 * FORMATS 1.
 */
export async function findClaudeCodeSessions({ home, env = {} }: FindOptions): Promise<FoundSession[]> {
  const configured = env['CLAUDE_CONFIG_DIR']
  const root = join(configured === undefined || configured === '' ? join(home, '.claude') : configured, 'projects')
  const found: FoundSession[] = []
  for (const project of await directoryEntries(root)) {
    if (project.isDirectory()) found.push(...(await projectSessions(join(root, project.name))))
  }
  return found.sort((a, b) => b.modifiedAt - a.modifiedAt || a.path.localeCompare(b.path))
}

async function projectSessions(directory: string): Promise<FoundSession[]> {
  const files = (await directoryEntries(directory)).filter((entry) => entry.isFile() && entry.name.endsWith('.jsonl'))
  const agents = new Map<string, string[]>()
  for (const { name } of files.filter((entry) => entry.name.startsWith('agent-'))) {
    const { session } = await readHead(join(directory, name))
    if (session !== undefined) agents.set(session, [...(agents.get(session) ?? []), join(directory, name)])
  }
  const sessions: FoundSession[] = []
  for (const { name } of files.filter((entry) => !entry.name.startsWith('agent-'))) {
    const path = join(directory, name)
    const info = await stat(path).catch(() => undefined)
    if (info === undefined) continue
    const sessionId = basename(name, '.jsonl')
    const { cwd, firstPrompt } = await readHead(path)
    const below = await agentFiles(join(directory, sessionId, 'subagents'))
    sessions.push({
      path,
      sessionId,
      modifiedAt: Math.trunc(info.mtimeMs),
      byteLength: info.size,
      agentPaths: [...(agents.get(sessionId) ?? []), ...below].sort(),
      ...(cwd === undefined ? {} : { cwd }),
      ...(firstPrompt === undefined ? {} : { firstPrompt }),
    })
  }
  return sessions
}

/** Subagent files of newer versions; runs of workflows nest deeper. */
async function agentFiles(directory: string): Promise<string[]> {
  const found: string[] = []
  for (const entry of await directoryEntries(directory)) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) found.push(...(await agentFiles(path)))
    else if (entry.isFile() && /^agent-.*\.jsonl$/.test(entry.name)) found.push(path)
  }
  return found
}

interface Head {
  readonly session?: string
  readonly cwd?: string
  readonly firstPrompt?: string
}

async function readHead(path: string): Promise<Head> {
  const head: { session?: string; cwd?: string; firstPrompt?: string } = {}
  for await (const line of readJsonLines(headOf(path))) {
    const record = recordLine(line)
    if (record.session !== undefined) head.session ??= record.session
    if (record.cwd !== undefined) head.cwd ??= record.cwd
    if (line.kind !== 'object' || record.userClass !== 'prompt' || !record.hasContent) continue
    const text = promptText(line.value)
    if (text === undefined) continue
    head.firstPrompt = text
    break
  }
  return head
}

function promptText(line: LooseObject): string | undefined {
  const [text] = (userBlocks(objectMember(line, 'message')?.['content']) ?? []).flatMap((block) =>
    block.kind === 'content' && block.type === 'text' ? [block.text] : [],
  )
  return text === undefined ? undefined : promptStart(text)
}
