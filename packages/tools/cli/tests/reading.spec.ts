import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { answered, call, event, logOf, palimpsest, result, said, scratch, storeEvents, wholeTurn } from './support.ts'

/** A session in which a summary took the place of the first prompt, call and answer. */
let root: string
beforeAll(async () => {
  root = scratch()
  await storeEvents(root, 's', [
    event(
      0,
      'system/message',
      { turn: 1, step: 1, message: { id: 'h', role: 'system', content: [], source: { kind: 'plugin', plugin: 'p' } } },
      { surfaceOp: 'append' },
    ),
    said(1, 'Look at \u001B[31mthis\u001B[0m.'),
    answered(2, [{ type: 'text', text: 'Looking.' }, call('c1')]),
    result(3, 'c1'),
    said(4, 'Summary.', { surfaceOp: { op: 'replace', startSeq: 1, endSeq: 3 }, sourceEventSeqs: [1, 2, 3] }),
    said(5, 'And now?'),
  ])
})

const json = async (...argv: string[]): Promise<unknown> => (await palimpsest([...argv, '--json'], { root })).json

describe('reading a session', () => {
  it('show gives each event with its place', async () => {
    expect(await json('show', 's', '--from', '1', '--to', '4')).toMatchObject({
      session: { id: 's' },
      events: [
        { seq: 1, onSurface: false, shadowedBy: 4 },
        { seq: 2, onSurface: false, shadowedBy: 4 },
        { seq: 3, onSurface: false, shadowedBy: 4 },
        { seq: 4, onSurface: true },
      ],
    })
  })

  it('show marks what stands, what was written over, and what is in the log only', async () => {
    const { out } = await palimpsest(['show', 's'], { root })
    expect(out).toMatch(/^○ 1 {2}user\/message.*\[under 4\]/m)
    expect(out).toMatch(/^● 4 {2}user\/message.*\[covers 3\]/m)
    const turn = scratch()
    await storeEvents(turn, 't', wholeTurn())
    expect((await palimpsest(['show', 't'], { root: turn })).out).toMatch(/^· 0 {2}turn\/start/m)
  })

  it('show lets no terminal act on what a log holds', async () => {
    const { out } = await palimpsest(['show', 's'], { root })
    expect(out).not.toContain('\u001B')
    expect(out).toContain('␛[31mthis')
  })

  it('show takes types and whole areas', async () => {
    const { events } = (await json('show', 's', '--type', 'tool/*', '--type', 'system/message')) as {
      events: { seq: number }[]
    }
    expect(events.map(({ seq }) => seq)).toEqual([0, 3])
  })

  it('surface gives nodes and replaceGeneration, now and earlier', async () => {
    expect(await json('surface', 's')).toEqual({ nodes: [0, 4, 5], replaceGeneration: 1 })
    expect(await json('surface', 's', '--at', '3')).toEqual({ nodes: [0, 1, 2, 3], replaceGeneration: 0 })
    expect(await json('surface', 's', '--at', '-1')).toEqual({ nodes: [], replaceGeneration: 0 })
  })

  it('messages derives what the model sees, now and earlier', async () => {
    const textsOf = (value: unknown): string[] => (value as { messages: { id: string }[] }).messages.map(({ id }) => id)
    expect(textsOf(await json('messages', 's'))).toEqual(['u4', 'u5'])
    expect(textsOf(await json('messages', 's', '--at', '2'))).toEqual(['u1', 'a2'])
  })

  it('messages are in a provider’s form where one is named', async () => {
    expect(await json('messages', 's', '--format', 'openai')).toMatchObject({
      messages: [
        { role: 'user', content: 'Summary.' },
        { role: 'user', content: 'And now?' },
      ],
    })
    const { out } = await palimpsest(['messages', 's', '--format', 'anthropic'], { root })
    expect(JSON.parse(out)).toEqual({
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Summary.' }] },
        { role: 'user', content: [{ type: 'text', text: 'And now?' }] },
      ],
    })
  })

  it('explain traces an event, of the last session where none is named', async () => {
    const found = {
      seq: 4,
      onSurface: true,
      shadows: [1, 2, 3],
      cites: [1, 2, 3],
      origins: [1, 2, 3],
      event: { type: 'user/message' },
    }
    expect(await json('explain', 's', '4')).toMatchObject(found)
    expect(await json('explain', '4')).toMatchObject(found)
    expect((await palimpsest(['explain', '2'], { root })).out).toContain('It was shadowed by event 4')
    expect((await palimpsest(['explain', '5'], { root })).out).toContain('the model sees it')
  })

  it('stats counts the whole log', async () => {
    expect(await json('stats', 's')).toMatchObject({
      id: 's',
      events: 6,
      messages: 2,
      surface: { entries: 3, shadowed: 3, replacements: 1 },
      calls: { made: 1, answered: 1, errors: 0, interrupted: 0 },
      tools: { run: 1 },
      models: { m: 1 },
      attachments: { count: 0, bytes: 0 },
    })
    expect((await palimpsest(['stats', 's'], { root })).out).toContain('1 made, 1 answered')
  })

  it('ls gives what heads and tails tell', async () => {
    expect(await json('ls')).toMatchObject({ sessions: [{ id: 's', events: 6, createdAt: 1_700_000_000_000 }] })
    expect((await palimpsest(['ls'], { root })).out).toMatch(/^s .* 6 /m)
  })

  it('export writes a request body, and says on stderr that something was changed', async () => {
    const { out } = await palimpsest(['export', 's', '--to', 'anthropic', '--model', 'claude-x'], { root })
    expect(JSON.parse(out)).toMatchObject({ model: 'claude-x', messages: [{ role: 'user' }, { role: 'user' }] })
    expect(await json('export', 's', '--to', 'openai-chat')).toMatchObject({
      format: 'openai-chat',
      body: { messages: [{}, {}] },
      report: { notes: [] },
    })
  })

  it('export and messages write the forms of Responses and of DeepSeek', async () => {
    expect(await json('export', 's', '--to', 'openai-responses', '--model', 'gpt-5')).toMatchObject({
      format: 'openai-responses',
      body: { model: 'gpt-5', store: false, input: [{ role: 'user' }, { role: 'user' }] },
    })
    expect(await json('export', 's', '--to', 'deepseek')).toMatchObject({ body: { messages: [{}, {}] } })
    expect(await json('messages', 's', '--format', 'openai-responses')).toMatchObject({ input: [{}, {}] })
    expect(await json('messages', 's', '--format', 'openai')).toMatchObject({ messages: [{}, {}] })
  })

  it('export writes a transcript to read, of the surface or of the whole log', async () => {
    const { out, err } = await palimpsest(['export', 's', '--to', 'markdown'], { root })
    expect([out.split('\n')[0], err]).toEqual(['# Session s', ''])
    const log = await json('export', 's', '--to', 'markdown', '--history', 'log')
    expect(log).toMatchObject({ format: 'markdown', text: expect.stringMatching(/\*Replaced by #\d+\.\*/) })
    expect(out).not.toContain('*Replaced by')
  })

  it('export writes session files of other agents, and counts on stderr what they cannot hold', async () => {
    for (const format of ['claude-code', 'codex', 'pi']) {
      const { out, err } = await palimpsest(['export', 's', '--to', format], { root })
      const { text, report } = (await json('export', 's', '--to', format)) as {
        text: string
        report: { losses: { code: string; count: number }[] }
      }
      expect(out).toBe(text)
      const told = report.losses.map(({ code, count }) => `${count} ${code}`).join(', ')
      expect(err).toBe(`palimpsest: not in the file: ${told}: --json says what they are\n`)
    }
  })

  it('export writes the log itself, line for line as the store holds it', async () => {
    const { out } = await palimpsest(['export', 's', '--to', 'jsonl'], { root })
    const trimmed = readFileSync(logOf(root, 's'), 'utf8').replaceAll(/ +$/gm, '')
    expect(out).toBe(trimmed)
  })

  it('uses colours on a terminal only, and not against the wish of the user', async () => {
    const coloured = await palimpsest(['show', 's', '--root', root], { isStdoutTty: true, env: {} })
    expect(coloured.out).toContain('\u001B[')
    const plain = await palimpsest(['show', 's', '--root', root], { isStdoutTty: true, env: { NO_COLOR: '1' } })
    expect(plain.out).not.toContain('\u001B')
  })
})
