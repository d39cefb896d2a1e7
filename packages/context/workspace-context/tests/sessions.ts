import { Session, type SessionEvent, type SessionSeq } from '@palimpsest/session'
import { systemData, text, userData } from '@palimpsest/testkit'
import { workspaceContext, type WorkspaceContext, type WorkspaceContextOptions } from '@palimpsest/workspace-context'
import { type MemoryFiles, ROOT } from './memory-files.ts'

/** A session with a system head. */
export function started(id = 'work'): Session {
  const session = Session.create({ id, createdAt: 1000, now: () => 1000 })
  session.append('system/message', systemData('head', [text('You are terse.')]), { surfaceOp: 'append' })
  return session
}

export const say = (session: Session, words: string): SessionEvent =>
  session.append('user/message', userData(`u-${session.length}`, [text(words)]), { surfaceOp: 'append' })

/** Puts a summary in place of the surface entries at these positions, both inclusive. */
export function compact(session: Session, start: number, end: number): SessionEvent {
  const shadowed = session.surface.nodes.slice(start, end + 1)
  const [startSeq, endSeq] = [shadowed[0], shadowed.at(-1)] as [SessionSeq, SessionSeq]
  return session.append('user/message', userData(`s-${session.length}`, [text('What happened so far.')]), {
    surfaceOp: { op: 'replace', startSeq, endSeq },
    sourceEventSeqs: shadowed,
  })
}

export function contextOf(port: MemoryFiles, options: Partial<WorkspaceContextOptions> = {}): WorkspaceContext {
  return workspaceContext({ cwd: ROOT, root: ROOT, port, ...options })
}
