import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, cpSync, openSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Salvage } from '../src/commands/salvage.ts'
import { argument } from '../src/render/text.ts'
import { bundleCommand } from './bundle.ts'
import { event, logOf, palimpsest, scratch, storeEvents, treeOf, wholeTurn } from './support.ts'

async function stored(id = 's', events: readonly object[] = wholeTurn()): Promise<string> {
  const root = scratch()
  await storeEvents(root, id, events)
  return root
}

function rewrite(root: string, change: (text: string) => string): void {
  writeFileSync(logOf(root, 's'), change(readFileSync(logOf(root, 's'), 'utf8')))
}

describe('a log whose header line was lost', () => {
  it('is said to be so, and salvage keeps the record that now stands first', async () => {
    const root = await stored()
    rewrite(root, (text) => text.slice(text.indexOf('\n') + 1))
    const { exit, out } = await palimpsest(['verify', 's'], { root })
    expect(exit).toBe(1)
    expect(out).toMatch(/line 1: the header is missing[^]*mend it: palimpsest salvage s/)
    const { json } = await palimpsest(['salvage', 's', '--json'], { root })
    const { source, sessions } = json as Salvage
    expect(source.why).toContain('the header is missing')
    expect(sessions).toMatchObject([{ events: wholeTurn().length, missing: [], unplaced: [] }])
  })

  it('gives back a record that is glued to a piece of the header', async () => {
    const root = await stored()
    rewrite(root, (text) => `${text.slice(0, 30)}${text.slice(text.indexOf('\n') + 1)}`)
    const { json } = await palimpsest(['salvage', 's', '--json'], { root })
    expect(json).toMatchObject({ bytes: { header: 30 }, sessions: [{ events: wholeTurn().length, missing: [] }] })
    // The name of the damaged log is not taken for the begin of the new one's.
    expect(await palimpsest(['repair', 's'], { root })).toMatchObject({
      exit: 1,
      err: expect.stringMatching(/session\/corrupt: .*the header line cannot be read/) as string,
    })
  })

  it('is found by the name of its directory, and salvage does not take its own work for it', async () => {
    const root = await stored()
    rewrite(root, () => 'no header\nand no record\n')
    expect(await palimpsest(['verify', 's', '--json'], { root })).toMatchObject({
      exit: 1,
      json: { ok: false, findings: [{ code: 'header/invalid', fix: 'palimpsest salvage s' }] },
    })
    await palimpsest(['salvage', 's'], { root })
    const { json } = await palimpsest(['salvage', 's', '--json'], { root })
    expect(json).toMatchObject({ source: { id: 's' }, sessions: [{ wasThere: true, unplaced: [{ line: 2 }] }] })
  })
})

describe('a directory that was copied or renamed', () => {
  it('keeps no other session from being verified, and salvage brings its log back', async () => {
    const root = await stored()
    await storeEvents(root, 'other', wholeTurn())
    const home = dirname(logOf(root, 's'))
    renameSync(home, join(dirname(home), 'renamed'))
    expect(await palimpsest(['verify', '--all', '--json'], { root })).toMatchObject({
      exit: 1,
      json: { findings: [{ code: 'header/invalid', fix: 'palimpsest salvage renamed' }] },
    })
    const { json } = await palimpsest(['salvage', 'renamed', '--json'], { root })
    expect(json).toMatchObject({ sessions: [{ events: wholeTurn().length }] })
  })

  it('is no second session of the list', async () => {
    const root = await stored()
    const home = dirname(logOf(root, 's'))
    cpSync(home, `${home}-copy`, { recursive: true })
    expect(await palimpsest(['ls', '--json'], { root })).toMatchObject({ json: { sessions: [{ id: 's' }] } })
    expect(await palimpsest(['verify', '--all', '--json'], { root })).toMatchObject({ exit: 0, json: { findings: [] } })
  })
})

describe('repair', () => {
  it('writes nothing to a log that acceptance refuses', async () => {
    const events = [...wholeTurn(), event(wholeTurn().length, 'turn/start', { turn: 'one' })]
    const root = await stored('s', events)
    const before = treeOf(root)
    const { exit, err } = await palimpsest(['repair', 's'], { root })
    expect(exit).toBe(1)
    expect(err).toMatch(/^palimpsest: payload\/invalid: .*palimpsest verify/)
    expect(treeOf(root)).toEqual(before)
  })
})

describe('the root', () => {
  it('is no file and not nothing', async () => {
    const file = join(scratch(), 'file')
    writeFileSync(file, '')
    expect(await palimpsest(['ls', '--root', file])).toMatchObject({
      exit: 3,
      err: expect.stringMatching(/io\/read: .*ENOTDIR/) as string,
    })
    expect(await palimpsest(['ls', '--root', ''])).toMatchObject({
      exit: 2,
      err: expect.stringMatching(/option\/invalid/) as string,
    })
  })

  it.runIf(process.platform !== 'win32')('may hold a pipe where a log should be', async () => {
    const root = await stored()
    const log = logOf(root, 's')
    renameSync(log, `${log}.aside`)
    execFileSync('mkfifo', [log])
    expect(await palimpsest(['ls', '--json'], { root })).toMatchObject({ exit: 0, json: { sessions: [] } })
    const { exit, json } = await palimpsest(['verify', '--all', '--json'], { root })
    expect([exit, json]).toMatchObject([1, { findings: [{ code: 'path/unsafe', severity: 'error' }] }])
    rmSync(log)
    symlinkSync(`${log}.aside`, log)
    expect(await palimpsest(['verify', '--all', '--json'], { root })).toMatchObject({ exit: 1, json })
    expect(await palimpsest(['verify', 's'], { root })).toMatchObject({
      exit: 3,
      err: expect.stringMatching(/path\/unsafe/) as string,
    })
  })
})

describe.runIf(process.platform === 'linux')('a full disk under stdout', () => {
  it('is told in one line and exits 3', async () => {
    const program = await bundleCommand()
    const full = openSync('/dev/full', 'w')
    const { status, stderr } = spawnSync(process.execPath, [program, '--help'], { stdio: ['ignore', full, 'pipe'] })
    closeSync(full)
    expect([status, stderr.toString()]).toEqual([3, 'palimpsest: io/write: the system answered ENOSPC\n'])
  })
})

describe.runIf(process.platform !== 'win32')('import', () => {
  it('waits for no pipe', async () => {
    const pipe = join(scratch(), 'pipe')
    execFileSync('mkfifo', [pipe])
    expect(await palimpsest(['import', pipe], { root: scratch() })).toMatchObject({
      exit: 3,
      err: expect.stringMatching(/source\/unreadable: .*no regular file/) as string,
    })
  })
})

describe('a command that is shown', () => {
  it('names any session so that a shell takes it for one word', () => {
    expect(argument('29ccd257~2')).toBe('29ccd257~2')
    expect(['~', 'a b', "it's", '$(x)', '-x', ''].map(argument)).toEqual([
      "'~'",
      "'a b'",
      "'it'\\''s'",
      "'$(x)'",
      "-- '-x'",
      "''",
    ])
  })
})
