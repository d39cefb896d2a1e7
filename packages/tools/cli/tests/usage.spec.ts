import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sessionId } from '@palimpsest/session'
import { jsonlPersistence } from '@palimpsest/session-persistence-jsonl'
import { describe, expect, it } from 'vitest'
import { answered, call, palimpsest, said, scratch, storeEvents, wholeTurn } from './support.ts'

describe('a session is named', () => {
  it('by its id, even where that is the begin of another', async () => {
    const root = scratch()
    await storeEvents(root, 'abc', [said(0, 'short')])
    await storeEvents(root, 'abcdef', [said(0, 'long')])
    expect((await palimpsest(['messages', 'abc'], { root })).out).toContain('short')
  })

  it('by a begin that no other has', async () => {
    const root = scratch()
    await storeEvents(root, 'abc', [said(0, 'first')])
    await storeEvents(root, 'abd', [said(0, 'second')])
    expect((await palimpsest(['messages', 'abd'], { root })).out).toContain('second')
    const { exit, err } = await palimpsest(['messages', 'ab'], { root })
    expect([exit, err]).toEqual([2, 'palimpsest: session/ambiguous: 2 sessions begin with ab: abd, abc\n'])
  })

  it('by `last`, the one whose last event is the newest, which is meant where none is named', async () => {
    const root = scratch()
    await storeEvents(root, 'z-old', [said(0, 'old')])
    await storeEvents(root, 'a-new', [said(0, 'new')])
    expect((await palimpsest(['messages', 'last'], { root })).out).toContain('new')
    expect((await palimpsest(['messages'], { root })).out).toContain('new')
  })

  it('in the store of --root, else of PALIMPSEST_ROOT, else below the home', async () => {
    const home = scratch()
    await storeEvents(join(home, '.palimpsest', 'sessions'), 'at-home', [said(0, 'x')])
    const [other, given] = [scratch(), scratch()]
    await storeEvents(other, 'in-env', [said(0, 'x')])
    await storeEvents(given, 'in-option', [said(0, 'x')])
    const idsIn = async (argv: string[], options: Parameters<typeof palimpsest>[1]): Promise<string[]> => {
      const { json } = await palimpsest(['ls', '--json', ...argv], options)
      return (json as { sessions: { id: string }[] }).sessions.map(({ id }) => id)
    }
    expect(await idsIn([], { home })).toEqual(['at-home'])
    expect(await idsIn([], { home, root: other })).toEqual(['in-env'])
    expect(await idsIn(['--root', given], { home, root: other })).toEqual(['in-option'])
  })
})

describe('the exit code', () => {
  it('is 2 for a wrong command line, with one line that says what is wrong', async () => {
    const root = scratch()
    await storeEvents(root, 's', wholeTurn())
    for (const line of [
      ['nonsense'],
      ['show', '--bogus'],
      ['show', 's', '--from', '99'],
      ['explain', 's', 'x'],
      ['explain'],
      ['messages', 's', '--format', 'xml'],
      ['export', 's'],
      ['verify', 's', '--all'],
      ['repair'],
      ['show', 'nobody'],
    ]) {
      const { exit, out, err } = await palimpsest(line, { root })
      expect([line, exit, out]).toEqual([line, 2, ''])
      expect(err.trimEnd().split('\n')).toHaveLength(1)
      expect(err).not.toMatch(/\bat .*:\d+/)
    }
  })

  it('is 2 where there is nothing yet, and the way out is named', async () => {
    const { exit, err } = await palimpsest(['show'], { root: scratch() })
    expect([exit, err]).toEqual([
      2,
      'palimpsest: store/empty: the store holds no session yet: `palimpsest import` brings some in\n',
    ])
  })

  it('is 3 when the system refuses, without a path that nobody typed', async () => {
    const { exit, err } = await palimpsest(['import', 'no/such.jsonl'], { root: scratch() })
    expect([exit, err]).toEqual([3, 'palimpsest: source/unreadable: no/such.jsonl: there is no such file\n'])
    const file = join(scratch(), 'file')
    writeFileSync(file, '')
    const listed = await palimpsest(['import', join(file, 'x.jsonl')], { root: scratch() })
    expect(listed.exit).toBe(3)
  })

  it('is 3 for a root that no file system takes, named by nobody but its user', async () => {
    const root = `/${'x'.repeat(5000)}`
    const { exit, err } = await palimpsest(['ls'], { root })
    expect([exit, err]).toEqual([3, 'palimpsest: io/read: the sessions were not listed: ENAMETOOLONG\n'])
  })

  it('is 1 where messages cannot be exported as they are', async () => {
    const root = scratch()
    await storeEvents(root, 's', [said(0, 'Go.'), answered(1, [call('c1')])])
    const { exit, err } = await palimpsest(['messages', 's', '--format', 'anthropic'], { root })
    expect(exit).toBe(1)
    expect(err).toMatch(/^palimpsest: messages\/open-calls: /)
  })

  it('is 3 while another writer holds the session that is to be repaired', async () => {
    const root = scratch()
    await storeEvents(root, 's', wholeTurn())
    const store = jsonlPersistence({ root })
    const handle = await store.open(sessionId('s'), 'write')
    const { exit, err } = await palimpsest(['repair', 's'], { root })
    await handle.close()
    await store.close()
    expect(exit).toBe(3)
    expect(err).toContain(`session/locked: session "s" is held by process ${process.pid}`)
  })
})

describe('the help', () => {
  it('says which version this is', async () => {
    expect(await palimpsest(['--version'])).toMatchObject({
      exit: 0,
      out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string,
    })
  })

  it('says which session `last` is', async () => {
    const { out } = await palimpsest(['verify', '--help'])
    expect(out.replaceAll(/\s+/g, ' ')).toContain('`last`: the one whose last event is the newest')
  })

  it('of every command has examples that begin with its name', async () => {
    const { exit, out } = await palimpsest(['--help'])
    expect(exit).toBe(0)
    const names = [...out.matchAll(/^ {2}([a-z]+) \[/gm)].map(([, name]) => name ?? '')
    expect(names).toEqual(
      'import ls show surface messages request explain diff stats verify repair salvage fork migrate compact prune chat export demo'.split(
        ' ',
      ),
    )
    for (const name of names) {
      const help = await palimpsest([name, '--help'])
      expect(help.exit).toBe(0)
      expect(help.out).toContain(`Examples:\n  $ palimpsest ${name}`)
      expect(help.out).toContain('--json')
      expect(help.out).toContain('--root <dir>')
    }
  })
})
