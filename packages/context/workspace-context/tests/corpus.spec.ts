import { type Session, SessionStore } from '@palimpsest/session'
import { describe, expect, it } from 'vitest'
import { MemoryFiles } from './memory-files.ts'
import { contextMessages, quotedNow, recordsNow, reopened } from './quotations.ts'
import { compact, contextOf, say, started } from './sessions.ts'

const keys = (session: Session): string[] => recordsNow(session).map(({ path }) => path)
const bothOnce = ['AGENTS.md', 'app/AGENTS.md']

/** A session with instructions, some turns, and a compaction over both. */
async function compacted(files: MemoryFiles): Promise<Session> {
  const session = started()
  await contextOf(files, { cwd: '/repo/app' }).refresh(session)
  say(session, 'Fix it.')
  say(session, 'And test it.')
  compact(session, 1, 2)
  await contextOf(files, { cwd: '/repo/app' }).refresh(session)
  return session
}

describe('SP-01: instructions appear twice after a compaction', () => {
  const files = (): MemoryFiles => new MemoryFiles({ 'AGENTS.md': 'Be kind.', 'app/AGENTS.md': 'Be fast.' })

  it('each slot key is live once after compaction, resume and fork', async () => {
    const there = files()
    const session = await compacted(there)
    expect(keys(session)).toEqual(bothOnce)
    const resumed = reopened(session)
    await contextOf(there, { cwd: '/repo/app' }).refresh(resumed)
    expect(resumed.length).toBe(session.length)
    const child = new SessionStore().fork(resumed)
    await contextOf(there, { cwd: '/repo/app' }).refresh(child)
    expect(keys(child)).toEqual(bothOnce)
    expect(child.deriveMessages()).toEqual(session.deriveMessages())
  })

  it('changed slot content replaces, not adds', async () => {
    const there = files()
    const session = await compacted(there)
    const { length } = session.surface.nodes
    there.files.set('app/AGENTS.md', 'Be slow.')
    const resumed = reopened(session)
    await contextOf(there, { cwd: '/repo/app' }).refresh(resumed)
    expect(resumed.surface.nodes).toHaveLength(length)
    expect(keys(resumed)).toEqual(bothOnce)
    expect(quotedNow(resumed).map(({ text }) => text)).toEqual(['Be kind.', 'Be slow.'])
    expect(JSON.stringify(resumed.deriveMessages())).not.toContain('Be fast.')
  })

  it('a covered message that an undo brings back beside a later one is told of once after the next refresh', async () => {
    const there = files()
    const session = started()
    const context = contextOf(there, { cwd: '/repo/app' })
    await context.refresh(session)
    const [first] = contextMessages(session)
    say(session, 'Go on.')
    if (first?.role === 'user') session.append('user/message', first as never, { surfaceOp: 'append' })
    expect(keys(session)).toEqual([...bothOnce, ...bothOnce])
    await context.refresh(session)
    expect(keys(session)).toEqual(bothOnce)
    expect(contextMessages(session)[0]).toBe(first)
  })
})
