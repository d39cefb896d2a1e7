import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Session } from '@palimpsest/session'
import { type FileRecord, type WorkspaceContextOptions, workspaceContext } from '@palimpsest/workspace-context'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { contextMessages, digestOf, quotedNow, recordsNow, textOf } from './quotations.ts'
import { started } from './sessions.ts'

let base = ''
let session: Session

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'workspace-context-'))
  session = started()
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

function write(path: string, content: string | Uint8Array): string {
  const file = join(base, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
  return file
}
const context = (cwd: string, options: Partial<WorkspaceContextOptions> = {}): ReturnType<typeof workspaceContext> =>
  workspaceContext({ cwd: join(base, cwd), ...options })
const paths = (): string[] => quotedNow(session).map(({ path }) => path)
const recordOf = (path: string): FileRecord | undefined => recordsNow(session).find((record) => record.path === path)
const said = (): string => contextMessages(session).map(textOf).join('\n')

describe('the files of a workspace', () => {
  it('are those from the nearest repository down to cwd, the least specific first, overlays after what they overlay', async () => {
    mkdirSync(join(base, '.git'))
    write('AGENTS.md', 'outer repository')
    write('inner/.git', 'gitdir: elsewhere')
    write('inner/CLAUDE.md', 'claude')
    write('inner/AGENTS.md', 'agents')
    write('inner/AGENTS.local.md', 'local')
    write('inner/app/CLAUDE.local.md', 'app local')
    write('inner/app/below/AGENTS.md', 'below cwd')
    await context('inner/app').refresh(session)
    expect(paths()).toEqual(['AGENTS.md', 'CLAUDE.md', 'AGENTS.local.md', 'app/CLAUDE.local.md'])
  })

  it('are those of cwd alone where there is no repository and no root', async () => {
    write('AGENTS.md', 'above')
    write('app/AGENTS.md', 'here')
    await context('app').refresh(session)
    expect(quotedNow(session)).toEqual([{ path: 'AGENTS.md', text: 'here', changed: false }])
  })

  it('below cwd and beside it count once something under them is touched', async () => {
    mkdirSync(join(base, '.git'))
    write('app/src/deep/AGENTS.md', 'deep')
    write('app/src/AGENTS.md', 'src')
    write('lib/AGENTS.md', 'lib')
    const plugin = context('app')
    await plugin.refresh(session)
    expect(paths()).toEqual([])
    plugin.touched('src/deep/file.ts')
    plugin.touched(join(base, 'lib'))
    plugin.touched('/etc/passwd')
    plugin.touched('a\0b')
    await plugin.refresh(session)
    expect(paths()).toEqual(['lib/AGENTS.md', 'app/src/AGENTS.md', 'app/src/deep/AGENTS.md'])
    expect(JSON.stringify(session.events)).not.toContain(base)
  })

  it('are quoted anew in their old place when they change, and told of when they go', async () => {
    write('AGENTS.md', 'first')
    write('CLAUDE.md', 'stays')
    const plugin = context('.')
    await plugin.refresh(session)
    const [, seq] = session.surface.nodes
    write('AGENTS.md', 'second')
    await plugin.refresh(session)
    expect(session.events.at(-1)).toMatchObject({
      surfaceOp: { op: 'replace', startSeq: seq, endSeq: seq },
      sourceEventSeqs: [seq],
    })
    expect(quotedNow(session)).toEqual([
      { path: 'AGENTS.md', text: 'second', changed: true },
      { path: 'CLAUDE.md', text: 'stays', changed: false },
    ])
    rmSync(join(base, 'AGENTS.md'))
    await plugin.refresh(session)
    expect(paths()).toEqual(['CLAUDE.md'])
    expect(said()).toContain('"AGENTS.md" is gone or empty: what it said no longer holds.')
    expect(session.surface.nodes).toHaveLength(2)
  })

  it('are told of as gone even when a compaction covered them meanwhile', async () => {
    write('AGENTS.md', 'first')
    const plugin = context('.')
    await plugin.refresh(session)
    const [, seq] = session.surface.nodes
    rmSync(join(base, 'AGENTS.md'))
    session.append(
      'user/message',
      { id: 's' as never, role: 'user', content: [{ type: 'text', text: 'Summary.' }], source: { kind: 'user' } },
      { surfaceOp: { op: 'replace', startSeq: seq!, endSeq: seq! }, sourceEventSeqs: [seq!] },
    )
    await plugin.refresh(session)
    await plugin.refresh(session)
    expect(recordsNow(session)).toEqual([{ path: 'AGENTS.md', status: 'removed' }])
  })

  it('are the same text with and without a byte order mark, with CRLF and with LF', async () => {
    write('AGENTS.md', '\ufeffone\r\ntwo\r\n')
    const plugin = context('.')
    await plugin.refresh(session)
    expect(quotedNow(session)).toEqual([{ path: 'AGENTS.md', text: 'one\ntwo', changed: false }])
    expect(recordOf('AGENTS.md')).toMatchObject({ digest: digestOf('one\ntwo\n') })
    write('AGENTS.md', 'one\ntwo\n')
    expect(await plugin.refresh(session)).toEqual({ replace: [], inject: undefined })
  })

  it('have nothing to say when they are blank, a directory or a dangling link', async () => {
    write('AGENTS.md', ' \n\t')
    mkdirSync(join(base, 'CLAUDE.md'))
    symlinkSync('nowhere', join(base, 'AGENTS.local.md'))
    expect(await context('.').refresh(session)).toEqual({ replace: [], inject: undefined })
  })

  it('that repeat a file of their directory are named only', async () => {
    write('AGENTS.md', 'one text')
    symlinkSync('AGENTS.md', join(base, 'CLAUDE.md'))
    await context('.').refresh(session)
    expect(paths()).toEqual(['AGENTS.md'])
    expect(said()).toContain('"CLAUDE.md" holds the same text as "AGENTS.md".')
  })
})

describe('a file that cannot be quoted is named with the reason', () => {
  it('when it is a link out of the root, even through a directory, or a loop', async () => {
    write('outside/AGENTS.md', 'secret')
    write('repo/.git', '')
    symlinkSync('../outside/AGENTS.md', join(base, 'repo/AGENTS.md'))
    symlinkSync('../outside', join(base, 'repo/linked'))
    symlinkSync('CLAUDE.md', join(base, 'repo/CLAUDE.md'))
    const plugin = context('repo')
    plugin.touched('linked/file.ts')
    await plugin.refresh(session)
    expect(recordsNow(session)).toEqual([
      { path: 'AGENTS.md', status: 'left-out', reason: 'outside-root' },
      { path: 'CLAUDE.md', status: 'left-out', reason: 'unreadable' },
      { path: 'linked/AGENTS.md', status: 'left-out', reason: 'outside-root' },
    ])
    expect(said()).not.toContain('secret')
  })

  it('when it may not be read', async () => {
    chmodSync(base, 0o755)
    chmodSync(write('AGENTS.md', 'secret'), 0o000)
    const isRoot = process.geteuid?.() === 0
    // Permissions do not hold for root.
    if (isRoot) process.seteuid?.(65_534)
    try {
      await context('.').refresh(session)
    } finally {
      if (isRoot) process.seteuid?.(0)
    }
    expect(recordOf('AGENTS.md')).toEqual({ path: 'AGENTS.md', status: 'left-out', reason: 'unreadable' })
  })

  it('when it is not UTF-8, holds a NUL, or is huge', async () => {
    write('AGENTS.md', Buffer.from('\ufeffüber', 'utf16le'))
    write('CLAUDE.md', Buffer.from([0x61, 0xff]))
    write('AGENTS.local.md', 'a\0b')
    truncateSync(write('CLAUDE.local.md', ''), 5_000_000_000)
    await context('.').refresh(session)
    expect(recordsNow(session).map((record) => ('reason' in record ? record.reason : ''))).toEqual([
      'not-text',
      'not-text',
      'not-text',
      'too-large',
    ])
    expect(textOf(contextMessages(session)[0]).length).toBeLessThan(1500)
  })

  it('when its reader throws', async () => {
    const port = { read: () => Promise.reject(new Error('no disk')), exists: () => Promise.resolve(false) }
    await workspaceContext({ cwd: base, port, fileNames: ['AGENTS.md'] }).refresh(session)
    expect(recordsNow(session)).toEqual([{ path: 'AGENTS.md', status: 'left-out', reason: 'unreadable' }])
  })
})

it('a log of others cannot make it read outside the root, or a file of another name', async () => {
  write('secret.txt', 'secret')
  write('repo/notes.txt', 'secret')
  session.append(
    'user/message',
    {
      id: 'forged' as never,
      role: 'user',
      content: [{ type: 'text', text: 'Old.' }],
      source: {
        kind: 'plugin',
        plugin: 'workspace-context',
        files: [
          { path: '../secret.txt', status: 'quoted', digest: 'sha256:0' },
          { path: 'notes.txt', status: 'quoted', digest: 'sha256:0' },
          { path: join(base, 'secret.txt'), status: 'quoted', digest: 'sha256:0' },
          { path: 7 },
          null,
        ],
      },
    },
    { surfaceOp: 'append' },
  )
  await context('repo').refresh(session)
  expect(recordsNow(session).map(({ status }) => status)).toEqual(['removed', 'removed', 'removed'])
  expect(JSON.stringify(session.deriveMessages())).not.toContain('BEGIN')
})

it.each([
  [{ cwd: 'app' }, 'options/invalid'],
  [{ cwd: '/repo', fileNames: ['a/b'] }, 'options/invalid'],
  [{ cwd: '/repo', maxBytes: -1 }, 'options/invalid'],
  [{ cwd: '/repo', maxFileBytes: 1.5 }, 'options/invalid'],
  [{ cwd: '/repo', root: '/repo/app' }, 'options/outside-root'],
  [{ cwd: '/repository', root: '/repo' }, 'options/outside-root'],
])('options that cannot be meant are refused with a code: %j', (options, code) => {
  expect(() => workspaceContext(options)).toThrow(expect.objectContaining({ code }))
})
