import { type JsonObject, Session, TOOL_NOT_STARTED, TOOL_OUTCOME_UNKNOWN } from '@palimpsest/session'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { AgentLoop, AgentLoopError, type AgentTool, defineTool } from '../src/index.ts'
import { type Rig, TestAdapter, rig } from './harness.ts'

/** A tool whose bodies wait until the test lets them go. */
function held(
  name: string,
  timeoutMs?: number,
): { tool: AgentTool; started: string[]; release: (n: string, output?: string | Error) => void } {
  const waiting = new Map<string, { resolve: (output: string) => void; reject: (error: Error) => void }>()
  const started: string[] = []
  const tool = defineTool({
    name,
    inputSchema: z.object({ n: z.string() }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    execute: ({ n }) =>
      new Promise<string>((resolve, reject) => {
        started.push(n)
        waiting.set(n, { resolve, reject })
      }),
  })
  const release = (n: string, output: string | Error = `${n} is done`): void => {
    if (output instanceof Error) waiting.get(n)?.reject(output)
    else waiting.get(n)?.resolve(output)
  }
  return { tool, started, release }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

function textsOf(one: Rig): string[] {
  return one.of('tool/result').map(({ data }) => {
    const [block] = data.message.content[0].content
    return block?.type === 'text' ? block.text : ''
  })
}

const codes = (one: Rig): (string | undefined)[] => one.of('tool/result').map(({ data }) => data.error?.code)
const call = (name: string, n: string): { call: string; input: { n: string } } => ({ call: name, input: { n } })

describe('calls', () => {
  it('bodies run side by side up to the limit, and results come in model order', async () => {
    const { tool, started, release } = held('hold')
    const one = rig({
      tools: [tool],
      maxParallelTools: 2,
      script: [{ parts: ['a', 'b', 'c'].map((n) => call('hold', n)) }, 'Done.'],
    })
    const turn = one.send('go')
    await until(() => started.length === 2)
    release('b')
    await until(() => started.length === 3)
    expect(one.of('tool/progress').map(({ data }) => data)).toMatchObject([
      { content: [{ type: 'text', text: 'b is done' }], final: true },
    ])
    release('c')
    release('a')
    await turn
    expect(textsOf(one)).toEqual(['a is done', 'b is done', 'c is done'])
  })

  it('one barrier stands before calls that start together, after their tool/call and before their bodies', async () => {
    const log: string[] = []
    const session = Session.create()
    const one = rig({
      session,
      tools: [
        defineTool({
          name: 'note',
          inputSchema: z.object({ n: z.string() }),
          execute: ({ n }) => String(log.push(n)),
        }),
      ],
      script: [{ parts: [call('note', 'a'), call('note', 'b')] }, 'Done.'],
      flush: async () => {
        await Promise.resolve()
        log.push(`flush after ${String(session.events.at(-1)?.type)}`)
      },
    })
    await one.send('go')
    expect(log).toEqual(['flush after request/start', 'flush after tool/call', 'a', 'b', 'flush after request/start'])
  })

  it('a barrier that fails before tool bodies starts none, answers every call and ends the turn; the next one runs', async () => {
    let isBroken = false
    let runs = 0
    const one = rig({
      tools: [defineTool({ name: 'count', inputSchema: z.object({}), execute: () => String((runs += 1)) })],
      script: [{ parts: [{ call: 'count' }, { call: 'count' }, { part: { type: 'ping' } }] }, 'Fine.'],
      flush: () => (isBroken ? Promise.reject(new Error('disk full')) : Promise.resolve()),
    })
    one.session.on('session/event', ({ type }) => {
      isBroken = type === 'tool/call'
    })
    const result = await one.send('go')
    expect(result.reason).toMatchObject({ kind: 'error', failure: { code: 'flush/failed' } })
    expect(runs).toBe(0)
    expect(codes(one)).toEqual([TOOL_NOT_STARTED, TOOL_NOT_STARTED])
    expect((await one.send('again')).reason).toEqual({ kind: 'completed' })
  })

  it('what cannot run is answered with a text that helps the model, and no tool/call', async () => {
    const one = rig({
      tools: [
        defineTool({ name: 'add', inputSchema: z.object({ a: z.number() }), execute: ({ a }) => a }),
        {
          name: 'json',
          inputSchema: { type: 'object', properties: { x: { type: 'string' } }, required: ['x'] },
          execute: () => '',
        },
      ],
      script: [
        {
          parts: [
            { call: 'nope' },
            { call: 'add', input: '{"a":' },
            { call: 'add', input: { a: 'one' } },
            { call: 'json', input: {} },
            { call: 'add', input: { a: 7 } },
          ],
        },
        'Done.',
      ],
    })
    one.loop.on('tools/pre-execute', ({ call: { name } }) => (name === 'add' ? { deny: 'not today' } : undefined))
    await one.send('go')
    expect(codes(one)).toEqual([
      'UNKNOWN_TOOL',
      'INVALID_ARGUMENTS',
      'INVALID_ARGUMENTS',
      'INVALID_ARGUMENTS',
      'DENIED',
    ])
    expect(textsOf(one)[0]).toContain('The tools are: add, json.')
    expect(textsOf(one)[2]).toContain('a: ')
    expect(textsOf(one)[4]).toContain('not today')
    expect(one.of('tool/call')).toEqual([])
  })

  it('no arguments are written as they came and read as {}', async () => {
    const seen: unknown[] = []
    const one = rig({
      tools: [defineTool({ name: 'list', inputSchema: z.object({}), execute: (input) => [seen.push(input), 2] })],
      script: [{ parts: [{ call: 'list', input: '' }] }, 'Done.'],
    })
    await one.send('go')
    expect(seen).toEqual([{}])
    expect(one.of('tool/call')[0]?.data.arguments).toBe('')
    expect(textsOf(one)).toEqual(['[1,2]'])
  })

  it('a body that throws, or returns what is no result, gives an error result', async () => {
    const circular: unknown[] = []
    circular.push(circular)
    const one = rig({
      tools: [
        defineTool({
          name: 'throws',
          inputSchema: z.object({}),
          execute: () => Promise.reject(new RangeError('too far')),
        }),
        defineTool({
          name: 'odd',
          inputSchema: z.object({}),
          execute: () => ({ content: [{ type: 'image' }] }),
        }),
        defineTool({ name: 'loop', inputSchema: z.object({}), execute: () => circular as never }),
      ],
      script: [{ parts: [{ call: 'throws' }, { call: 'odd' }, { call: 'loop' }] }, 'Done.'],
    })
    expect((await one.send('go')).reason).toEqual({ kind: 'completed' })
    expect(codes(one)).toEqual(['TOOL_FAILED', 'TOOL_FAILED', 'TOOL_FAILED'])
    expect(one.of('tool/result')[0]?.data.error).toEqual({ name: 'RangeError', code: 'TOOL_FAILED' })
    expect(textsOf(one)[0]).toContain('too far')
  })

  it('a result that the log refuses is an error result too when it has to wait for its place', async () => {
    const { tool, release } = held('hold')
    const odd = defineTool({
      name: 'odd',
      inputSchema: z.object({}),
      execute: () => ({ content: [{ type: 'image' }] }),
    })
    const one = rig({ tools: [tool, odd], script: [{ parts: [call('hold', 'a'), { call: 'odd' }] }, 'Done.'] })
    const turn = one.send('go')
    await until(() => one.of('tool/progress').length === 1)
    release('a')
    expect((await turn).reason).toEqual({ kind: 'completed' })
    expect(codes(one)).toEqual([undefined, 'TOOL_FAILED'])
  })

  it('a JSON Schema is one of an object, and what zod cannot check of it is left to the tool', async () => {
    const ran: unknown[] = []
    const tool = (name: string, inputSchema: JsonObject): AgentTool => ({
      name,
      inputSchema,
      execute: (input) => String(ran.push(input)),
    })
    const a = { type: 'string' }
    const schemas: Record<string, JsonObject> = {
      bare: {},
      defs: { type: 'object', properties: { a: { $ref: '#/definitions/A' } }, definitions: { A: a } },
      if: { type: 'object', properties: { a, if: a }, required: ['a'], if: { required: ['if'] }, else: { not: {} } },
      not: {
        type: 'object',
        properties: { a, deep: { items: { not: { type: 'string' } } } },
        not: { required: ['b'] },
      },
      old: { type: 'object', properties: { a }, dependentRequired: { a: ['b'] }, unevaluatedProperties: false },
      far: { type: 'object', properties: { a, b: { $ref: 'https://schemas.example/b.json' } } },
      self: { type: 'object', properties: { a, kids: { items: { $ref: '#' } } }, not: { enum: [{ not: 1 }] } },
    }
    const names = Object.keys(schemas)
    const one = rig({
      tools: names.map((name) => tool(name, schemas[name] ?? {})),
      script: [
        { parts: names.map((name) => ({ call: name, input: { a: 'x' } })) },
        { parts: names.map((name) => ({ call: name, input: name === 'bare' ? [] : { a: 1 } })) },
        'Done.',
      ],
    })
    await one.send('go')
    expect(ran).toEqual(names.map(() => ({ a: 'x' })))
    const expected = names.map(() => 'INVALID_ARGUMENTS')
    expect(codes(one).slice(names.length)).toEqual(expected)
    const [header] = one.of('request/header')
    expect(header?.data.header.tools?.map((definition) => definition['inputSchema'])).toEqual(
      names.map((name) => ({ type: 'object', ...schemas[name] })),
    )
  })

  it('hooks may answer a call without its tool, and replace an outcome', async () => {
    const one = rig({
      tools: [
        defineTool({ name: 'read', inputSchema: z.object({}), execute: () => 'key=123' }),
        defineTool({ name: 'skip', inputSchema: z.object({}), execute: () => 'ran' }),
      ],
      script: [{ parts: [{ call: 'read' }, { call: 'skip' }] }, 'Done.'],
    })
    one.loop.on('tools/pre-execute', ({ call: { name } }) =>
      name === 'skip' ? { answer: { content: [{ type: 'text', text: 'from the cache' }], isError: false } } : undefined,
    )
    one.loop.on('tools/result', ({ outcome }) => ({ ...outcome, content: [{ type: 'text', text: 'key=***' }] }))
    await one.send('go')
    expect(textsOf(one)).toEqual(['key=***', 'from the cache'])
  })

  it('two tools of one name, and a schema that is none, are refused', () => {
    const session = Session.create()
    const make =
      (...tools: AgentTool[]) =>
      (): AgentLoop =>
        new AgentLoop({ session, model: rig().model, adapter: new TestAdapter(), tools })
    const tool = { name: 'a', inputSchema: { type: 'object' }, execute: () => '' }
    expect(make(tool, tool)).toThrow(AgentLoopError)
    expect(make({ ...tool, inputSchema: { type: 'strange' } })).toThrow(
      expect.objectContaining({ code: 'tools/invalid' }) as Error,
    )
    expect(make({ ...tool, timeoutMs: 2 ** 31 })).toThrow('timeoutMs')
    expect(make({ ...tool, inputSchema: z.string() })).toThrow(
      expect.objectContaining({ code: 'tools/invalid' }) as Error,
    )
  })
})

describe('abort and time', () => {
  it('an abort answers running calls with an unknown outcome, and the others as never dispatched', async () => {
    const { tool, started, release } = held('hold')
    const one = rig({
      tools: [tool],
      maxParallelTools: 1,
      script: [{ parts: [call('hold', 'a'), call('hold', 'b')] }, 'I see.'],
    })
    const turn = one.send('go')
    await until(() => started.length === 1)
    one.loop.abort('user')
    expect((await turn).reason).toEqual({ kind: 'aborted', cause: 'user' })
    expect(codes(one)).toEqual([TOOL_OUTCOME_UNKNOWN, 'ABORTED_BEFORE_DISPATCH'])
    expect(one.loop.isRunning).toBe(false)

    release('a', 'it worked after all')
    await until(() => one.of('tool/late-result').length === 1)
    expect(one.loop.isRunning).toBe(false)
    await one.send('and now?')
    const [late] = one.of('tool/late-result')
    const delivered = one.of('user/message').filter((event) => event.sourceEventSeqs?.[0] === late?.seq)
    expect(delivered).toHaveLength(1)
    expect(delivered[0]?.data).toMatchObject({
      source: { kind: 'plugin', plugin: 'agent-loop' },
      content: [
        { type: 'text', text: expect.stringContaining('"hold"') as string },
        { type: 'text', text: 'it worked after all' },
      ],
    })
  })

  it('a body that an abort leaves behind leaves no clock behind', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const { tool, started } = held('hold', 1000)
      const one = rig({ tools: [tool], script: [{ parts: [call('hold', 'a')] }] })
      const turn = one.send('go')
      await until(() => started.length === 1)
      expect(vi.getTimerCount()).toBe(1)
      one.loop.abort()
      await turn
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  it('a body that stops for the signal within the grace is TOOL_ABORTED; one that finishes keeps its result', async () => {
    const one = rig({
      abortGraceMs: 60_000,
      tools: [
        defineTool({
          name: 'stops',
          inputSchema: z.object({}),
          execute: (_, { signal }) =>
            new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
        }),
        defineTool({
          name: 'finishes',
          inputSchema: z.object({}),
          execute: (_, { signal }) =>
            new Promise((resolve) => signal.addEventListener('abort', () => resolve('saved'))),
        }),
      ],
      script: [{ parts: [{ call: 'stops' }, { call: 'finishes' }] }],
    })
    const turn = one.send('go')
    await until(() => one.of('tool/call').length === 2)
    await until(() => true)
    one.loop.abort()
    expect((await turn).reason).toEqual({ kind: 'aborted' })
    expect(codes(one)).toEqual(['TOOL_ABORTED', undefined])
    expect(textsOf(one)[1]).toBe('saved')
  })

  it('a call that is out of time is answered, and its result is delivered once when it comes', async () => {
    const { tool, started, release } = held('slow', 1)
    const one = rig({
      tools: [tool],
      script: [
        { parts: [call('slow', 'a')] },
        {
          parts: [
            { run: () => release('a') },
            { run: () => until(() => one.of('tool/late-result').length === 1) },
            'Waiting.',
            call('slow', 'b'),
          ],
        },
        'Seen.',
        'Still here.',
      ],
    })
    await one.send('go')
    expect(started).toEqual(['a', 'b'])
    expect(codes(one)).toEqual(['TOOL_TIMEOUT', 'TOOL_TIMEOUT'])
    const late = one.of('tool/late-result')
    expect(late).toHaveLength(1)
    await one.send('anything else?')
    expect(
      one.of('user/message').filter(({ sourceEventSeqs }) => sourceEventSeqs?.includes(late[0]?.seq as never)),
    ).toHaveLength(1)
  })

  it('an aborted answer keeps finished calls, answered, and drops the half-written one', async () => {
    const { tool, started } = held('hold')
    const one = rig({
      tools: [tool],
      script: [
        {
          parts: [
            'Let me',
            call('hold', 'a'),
            { part: { type: 'tool-input-start', id: 'half', toolName: 'hold' } },
            { part: { type: 'tool-input-delta', id: 'half', delta: '{"n"' } },
            { run: () => one.loop.abort('stop') },
          ],
          ends: 'hang',
        },
      ],
    })
    expect((await one.send('go')).reason).toEqual({ kind: 'aborted', cause: 'stop' })
    const [message] = one.of('assistant/message')
    expect(message?.data.interrupted).toBe(true)
    expect(message?.data.message.content.map(({ type }) => type)).toEqual(['text', 'tool-call'])
    expect(codes(one)).toEqual(['ABORTED_BEFORE_DISPATCH'])
    expect(started).toEqual([])
  })

  it('an abort before anything is visible leaves an assistant/attempt', async () => {
    const one = rig({ script: [{ stalls: true }] })
    const turn = one.send('go')
    await until(() => one.model.requests.length === 1)
    one.loop.abort()
    expect((await turn).reason).toEqual({ kind: 'aborted' })
    expect(one.of('assistant/attempt')).toHaveLength(1)
    expect(one.of('assistant/message')).toEqual([])
  })
})
