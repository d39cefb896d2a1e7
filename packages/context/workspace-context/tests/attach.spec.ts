import type { Session, UserMessage } from '@palimpsest/session'
import {
  type ContextHost,
  type PreStep,
  type SettledCall,
  defaultFileNames,
  recordsOf,
} from '@palimpsest/workspace-context'
import { describe, expect, it } from 'vitest'
import { MemoryFiles } from './memory-files.ts'
import { contextMessages, quotedNow, recordsNow } from './quotations.ts'
import { compact, contextOf, say, started } from './sessions.ts'

/** The two hooks of a loop, called as the loop calls them: what is injected is appended after the hooks. */
class Host implements ContextHost {
  readonly #preStep = new Set<(context: PreStep) => Promise<void>>()
  readonly #result = new Set<(context: SettledCall) => void>()

  on(hook: string, listener: unknown): () => void {
    const listeners = (hook === 'agent/pre-step' ? this.#preStep : this.#result) as Set<unknown>
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }

  async step(session: Session, { delivers = true } = {}): Promise<readonly UserMessage[]> {
    const injected: UserMessage[] = []
    for (const listener of this.#preStep) await listener({ session, inject: (message) => void injected.push(message) })
    if (delivers) for (const message of injected) session.append('user/message', message, { surfaceOp: 'append' })
    return injected
  }

  settle(call: { readonly arguments: string; readonly input?: unknown }): void {
    for (const listener of this.#result) listener({ call: { input: undefined, ...call } })
  }
}

describe('attached to a loop', () => {
  it('injects what is new before a step, and nothing before the next one', async () => {
    const host = new Host()
    const session = started()
    contextOf(new MemoryFiles({ 'AGENTS.md': 'Be kind.' })).attach(host)
    expect((await host.step(session)).map(recordsOf)).toMatchObject([[{ path: 'AGENTS.md', status: 'quoted' }]])
    expect(await host.step(session)).toEqual([])
  })

  it('replaces what changed at once, since no call is open there', async () => {
    const host = new Host()
    const session = started()
    const files = new MemoryFiles({ 'AGENTS.md': 'Be kind.' })
    contextOf(files).attach(host)
    await host.step(session)
    files.files.set('AGENTS.md', 'Be brief.')
    expect(await host.step(session)).toEqual([])
    expect(quotedNow(session)).toEqual([{ path: 'AGENTS.md', text: 'Be brief.', changed: true }])
  })

  it('learns from the arguments of tools which files were touched', async () => {
    const host = new Host()
    const session = started()
    const files = ['a', 'b', 'c', 'd', 'e'].map((name) => [`${name}/AGENTS.md`, name] as const)
    contextOf(new MemoryFiles(Object.fromEntries(files))).attach(host)
    host.settle({ arguments: '{"path":"a/x.ts"}' })
    host.settle({ arguments: 'not JSON', input: { file_path: '/repo/b/x.ts' } })
    host.settle({ arguments: '{"filePath":"c"}' })
    host.settle({ arguments: '{"path":' })
    host.settle({ arguments: '{"path":["d/x.ts"],"cwd":"e"}' })
    host.settle({ arguments: 'null' })
    await host.step(session)
    expect(recordsNow(session).map(({ path }) => path)).toEqual(['a/AGENTS.md', 'b/AGENTS.md', 'c/AGENTS.md'])
  })

  it('injects again what a compaction covered, nested files included, and says what changed meanwhile', async () => {
    const host = new Host()
    const session = started()
    const files = new MemoryFiles({ 'AGENTS.md': 'Be kind.', 'a/AGENTS.md': 'Be fast.' })
    contextOf(files).attach(host)
    host.settle({ arguments: '{"path":"a/x.ts"}' })
    await host.step(session)
    say(session, 'Go on.')
    files.files.set('a/AGENTS.md', 'Be slow.')
    compact(session, 1, 2)
    await host.step(session)
    expect(quotedNow(session)).toEqual([
      { path: 'AGENTS.md', text: 'Be kind.', changed: false },
      { path: 'a/AGENTS.md', text: 'Be slow.', changed: true },
    ])
    expect(contextMessages(session)).toHaveLength(1)
  })

  it('does nothing any more once it is detached', async () => {
    const host = new Host()
    const detach = contextOf(new MemoryFiles({ 'AGENTS.md': 'Be kind.' })).attach(host)
    detach()
    expect(await host.step(started())).toEqual([])
  })

  it('injects again when the loop did not deliver', async () => {
    const host = new Host()
    const session = started()
    contextOf(new MemoryFiles({ 'AGENTS.md': 'Be kind.' })).attach(host)
    expect(await host.step(session, { delivers: false })).toHaveLength(1)
    expect(await host.step(session)).toHaveLength(1)
    expect(await host.step(session)).toEqual([])
    expect(quotedNow(session)).toEqual([{ path: 'AGENTS.md', text: 'Be kind.', changed: false }])
  })

  it('tells again of a removal that the loop did not deliver', async () => {
    const host = new Host()
    const session = started()
    const files = new MemoryFiles({ 'AGENTS.md': 'Be kind.' })
    contextOf(files).attach(host)
    await host.step(session)
    compact(session, 1, 1)
    files.files.delete('AGENTS.md')
    expect(await host.step(session, { delivers: false })).toHaveLength(1)
    await host.step(session)
    expect(recordsNow(session)).toEqual([{ path: 'AGENTS.md', status: 'removed' }])
    expect(await host.step(session)).toEqual([])
  })
})

it('refreshes of one session wait for each other', async () => {
  const session = started()
  const context = contextOf(new MemoryFiles({ 'AGENTS.md': 'Be kind.' }))
  await Promise.all([context.refresh(session), context.refresh(session), context.refresh(session)])
  expect(contextMessages(session)).toHaveLength(1)
})

it('a slow refresh never writes what it read before a later one wrote', async () => {
  const session = started()
  const files = new MemoryFiles({ 'AGENTS.md': 'Old.' })
  const { promise: held, resolve: release } = deferred()
  let reads = 0
  const context = contextOf(files, {
    fileNames: ['AGENTS.md'],
    port: {
      exists: files.exists,
      read: async (path, limits) => {
        reads += 1
        const result = files.read(path, limits)
        if (reads === 1) await held
        return result
      },
    },
  })
  const slow = context.refresh(session)
  await ticks(20)
  files.files.set('AGENTS.md', 'New.')
  const later = context.refresh(session)
  await ticks(20)
  release()
  await Promise.all([slow, later])
  expect(quotedNow(session).map(({ text }) => text)).toEqual(['New.'])
})

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined
  const promise = new Promise<void>((settle) => (resolve = settle))
  return { promise, resolve }
}
async function ticks(count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await Promise.resolve()
}

it('a refresh reads no event off the surface', async () => {
  const session = started()
  const context = contextOf(new MemoryFiles({ 'AGENTS.md': 'Be kind.' }))
  for (let i = 0; i < 20; i += 1) say(session, 'Old.')
  compact(session, 1, 20)
  await context.refresh(session)
  for (let i = 0; i < 3; i += 1) say(session, 'New.')
  const read: number[] = []
  const spied = new Proxy(session, {
    get(target, member) {
      if (member === 'events' || member === 'eventsFrom') throw new Error(`it reads ${member}`)
      const value: unknown = Reflect.get(target, member, target)
      if (member === 'eventAt') return (seq: number) => (read.push(seq), target.eventAt(seq))
      return typeof value === 'function' ? (value as () => unknown).bind(target) : value
    },
  })
  await context.refresh(spied)
  expect(read).toEqual([...session.surface.nodes])
  await context.refresh(spied)
  say(session, 'One more.')
  await context.refresh(spied)
  expect(read).toEqual([...session.surface.nodes])
})

it('what a log names outside the workspace is not read', async () => {
  const session = started()
  const paths = ['../AGENTS.md', '/AGENTS.md', './AGENTS.md', 'a//AGENTS.md', 'a/../../AGENTS.md', 'notes.md', '']
  const told = paths.map((path) => ({ path, status: 'quoted', digest: 'sha256:0' }))
  const source = { kind: 'plugin', plugin: 'workspace-context', files: told } as const
  const message: UserMessage = { ...say(started(), 'Told.').data, source } as never
  session.append('user/message', message, { surfaceOp: 'append' })
  const files = new MemoryFiles({ 'AGENTS.md': 'Be kind.' })
  await contextOf(files).refresh(session)
  expect(new Set(files.reads)).toEqual(new Set(defaultFileNames))
})
