import { createHash } from 'node:crypto'
import { appendFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { answered, call, event, logOf, palimpsest, result, said, scratch, storeEvents, wholeTurn } from './support.ts'

interface Verified {
  readonly ok: boolean
  readonly findings: readonly {
    readonly code: string
    readonly severity: string
    readonly seq?: number
    readonly fix?: string
  }[]
}

async function verify(root: string, ...options: string[]): Promise<Verified & { exit: number }> {
  const { exit, json, err } = await palimpsest(
    ['verify', ...(options.includes('--all') ? [] : ['s']), ...options, '--json'],
    { root },
  )
  expect(err).toBe('')
  return { exit, ...(json as Verified) }
}

async function stored(events: readonly object[]): Promise<string> {
  const root = scratch()
  await storeEvents(root, 's', events)
  return root
}

const image = (bytes: Buffer): object => ({
  type: 'image',
  attachment: {
    attachmentId: `sha256:${createHash('sha256').update(bytes).digest('hex')}`,
    mediaType: 'image/png',
    bytes: bytes.length,
  },
})

describe('verify', () => {
  it('finds nothing wrong with a whole turn', async () => {
    expect(await verify(await stored(wholeTurn()), '--streams')).toEqual({ exit: 0, ok: true, findings: [] })
  })

  it('names the torn tail and the command that mends it', async () => {
    const root = await stored(wholeTurn())
    appendFileSync(logOf(root, 's'), '{"type":"turn/st')
    const { exit, ok, findings } = await verify(root)
    expect([exit, ok]).toEqual([1, false])
    expect(findings).toMatchObject([{ code: 'store/torn-tail', severity: 'warning', fix: 'palimpsest repair s' }])
  })

  it('names the closers that an interrupted turn waits for', async () => {
    const { exit, findings } = await verify(await stored(wholeTurn().slice(0, 5)))
    expect(exit).toBe(1)
    expect(findings).toMatchObject([
      { code: 'closers/pending', severity: 'warning', seq: 5, fix: 'palimpsest repair s' },
    ])
  })

  it('takes harmless noise for an info, which is no reason to fail', async () => {
    const root = await stored(wholeTurn())
    const log = logOf(root, 's')
    const lines = readFileSync(log, 'utf8').split('\n')
    lines.splice(3, 0, '')
    writeFileSync(log, lines.join('\n'))
    expect(await verify(root)).toMatchObject({
      exit: 0,
      ok: true,
      findings: [{ code: 'store/blank', severity: 'info' }],
    })
  })

  it('names a missing record, and salvage', async () => {
    const root = await stored(wholeTurn())
    const log = logOf(root, 's')
    writeFileSync(
      log,
      readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => !line.includes('"seq":4,'))
        .join('\n'),
    )
    const { exit, findings } = await verify(root)
    expect(exit).toBe(1)
    expect(findings).toMatchObject([{ code: 'session/corrupt', severity: 'error', fix: 'palimpsest salvage s' }])
  })

  it('names the first event that a rule of acceptance refuses', async () => {
    const { exit, findings } = await verify(await stored([said(0, 'Hello.'), result(1, 'nobody'), said(2, 'Well?')]))
    expect(exit).toBe(1)
    expect(findings).toMatchObject([
      { code: 'pairing/unknown-call', severity: 'error', seq: 1, fix: 'palimpsest salvage s' },
    ])
  })

  it('shows what traces say as an info, since no command mends it', async () => {
    const root = await stored([event(0, 'turn/end', { turn: 1, reason: { kind: 'completed' } })])
    expect(await verify(root)).toMatchObject({
      exit: 0,
      ok: true,
      findings: [{ code: 'trace/turn', severity: 'info', seq: 0 }],
    })
  })

  it('shows event types that nobody knows as an info, since no command mends it', async () => {
    const { exit, ok, findings } = await verify(await stored([event(0, 'weather/report', { rain: true })]))
    expect([exit, ok]).toEqual([0, true])
    expect(findings).toMatchObject([{ code: 'vocabulary/unknown', severity: 'info', seq: 0 }])
    expect(findings[0]).not.toHaveProperty('fix')
  })

  it('tells a missing attachment from one with wrong bytes', async () => {
    const bytes = Buffer.from('a picture')
    const message = { id: 'u0', role: 'user', content: [image(bytes)], source: { kind: 'user' } }
    const root = await stored([event(0, 'user/message', message, { surfaceOp: 'append' })])
    expect((await verify(root)).findings).toMatchObject([{ code: 'attachment/missing', severity: 'warning', seq: 0 }])
    const digest = createHash('sha256').update(bytes).digest('hex')
    const folder = join(dirname(logOf(root, 's')), 'attachments', 'sha256', digest.slice(0, 2))
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(join(folder, digest), 'a pictuRe')
    expect((await verify(root)).findings).toMatchObject([{ code: 'attachment/wrong', severity: 'warning', seq: 0 }])
    writeFileSync(join(folder, digest), bytes)
    expect((await verify(root)).findings).toEqual([])
  })

  it('replays streams against their messages only when asked', async () => {
    const stream = [{ type: 'text-chunks', time0: 1, index: 0, dt: [1], texts: ['Good ', 'bye.'] }]
    const root = await stored([said(0, 'Hello.'), answered(1, [{ type: 'text', text: 'Good day.' }], { stream })])
    const codes = async (...options: string[]): Promise<string[]> =>
      (await verify(root, ...options)).findings.map(({ code }) => code)
    expect(await codes()).not.toContain('stream/mismatch')
    expect(await codes('--streams')).toContain('stream/mismatch')
  })

  it('agrees with a stream whose call ids were minted anew', async () => {
    const stream = [{ type: 'tool-call-chunks', time0: 1, index: 0, dt: [], id: 'theirs', name: 'run', args: ['{}'] }]
    const root = await stored([said(0, 'Hello.'), answered(1, [call('ours')], { stream }), result(2, 'ours')])
    const codes = (await verify(root, '--streams')).findings.map(({ code }) => code)
    expect(codes.filter((code) => code.startsWith('stream/'))).toEqual([])
  })

  it('names a stream that nothing could have written', async () => {
    const stream = [{ type: 'text-chunks', time0: 1, index: 0, dt: [1, 2], texts: ['x'] }]
    const root = await stored([said(0, 'Hello.'), answered(1, [{ type: 'text', text: 'x' }], { stream })])
    expect((await verify(root, '--streams')).findings).toContainEqual(
      expect.objectContaining({ code: 'stream/invalid', severity: 'error', seq: 1 }),
    )
  })

  it('goes through all sessions, and says of which each finding is', async () => {
    const root = await stored(wholeTurn())
    await storeEvents(root, 'broken', wholeTurn().slice(0, 5))
    const { exit, ok, findings } = await verify(root, '--all')
    expect([exit, ok]).toEqual([1, false])
    expect(findings).toMatchObject([{ session: 'broken', code: 'closers/pending' }])
  })

  it('names logs that no list shows, since their header is gone', async () => {
    const root = await stored(wholeTurn())
    await storeEvents(root, 'Lost', wholeTurn())
    await storeEvents(root, 'future', wholeTurn())
    for (const [id, change] of [
      ['~4cost', (text: string): string => text.replace('{', '')],
      ['future', (text: string): string => text.replace('"version":3', '"version":4')],
    ] as const) {
      writeFileSync(logOf(root, id), change(readFileSync(logOf(root, id), 'utf8')))
    }
    const { exit, findings } = await verify(root, '--all')
    expect(exit).toBe(1)
    expect(findings).toMatchObject([
      { code: 'header/newer-version', severity: 'error', fix: 'upgrade palimpsest' },
      { code: 'header/invalid', severity: 'error', fix: 'palimpsest salvage Lost' },
    ])
    expect((await palimpsest(['verify', '--all'], { root })).out).toContain('palimpsest salvage Lost')
    const { exit: alone, json } = await palimpsest(['verify', 'future', '--json'], { root })
    expect([alone, json]).toMatchObject([
      1,
      { findings: [{ code: 'header/newer-version', fix: 'upgrade palimpsest' }] },
    ])
  })

  it('says in plain words what is wrong', async () => {
    const root = await stored(wholeTurn())
    const log = logOf(root, 's')
    truncateSync(log, readFileSync(log).length - 9)
    const { exit, out } = await palimpsest(['verify', 's'], { root })
    expect(exit).toBe(1)
    expect(out).toContain('the log ends in a record that was not written to its end')
    expect(out).toContain('palimpsest repair s')
  })
})
