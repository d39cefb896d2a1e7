import {
  type ServedReply,
  startProviderServer,
  type ProviderKind,
  type ProviderServer,
  type ServerScript,
} from '@palimpsest/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { type RunOptions, answered, palimpsest, said, scratch, storeEvents, treeOf, wholeTurn } from './support.ts'

const servers: ProviderServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

async function serverOf(kind: ProviderKind, script: ServerScript): Promise<ProviderServer> {
  const server = await startProviderServer({ kind, script })
  servers.push(server)
  return server
}

const says = (text: string): ServedReply => ({ blocks: [{ type: 'text', text }] })

async function* typed(...lines: string[]): AsyncGenerator<string> {
  for (const line of lines) yield `${line}\n`
}

const keys = { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k', DEEPSEEK_API_KEY: 'k' }

interface Chat {
  readonly root: string
  readonly server: ProviderServer
  readonly model?: string
  readonly args?: readonly string[]
}

function chat(
  { root, server, model = 'compatible/tiny', args = [] }: Chat,
  io: RunOptions,
): ReturnType<typeof palimpsest> {
  const env = { ...keys, PALIMPSEST_ROOT: root }
  return palimpsest(['chat', ...args, '--model', model, '--base-url', server.baseURL], { env, ...io })
}

describe('chat', () => {
  it('sends each line as a turn, writes the answers, and keeps every request in the log', async () => {
    const server = await serverOf('compatible', [says('Hello.'), says('Forty-two.')])
    const root = scratch()
    const { exit, out, err } = await chat(
      { root, server, args: ['--system', 'Be brief.'] },
      { input: () => typed('Hi.', '', 'How many?') },
    )
    expect([exit, out]).toEqual([0, 'Hello.\nForty-two.\n'])
    expect(err).toMatch(/^palimpsest show [\w-]+\n$/)
    expect(server.refusals).toEqual([])
    expect(server.requests[1]?.body['messages']).toMatchObject([
      { role: 'system', content: 'Be brief.' },
      { role: 'user' },
      { role: 'assistant', content: 'Hello.' },
      { role: 'user' },
    ])
    const { json } = await palimpsest(['request', 'last', '--json'], { root })
    expect(json).toMatchObject({
      requests: [
        { turn: 1, model: 'tiny' },
        { turn: 2, model: 'tiny' },
      ],
    })
    expect((await palimpsest(['verify', 'last', '--streams'], { root })).exit).toBe(0)
  })

  it('goes on with a session, under its own system prompt', async () => {
    const server = await serverOf('compatible', [says('One.'), says('Two.')])
    const root = scratch()
    await chat({ root, server, args: ['--system', 'Count.'] }, { input: () => typed('Go.') })
    const { out } = await chat({ root, server, args: ['last'] }, { input: () => typed('On.') })
    expect(out).toBe('Two.\n')
    expect(server.requests[1]?.body['messages']).toMatchObject([{ content: 'Count.' }, {}, { content: 'One.' }, {}])
  })

  it('closes what a crash left before the model sees it', async () => {
    const server = await serverOf('compatible', [says('I will look first.')])
    const root = scratch()
    await storeEvents(root, 's', wholeTurn().slice(0, 5))
    const { exit } = await chat({ root, server, args: ['s'] }, { input: () => typed('Go on.') })
    expect(exit).toBe(0)
    expect(JSON.stringify(server.requests[0]?.body)).toContain('its outcome is unknown')
  })

  it.each<readonly [string, ProviderKind]>([
    ['anthropic/claude-sonnet-4-5', 'anthropic'],
    ['openai/gpt-5', 'openai-responses'],
    ['openai-chat/gpt-4.1', 'openai-chat'],
    ['deepseek/deepseek-chat', 'deepseek'],
    ['compatible/some/where', 'compatible'],
  ])('talks to %s', async (model, kind) => {
    const server = await serverOf(kind, [says('Yes.'), says('Still.')])
    const { exit, out, err } = await chat(
      { root: scratch(), server, model },
      { input: () => typed('There?', 'Still?') },
    )
    expect([out, exit]).toEqual(['Yes.\nStill.\n', 0])
    expect(err).not.toContain('palimpsest: ')
    expect(server.refusals).toEqual([])
  })

  it('gives one JSON value with --json', async () => {
    const server = await serverOf('compatible', [says('Hello.')])
    const { json } = await chat({ root: scratch(), server, args: ['--json'] }, { input: () => typed('Hi.') })
    expect(json).toMatchObject({
      id: expect.any(String) as string,
      turns: [{ turn: 1, steps: 1, reason: { kind: 'completed' }, text: 'Hello.' }],
    })
  })

  it('tells why a turn failed, takes the next line, and ends with 1', async () => {
    const server = await serverOf('compatible', [{ failure: 'unauthorized' }, says('Hello.')])
    const { exit, out, err } = await chat({ root: scratch(), server }, { input: () => typed('Hi.', 'Again?') })
    expect([exit, out]).toEqual([1, 'Hello.\n'])
    expect(err).toMatch(/^palimpsest: request\/failed: /)
  })

  it('needs a key, a known provider and an address, and says which, before it touches the store', async () => {
    const root = `${scratch()}/nothing`
    const refused = async (...args: string[]): Promise<[number, string]> => {
      const { exit, err } = await palimpsest(['chat', ...args], { root })
      return [exit, err]
    }
    expect(await refused('--model', 'openai/gpt-5')).toEqual([
      2,
      'palimpsest: chat/no-key: openai needs a key: set OPENAI_API_KEY\n',
    ])
    for (const model of ['gpt-5', 'nobody/x', 'openai/', 'toString/x']) {
      expect(await refused('--model', model)).toEqual([
        2,
        expect.stringMatching(/^palimpsest: option\/invalid: .* names no model/) as string,
      ])
    }
    expect((await refused('--model', 'compatible/x'))[1]).toContain('say which with --base-url')
    expect((await refused('--model', 'compatible/x', '--base-url', 'file:///x'))[1]).toContain(
      'expected http:// or https://',
    )
    expect((await refused('--model', 'compatible/x', '--base-url', 'http:// bad host/'))[0]).toBe(2)
    expect((await refused('--model', 'compatible/x', '--base-url', 'http://h', '--context-window', '0'))[0]).toBe(2)
    for (const address of ['http://me:hunter2@127.0.0.1:9', 'http://me:hunter2@ 127.0.0.1'])
      expect(await refused('--model', 'compatible/x', '--base-url', address)).toEqual([
        2,
        expect.stringMatching(/^palimpsest: option\/invalid: (?!.*hunter2)/) as string,
      ])
    expect((await refused())[0]).toBe(2)
    expect(() => treeOf(root)).toThrow('ENOENT')
  })

  it('keeps no session in which nothing was said', async () => {
    const server = await serverOf('compatible', [])
    const root = scratch()
    const { exit, err } = await chat({ root, server }, { input: () => typed('', '  ') })
    expect([exit, err]).toEqual([0, ''])
    expect((await palimpsest(['ls', '--json'], { root })).json).toEqual({ sessions: [] })
  })

  it('summarises old entries before the context is full', async () => {
    const long = 'word '.repeat(900)
    const server = await serverOf('compatible', (request) =>
      says(JSON.stringify(request.body).includes('Write a summary of the conversation') ? 'They counted words.' : long),
    )
    const root = scratch()
    const { exit, err } = await chat(
      { root, server, args: ['--context-window', '4000'] },
      { input: () => typed('One.', 'Two.', 'Three.', 'Four.') },
    )
    expect(exit).toBe(0)
    expect(err).toMatch(/compacted \d+ entries into event \d+/)
    expect((await palimpsest(['messages', 'last'], { root })).out).toContain('They counted words.')
  })

  it('summarises also a session that holds no request, which leaves nothing to replay', async () => {
    const server = await serverOf('compatible', (request) =>
      says(JSON.stringify(request.body).includes('Write a summary') ? 'They counted words.' : 'Hello.'),
    )
    const root = scratch()
    const answers = Array.from({ length: 6 }, (_, n) => [
      said(2 * n, `Count ${n}.`),
      answered(2 * n + 1, [{ type: 'text', text: 'word '.repeat(900) }]),
    ])
    await storeEvents(root, 's', answers.flat())
    const { exit, err } = await chat(
      { root, server, args: ['s', '--context-window', '4000'] },
      { input: () => typed('Go on.') },
    )
    expect([exit, err]).toEqual([0, expect.stringMatching(/^compacted \d+ entries into event \d+/) as string])
    expect((await palimpsest(['messages', 's'], { root })).out).toContain('They counted words.')
  })

  it('ends the turn at the first Ctrl-C and the conversation at the second; the log is whole', async () => {
    const server = await serverOf('compatible', [
      { blocks: [{ type: 'text', text: 'A long story.' }], break: { after: 4, how: 'hang' } },
      says('A short one.'),
    ])
    const root = scratch()
    let interrupt = (): void => undefined
    async function* input(): AsyncGenerator<string> {
      yield 'Tell me.\n'
      yield 'Shorter.\n'
      // Asked for when the second turn is over. Nobody types on: the interrupt alone ends this.
      interrupt()
      await new Promise(() => undefined)
    }
    let out = ''
    const stdout = (text: string): void => {
      out += text
      if (out === text) interrupt()
    }
    const { exit, err } = await chat(
      { root, server },
      {
        input,
        stdout,
        onInterrupt: (listener) => {
          interrupt = listener
          return () => undefined
        },
      },
    )
    expect(exit).toBe(0)
    expect(out).toMatch(/^A.*\nA short one\.\n$/)
    expect(err).toContain('ending the turn')
    expect((await palimpsest(['show', 'last'], { root })).out).toMatch(/turn\/end +turn 1, aborted/)
    expect((await palimpsest(['verify', 'last'], { root })).exit).toBe(0)
  })
})
