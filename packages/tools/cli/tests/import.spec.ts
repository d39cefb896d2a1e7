import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ImportEntry } from '../src/commands/import.ts'
import { demoFileName, demoTranscript } from '../src/demo/transcript.ts'
import { type Ran, palimpsest, scratch, treeOf } from './support.ts'

const id = demoFileName.replace('.jsonl', '')
const codesOf = ({ json }: Ran): string[] =>
  (json as { sessions: ImportEntry[] }).sessions.flatMap(({ warnings }) => warnings.map(({ code }) => code))
const idsOf = ({ json }: Ran): string[] => (json as { sessions: ImportEntry[] }).sessions.map((session) => session.id)

/** A home in which Claude Code left one session, whose file is answered. */
function homeWithSession(): { readonly home: string; readonly file: string } {
  const home = scratch()
  const project = join(home, '.claude', 'projects', '-home-ada-weather-station')
  mkdirSync(project, { recursive: true })
  const file = join(project, demoFileName)
  writeFileSync(file, demoTranscript())
  return { home, file }
}

/** The transcript up to the last whole line; lines that follow go on where it ends. */
function wholeTranscript(): string {
  return demoTranscript().slice(0, demoTranscript().lastIndexOf('\n') + 1)
}

describe('import', () => {
  it('reports exactly what the specification says', async () => {
    const { file } = homeWithSession()
    const { exit, json } = await palimpsest(['import', file, '--json'], { root: scratch() })
    expect(exit).toBe(0)
    expect(Object.keys(json as object)).toEqual(['sessions'])
    const [session] = (json as { sessions: ImportEntry[] }).sessions
    expect(Object.keys(session ?? {})).toEqual(['id', 'source', 'events', 'messages', 'calls', 'answered', 'warnings'])
    expect(session).toMatchObject({ id, source: demoFileName, events: 31, messages: 4, calls: 4, answered: 3 })
    expect(session?.warnings).toContainEqual(expect.objectContaining({ code: 'line/torn', line: 14, lines: [14] }))
  })

  it('says on which lines members stand that a log has no place for', async () => {
    const { file } = homeWithSession()
    writeFileSync(file, demoTranscript().replaceAll('"timestamp":', '"weather":"rain","timestamp":'))
    const { json } = await palimpsest(['import', file, '--json'], { root: scratch() })
    const [session] = (json as { sessions: ImportEntry[] }).sessions
    expect(session?.warnings.find(({ code }) => code === 'import/left-out')).toMatchObject({
      line: 1,
      // Line 10 is the boundary of the compaction, and line 14 is torn: neither is mapped.
      lines: [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13],
    })
  })

  it('ends with the command that checks what it imported, though another session is newer', async () => {
    const root = scratch()
    const write = (name: string, year: string): string => {
      const file = join(scratch(), `${name}.jsonl`)
      writeFileSync(
        file,
        wholeTranscript()
          .replaceAll(id, name)
          .replace(/"timestamp":"\d{4}/g, `"timestamp":"${year}`),
      )
      return file
    }
    const [newer, older] = ['aaaa0001', 'bbbb0002'].map((head) => id.replace('5eed0001', head))
    await palimpsest(['import', write(newer ?? '', '2026')], { root })
    const file = write(older ?? '', '2024')
    for (let time = 0; time < 2; time++) {
      const { out } = await palimpsest(['import', file], { root })
      const command = /\nNext: palimpsest (.+)\n$/.exec(out)?.[1] ?? ''
      expect(command).toBe(`verify ${older}`)
      expect((await palimpsest(command.split(' '), { root })).out).toMatch(new RegExp(`^${older}: `))
    }
    expect((await palimpsest(['verify', 'last'], { root })).out).toMatch(new RegExp(`^${newer}: `))
  })

  it('makes attachments durable beside the log, and passes verify', async () => {
    const { file } = homeWithSession()
    const root = scratch()
    await palimpsest(['import', file], { root })
    expect(
      Object.keys(treeOf(root)).filter((path) => /attachments\/sha256\/..\/[0-9a-f]{64}$/.test(path)),
    ).toHaveLength(1)
    expect(await palimpsest(['verify', id, '--streams', '--json'], { root })).toMatchObject({
      exit: 0,
      json: { ok: true, findings: [] },
    })
  })

  it('gives images back to the provider as they came', async () => {
    const { file } = homeWithSession()
    const root = scratch()
    await palimpsest(['import', file], { root })
    const { out } = await palimpsest(['messages', id, '--at', '3', '--format', 'anthropic'], { root })
    const image = /"data":"(iVBOR[^"]+)"/.exec(demoTranscript())?.[1]
    expect(JSON.parse(out)).toMatchObject({
      messages: [{ content: [{ type: 'text' }, { type: 'image', source: { data: image } }] }],
    })
  })

  it('writes nothing for what is here already', async () => {
    const { file } = homeWithSession()
    const root = scratch()
    await palimpsest(['import', file], { root })
    const before = treeOf(root)
    const again = await palimpsest(['import', file, '--json'], { root })
    expect(again.exit).toBe(0)
    expect(codesOf(again)).toContain('import/unchanged')
    expect(treeOf(root)).toEqual(before)
  })

  it('puts attachments back that were lost', async () => {
    const { file } = homeWithSession()
    const root = scratch()
    await palimpsest(['import', file], { root })
    const before = treeOf(root)
    const attachment = Object.keys(before).find((path) => /[0-9a-f]{64}$/.test(path)) ?? ''
    rmSync(join(root, attachment))
    expect((await palimpsest(['verify', id], { root })).exit).toBe(1)
    await palimpsest(['import', file], { root })
    expect(treeOf(root)).toEqual(before)
  })

  it('goes on where a file went on', async () => {
    const { file } = homeWithSession()
    const root = scratch()
    const lines = wholeTranscript().split('\n')
    // Up to the summary: a turn has ended there, and nothing is open.
    writeFileSync(file, `${lines.slice(0, 9).join('\n')}\n`)
    await palimpsest(['import', file], { root })
    writeFileSync(file, wholeTranscript())
    const again = await palimpsest(['import', file, '--json'], { root })
    expect(codesOf(again)).toContain('import/extended')
    const fresh = scratch()
    await palimpsest(['import', file], { root: fresh })
    const [left, right] = await Promise.all(
      [root, fresh].map((each) => palimpsest(['export', id, '--to', 'jsonl'], { root: each })),
    )
    expect(left?.out).toBe(right?.out)
  })

  it('goes on where a file went on inside a turn: what it derives is what a fresh import derives', async () => {
    const { file } = homeWithSession()
    const lines = wholeTranscript().split('\n')
    for (let length = 1; length < lines.length; length += 1) {
      const root = scratch()
      writeFileSync(file, `${lines.slice(0, length).join('\n')}\n`)
      await palimpsest(['import', file], { root })
      writeFileSync(file, wholeTranscript())
      const again = await palimpsest(['import', file, '--json'], { root })
      expect([length, again.exit, codesOf(again).includes('import/changed')]).toEqual([length, 0, false])
      const fresh = scratch()
      await palimpsest(['import', file], { root: fresh })
      const [left, right] = await Promise.all(
        [root, fresh].map((each) => palimpsest(['messages', id, '--json'], { root: each })),
      )
      expect(left?.out).toBe(right?.out)
      expect((await palimpsest(['verify', id], { root })).exit).toBe(0)
      const known = await palimpsest(['import', file, '--json'], { root })
      expect(codesOf(known)).toContain('import/unchanged')
    }
  })

  it('leaves a log alone that a file no longer gives, and imports it beside when asked', async () => {
    const { file } = homeWithSession()
    const root = scratch()
    await palimpsest(['import', file], { root })
    const before = await palimpsest(['export', id, '--to', 'jsonl'], { root })
    writeFileSync(file, wholeTranscript().replaceAll('Run the tests', 'Stop'))
    const refused = await palimpsest(['import', file, '--json'], { root })
    expect([refused.exit, idsOf(refused)]).toEqual([1, [id]])
    expect(codesOf(refused)).toContain('import/changed')
    const beside = await palimpsest(['import', file, '--again', '--json'], { root })
    expect([beside.exit, idsOf(beside)]).toEqual([0, [`${id}~2`]])
    const known = await palimpsest(['import', file, '--json'], { root })
    expect([known.exit, idsOf(known)]).toEqual([0, [`${id}~2`]])
    expect((await palimpsest(['export', id, '--to', 'jsonl'], { root })).out).toBe(before.out)
  })

  it('goes on with the other files when one cannot be read, and says so at the end', async () => {
    const { file } = homeWithSession()
    const ran = await palimpsest(['import', 'no/such.jsonl', file, '--json'], { root: scratch() })
    expect([ran.exit, idsOf(ran)]).toEqual([3, [id]])
    expect(ran.err).toBe('palimpsest: source/unreadable: no/such.jsonl: there is no such file\n')
  })

  it('refuses what is no session file', async () => {
    const file = join(scratch(), 'notes.jsonl')
    writeFileSync(file, '{"hello":"world"}\n')
    const { exit, err } = await palimpsest(['import', file], { root: scratch() })
    expect(exit).toBe(1)
    expect(err).toMatch(/^palimpsest: format\/unknown: notes\.jsonl /)
  })

  it('without a file lists the sessions of the user, says how to go on, and writes nothing', async () => {
    const { home } = homeWithSession()
    const root = scratch()
    const { exit, out } = await palimpsest(['import'], { root, home })
    expect(exit).toBe(0)
    expect(out).toContain('Since this morning t…')
    expect(out).toContain('palimpsest import 5eed0001')
    expect(out).toContain('palimpsest import --all')
    expect(treeOf(root)).toEqual({})
    const { json } = await palimpsest(['import', '--json'], { root, home })
    expect(json).toMatchObject({ found: [{ id, imported: false, agents: [] }] })
  })

  it('takes the begin of an id from the list, or all of it', async () => {
    const { home } = homeWithSession()
    expect(idsOf(await palimpsest(['import', '5eed', '--json'], { root: scratch(), home }))).toEqual([id])
    const root = scratch()
    expect(idsOf(await palimpsest(['import', '--all', '--json'], { root, home }))).toEqual([id])
    const { json } = await palimpsest(['import', '--json'], { root, home })
    expect(json).toMatchObject({ found: [{ id, imported: true }] })
  })

  it('says when there is nothing to list', async () => {
    const { exit, err } = await palimpsest(['import'], { root: scratch(), home: scratch() })
    expect(exit).toBe(1)
    expect(err).toMatch(/^palimpsest: source\/nothing: no session of Claude Code, Codex or pi was found/)
  })
})
