import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { startProviderServer } from '@palimpsest/testkit'
import { beforeAll, describe, expect, it } from 'vitest'
import { bundleCommand, runCommand } from './bundle.ts'
import { widthOf } from '../src/render/text.ts'
import { palimpsest, scratch, storeEvents, wholeTurn } from './support.ts'

let program: string
beforeAll(async () => {
  program = await bundleCommand()
})

describe('the command as a process of its own', () => {
  it('tells the whole demonstration through a pipe, and leaves nothing behind', async () => {
    const temporary = join(scratch(), 'tmp')
    mkdirSync(temporary)
    const home = scratch()
    const { code, out, err } = await runCommand(program, ['demo'], { TMPDIR: temporary, HOME: home })
    expect(err).toBe('')
    expect(code).toBe(0)
    expect(out).not.toContain('\u001B')
    expect(out).toContain('SIGKILL')
    expect(out).toContain('TOOL_OUTCOME_UNKNOWN')
    expect(out).toContain('5 of 5 requests rebuilt from the log')
    expect(out).toContain('⟵ 1 entry ')
    expect(out).toMatch(/ compaction\/summary +\d+ entries/)
    expect(out).toContain('every provider takes the messages')
    const digests = out.match(/[0-9a-f]{64}/g)
    expect(digests).toHaveLength(2)
    expect(digests?.[0]).toBe(digests?.[1])
    expect(out.trimEnd().split('\n').at(-1)).toContain('palimpsest import')
    expect(readdirSync(temporary)).toEqual([])
    expect(existsSync(join(home, '.palimpsest'))).toBe(false)
  })

  it('tells it in 60 columns too, but for the digests, which are one word', async () => {
    const { exit, out } = await palimpsest(['demo'], { program, columns: 60 })
    expect(exit).toBe(0)
    const wide = out.split('\n').filter((line) => widthOf(line) > 60)
    expect(wide.filter((line) => !/[0-9a-f]{64}/.test(line))).toEqual([])
  })

  it('gives the demonstration as one JSON value', async () => {
    const { code, out } = await runCommand(program, ['demo', '--json'])
    expect(code).toBe(0)
    const { crash, requests, replay, compaction, undo } = JSON.parse(out) as Record<string, Record<string, unknown>>
    expect(crash).toMatchObject({ acknowledged: 9, closers: 3, sawUnknown: true })
    expect(requests).toEqual({ sent: 5, rebuilt: 5 })
    expect(compaction).toMatchObject({ covers: 7, standsFor: 13 })
    expect(undo).toMatchObject({ messagesBefore: 10, messagesAfter: 16, sound: true })
    expect(replay?.['disk']).toBe(replay?.['live'])
    expect(replay?.['sound']).toBe(true)
  })

  it('talks to a model, and Ctrl-C ends the conversation with the input still open', async () => {
    const root = scratch()
    await using server = await startProviderServer({
      kind: 'compatible',
      script: [{ blocks: [{ type: 'text', text: 'Hello.' }] }],
    })
    const child = spawn(
      process.execPath,
      [program, 'chat', '--model', 'compatible/tiny', '--base-url', server.baseURL, '--root', root],
      { env: { PATH: process.env['PATH'] }, stdio: ['pipe', 'pipe', 'pipe'] },
    )
    let out = ''
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString()
      if (out === 'Hello.\n') child.kill('SIGINT')
    })
    child.stderr.on('data', (chunk: Buffer) => {
      // The first one came before the turn was over.
      if (chunk.toString().includes('ending the turn')) child.kill('SIGINT')
    })
    child.stdin.write('Hi.\n')
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0)
    expect(out).toBe('Hello.\n')
    expect(await runCommand(program, ['verify', 'last', '--root', root])).toMatchObject({ code: 0 })
  })

  it('ends with the exit code of what happened', async () => {
    const root = scratch()
    await storeEvents(root, 'one', wholeTurn())
    expect(await runCommand(program, ['surface', 'one', '--root', root])).toMatchObject({ code: 0, err: '' })
    const unknown = await runCommand(program, ['show', 'two', '--root', root])
    expect(unknown).toMatchObject({ code: 2, out: '' })
    expect(unknown.err).toBe('palimpsest: session/unknown: no session is named "two": `palimpsest ls` lists them\n')
  })
})
