import {
  type FindOptions,
  type FoundSession,
  findClaudeCodeSessions,
  findCodexSessions,
  findPiSessions,
} from '@palimpsest/transcripts'

/** A session of an agent on this machine, as the list shows it. */
export interface ListedSession extends FoundSession {
  readonly agent: string
}

const agents = {
  'claude-code': findClaudeCodeSessions,
  codex: findCodexSessions,
  pi: findPiSessions,
} satisfies Record<string, (options: FindOptions) => Promise<FoundSession[]>>

/** The user's own sessions of every agent whose place we know, newest first. Reads heads only. */
export async function findSessions(options: FindOptions): Promise<ListedSession[]> {
  const found: ListedSession[] = []
  for (const [agent, find] of Object.entries(agents)) {
    for (const session of await find(options)) found.push({ ...session, agent })
  }
  return found.sort((a, b) => b.modifiedAt - a.modifiedAt || a.path.localeCompare(b.path))
}
