import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { samplePath, samplesOf } from '@palimpsest/testkit'
import { describe, expect, it } from 'vitest'
import type { MigrationEntry } from '../src/commands/migrate.ts'
import { palimpsest, scratch, treeOf } from './support.ts'

const step = { turn: 1, step: 1 }

/** A session that an older program wrote in version 2, one row per line. */
function oldLog(id: string, ...words: readonly string[]): string {
  const rows: object[] = [
    { type: 'turn/start', data: { turn: 1 } },
    { type: 'step/start', data: step },
    ...words.map((text, at) => ({
      type: 'user/message',
      data: { id: `${id}-${at}`, role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } },
      surfaceOp: 'append',
    })),
    {
      type: 'request/header',
      data: { header: { config: { provider: 'acme', model: 'acme-1' }, system: 'Be brief.' }, reason: 'initial' },
    },
    { type: 'todo/write', data: { todos: [] } },
    { type: 'step/end', data: step },
    { type: 'turn/end', data: { turn: 1, reason: { kind: 'completed' } } },
  ]
  const header = { type: 'session', version: 2, id, createdAt: 1000, isSeeded: false, delegationDepth: 0 }
  return [header, ...rows.map((row, seq) => ({ ...row, seq, time: 2000 + seq }))]
    .map((row) => `${JSON.stringify(row)}\n`)
    .join('')
}

function stored(name: string, text: string): string {
  const path = join(scratch(), name)
  writeFileSync(path, text)
  return path
}

const entries = (json: unknown): readonly MigrationEntry[] => (json as { migrations: MigrationEntry[] }).migrations

/** What `verify` says of a successor that stands where the store looks for the log of its session. */
async function verified(successor: string, id: string): Promise<unknown> {
  const root = scratch()
  const directory = join(root, '_', id)
  mkdirSync(directory, { recursive: true })
  copyFileSync(successor, join(directory, 'session.v3.jsonl'))
  return (await palimpsest(['verify', id, '--json'], { root })).json
}

describe('migrate', () => {
  it('writes an old log anew beside itself, whose file stays as it was', async () => {
    const path = stored('session.v2.jsonl', oldLog('s1', 'Hello', 'and more'))
    const before = readFileSync(path)
    const { exit, json, err } = await palimpsest(['migrate', path, '--json'])
    expect([exit, err]).toEqual([0, ''])
    const successor = join(path, '..', 'session.palimpsest.v3.jsonl')
    expect(json).toEqual({
      migrations: [
        {
          source: 'session.v2.jsonl',
          from: 2,
          id: 's1',
          successor,
          events: 10,
          messages: 3,
          notes: [],
          sha256: createHash('sha256').update(before).digest('hex'),
        },
      ],
    })
    expect(readFileSync(path)).toEqual(before)
    expect(await verified(successor, 's1')).toMatchObject({ ok: true, findings: [] })
  })

  it('says for people what became of which file', async () => {
    const path = stored('session.jsonl', `${oldLog('s1', 'Hello')}{"type":"turn/e`)
    const { out } = await palimpsest(['migrate', path])
    expect(out).toMatch(
      /^\+ .*session\.palimpsest\.v3\.jsonl from session\.jsonl, version 2\n {2}s1: 9 events, 2 messages\n/,
    )
    expect(out).toContain('tail/torn (line 9)')
  })

  it('overwrites nothing, and goes on with the other files', async () => {
    const path = stored('session.jsonl', oldLog('s1', 'Hello'))
    await palimpsest(['migrate', path])
    const before = treeOf(join(path, '..'))
    const other = stored('session.jsonl', oldLog('s2', 'Hello'))
    const { exit, err, json } = await palimpsest(['migrate', path, other, '--json'])
    expect(exit).toBe(1)
    expect(err).toMatch(/^palimpsest: format\/exists: .*session\.palimpsest\.v3\.jsonl is there already/)
    expect(entries(json).map(({ id }) => id)).toEqual(['s2'])
    expect(treeOf(join(path, '..'))).toEqual(before)
  })

  it('says of several files which one was refused', async () => {
    const refused = oldLog('s1', 'Hello').replace('todo/write', 'acme/unheard-of')
    const paths = [stored('session.jsonl', refused), stored('session.jsonl', refused)]
    const { exit, err } = await palimpsest(['migrate', ...paths])
    expect(exit).toBe(1)
    const lines = err.trimEnd().split('\n')
    expect(lines.map((line) => paths.findIndex((path) => line.endsWith(`(${path})`)))).toEqual([0, 1])
  })

  it('FV-03: migrates what an old version wrote after others were migrated', async () => {
    const directory = scratch()
    for (const id of ['early', 'late']) {
      mkdirSync(join(directory, id))
      writeFileSync(join(directory, id, 'session.jsonl'), oldLog(id, 'Hello'))
      const { exit } = await palimpsest(['migrate', join(directory, id, 'session.jsonl')])
      expect(exit).toBe(0)
    }
    const grown = join(directory, 'early', 'session.jsonl')
    writeFileSync(grown, oldLog('early', 'Hello', 'again'))
    mkdirSync(join(directory, 'again'))
    const { json } = await palimpsest(['migrate', grown, '--out', join(directory, 'again'), '--json'])
    expect(entries(json)).toMatchObject([{ id: 'early', messages: 3 }])
  })

  it('says that a log of this library needs no migration', async () => {
    const path = stored('session.jsonl', oldLog('s1', 'Hello'))
    await palimpsest(['migrate', path])
    const { exit, err } = await palimpsest(['migrate', join(path, '..', 'session.palimpsest.v3.jsonl')])
    expect(exit).toBe(1)
    expect(err).toMatch(/^palimpsest: format\/ours: session\.palimpsest\.v3\.jsonl: .*nothing to migrate\n$/)
  })

  it.each([
    [
      'a refusal',
      1,
      oldLog('s1', 'Hello').replace('todo/write', 'acme/unheard-of'),
      /format\/unsupported: .*acme\/unheard-of/,
    ],
    ['a newer version', 1, oldLog('s1').replace('"version":2', '"version":9'), /format\/newer-version: .*upgrade/],
    ['what is no log', 1, '{"hello":"world"}\n', /format\/not-a-log: old\.jsonl: /],
    ['an empty file', 1, '', /format\/not-a-log: old\.jsonl: /],
  ])('exits with its own code for %s, and writes nothing', async (_, code, text, line) => {
    const path = stored('old.jsonl', text)
    const { exit, err, out } = await palimpsest(['migrate', path])
    expect([exit, out]).toEqual([code, ''])
    expect(err).toMatch(line)
    expect(readdirSync(join(path, '..'))).toEqual(['old.jsonl'])
  })

  it('exits with 2 without a file, and with 3 where one cannot be read or the directory is not there', async () => {
    expect((await palimpsest(['migrate'])).exit).toBe(2)
    const missing = await palimpsest(['migrate', 'no/such.jsonl'])
    expect([missing.exit, missing.err]).toEqual([
      3,
      'palimpsest: source/unreadable: no/such.jsonl: there is no such file\n',
    ])
    const path = stored('old.jsonl', oldLog('s1', 'Hello'))
    const nowhere = await palimpsest(['migrate', path, '--out', join(path, 'nowhere')])
    expect([nowhere.exit, nowhere.err]).toEqual([3, expect.stringMatching(/^palimpsest: io\/\w+: .*ENOTDIR/) as string])
  })

  it.skipIf(samplesOf('deepseek-harness').length === 0)(
    'takes every recorded log, and each successor verifies',
    async () => {
      const out = scratch()
      const paths = samplesOf('deepseek-harness').map(samplePath)
      const { exit, err, json } = await palimpsest(['migrate', ...paths, '--normalised', '--out', out, '--json'])
      expect([exit, err]).toEqual([0, ''])
      const migrations = entries(json)
      expect(migrations).toHaveLength(paths.length)
      for (const { id, successor, source } of migrations) {
        const plain = id.replaceAll(/[{}:]/g, '').toLowerCase()
        const copy = stored('copy.jsonl', readFileSync(successor, 'utf8').replaceAll(id, plain))
        const report = (await verified(copy, plain)) as { findings: { severity: string }[] }
        expect([source, report.findings.filter(({ severity }) => severity === 'error')]).toEqual([source, []])
      }
    },
  )
})
