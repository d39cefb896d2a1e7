import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { toAnthropic } from '@palimpsest/provider-messages'
import type { AttachmentRef, JsonObject, Message } from '@palimpsest/session'
import type { ScriptedAnswer } from '@palimpsest/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../src/index.ts'
import { type Rig, rig } from './harness.ts'

const usage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
}
const finish: LanguageModelV4StreamPart = { type: 'finish', usage, finishReason: { unified: 'stop', raw: 'stop' } }

const echo = defineTool({ name: 'echo', inputSchema: z.looseObject({}), execute: (input) => input as never })

/** One answer of exactly these parts, and a second one for what comes after its tools. */
async function answered(
  parts: readonly LanguageModelV4StreamPart[],
  options: Parameters<typeof rig>[0] = {},
): Promise<Rig> {
  const one = rig({
    tools: [echo],
    script: [{ parts: parts.map((part) => ({ part })), ends: 'early' }, 'Done.'],
    retry: { maxAttempts: 1 },
    ...options,
  })
  await one.send('go')
  return one
}

const messageOf = (one: Rig): Rig['of'] extends never ? never : ReturnType<typeof first> => first(one)
function first(one: Rig) {
  const [message] = one.of('assistant/message')
  if (message === undefined) throw new Error('the model answered nothing')
  return message.data
}

/** A call whose arguments break off. */
const half = (id: string): { readonly part: LanguageModelV4StreamPart }[] => [
  { part: { type: 'tool-input-start', id, toolName: 'echo' } },
  { part: { type: 'tool-input-delta', id, delta: '{"a":"lo' } },
]

describe('stream parts', () => {
  it('blocks are collected by id, not by nesting, in the order in which they began', async () => {
    const one = await answered([
      { type: 'reasoning-start', id: 'r' },
      { type: 'text-start', id: 't' },
      { type: 'reasoning-delta', id: 'r', delta: 'think' },
      { type: 'text-delta', id: 't', delta: 'say' },
      { type: 'tool-input-start', id: 'a', toolName: 'echo' },
      { type: 'tool-input-start', id: 'b', toolName: 'echo' },
      { type: 'tool-input-delta', id: 'b', delta: '{"b":1}' },
      { type: 'tool-input-delta', id: 'a', delta: '{"a":1}' },
      { type: 'reasoning-end', id: 'r' },
      { type: 'tool-input-end', id: 'a' },
      { type: 'tool-call', toolCallId: 'a', toolName: 'echo', input: '{"a":1}' },
      { type: 'tool-call', toolCallId: 'b', toolName: 'echo', input: '{"b":1}' },
      { type: 'text-delta', id: 't', delta: ' more' },
      { type: 'text-end', id: 't' },
      finish,
    ])
    expect(messageOf(one).message.content).toEqual([
      { type: 'reasoning', text: 'think' },
      { type: 'text', text: 'say more' },
      { type: 'tool-call', id: 'a', name: 'echo', arguments: '{"a":1}' },
      { type: 'tool-call', id: 'b', name: 'echo', arguments: '{"b":1}' },
    ])
  })

  it('metadata of start, delta and end are merged per block; empty reasoning with metadata is kept, empty text is not', async () => {
    const one = await answered([
      { type: 'response-metadata', id: 'r-1', modelId: 'm-1' },
      { type: 'reasoning-start', id: '0', providerMetadata: { anthropic: { redactedData: 'xyz' } } },
      { type: 'reasoning-end', id: '0' },
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', delta: '' },
      { type: 'text-end', id: '1' },
      { type: 'reasoning-start', id: '2', providerMetadata: { openai: { itemId: 'rs', early: 1 } } },
      { type: 'reasoning-delta', id: '2', delta: 'hm' },
      { type: 'reasoning-delta', id: '2', delta: '', providerMetadata: { openai: { early: 2 } } },
      { type: 'reasoning-end', id: '2', providerMetadata: { openai: { final: 3 } } },
      { type: 'text-start', id: '3' },
      { type: 'text-delta', id: '3', delta: 'ok' },
      { ...finish, providerMetadata: { openai: { responseId: 'r-1' } } },
    ])
    expect(messageOf(one).message.content).toEqual([
      { type: 'reasoning', text: '' },
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'ok' },
    ])
    expect(messageOf(one).message.source.replayState).toEqual({
      response: { id: 'r-1', modelId: 'm-1', providerMetadata: { openai: { responseId: 'r-1' } } },
      blocks: [
        { providerMetadata: { anthropic: { redactedData: 'xyz' } } },
        { providerMetadata: { openai: { itemId: 'rs', early: 2, final: 3 } } },
        null,
      ],
    })
  })

  it('calls that the provider runs leave nothing behind', async () => {
    const one = await answered([
      { type: 'tool-input-start', id: 's', toolName: 'search', providerExecuted: true },
      { type: 'tool-input-delta', id: 's', delta: '{}' },
      { type: 'tool-call', toolCallId: 's', toolName: 'search', input: '{}', providerExecuted: true },
      { type: 'tool-input-start', id: 'l', toolName: 'search' },
      { type: 'tool-input-delta', id: 'l', delta: '{}' },
      { type: 'tool-call', toolCallId: 'l', toolName: 'search', input: '{}', providerExecuted: true },
      { type: 'tool-result', toolCallId: 's', toolName: 'search', result: { found: 1 } },
      { type: 'text-delta', id: 't', delta: 'found' },
      finish,
    ])
    expect(messageOf(one).message.content).toEqual([{ type: 'text', text: 'found' }])
    expect(JSON.stringify(messageOf(one))).not.toContain('search')
  })

  it('where calls that the provider runs are left out, nothing that seals the reasoning is kept', async () => {
    const sealed = (id: string, metadata: JsonObject, delta?: string): LanguageModelV4StreamPart[] => [
      { type: 'reasoning-start', id },
      ...(delta === undefined ? [] : [{ type: 'reasoning-delta' as const, id, delta }]),
      { type: 'reasoning-end', id, providerMetadata: { anthropic: metadata } },
    ]
    const run: LanguageModelV4StreamPart[] = [
      { type: 'tool-call', toolCallId: 's', toolName: 'search', input: '{}', providerExecuted: true },
    ]
    const late: LanguageModelV4StreamPart[] = [{ type: 'tool-result', toolCallId: 's', toolName: 'search', result: {} }]
    for (const leftOut of [[], run, late]) {
      const one = await answered([
        ...sealed('1', { signature: 'seal-1' }, 'first'),
        ...leftOut,
        ...sealed('2', { redactedData: 'seal-2' }),
        ...sealed('3', { signature: 'seal-3' }, 'then'),
        { type: 'text-delta', id: 't', delta: 'found' },
        { type: 'text-end', id: 't', providerMetadata: { anthropic: { kept: true } } },
        { type: 'tool-call', toolCallId: ' ', toolName: 'echo', input: '{}' },
        finish,
      ])
      const { message } = messageOf(one)
      expect(message.content.map(({ type }) => type)).toEqual([
        'reasoning',
        'reasoning',
        'reasoning',
        'text',
        'tool-call',
      ])
      expect(JSON.stringify(message).includes('seal')).toBe(leftOut.length === 0)
      if (leftOut.length > 0) {
        const blocks = [null, null, null, { providerMetadata: { anthropic: { kept: true } } }, { callId: ' ' }]
        expect(message.source.replayState).toMatchObject({ blocks })
      }
      const target = { model: 'claude-sonnet-4-5', provider: 'anthropic.messages' }
      const own = one.session.deriveMessages().map((entry): Message => {
        if (entry.role !== 'assistant') return entry
        return { ...entry, source: { ...entry.source, ...target } }
      })
      const { report: _, ...request } = toAnthropic(own, { ...target, intactThrough: own.length })
      expect(JSON.stringify(request).includes('seal-3')).toBe(leftOut.length === 0)
    }
  })

  it('blank and repeated call ids are minted, and the original is kept', async () => {
    const call = (toolCallId: string): LanguageModelV4StreamPart => ({
      type: 'tool-call',
      toolCallId,
      toolName: 'echo',
      input: '{}',
    })
    const one = await answered([call('x'), call('x'), call(''), call(' '), finish])
    const { content, source } = messageOf(one).message
    expect(content.map((block) => (block.type === 'tool-call' ? block.id : ''))).toEqual(['x', 'x~2', 'call', 'call~2'])
    expect(source.replayState).toMatchObject({ blocks: [null, { callId: 'x' }, { callId: '' }, { callId: ' ' }] })
    expect(one.of('tool/result')).toHaveLength(4)
  })

  it('images go to the attachments; without them, and for other files, nothing is kept', async () => {
    const parts: LanguageModelV4StreamPart[] = [
      { type: 'text-delta', id: 't', delta: 'here' },
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAEC' } },
      { type: 'file', mediaType: 'audio/mp3', data: { type: 'data', data: 'AAEC' } },
      { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL('https://image.example/1') } },
      finish,
    ]
    const attachment: AttachmentRef = { attachmentId: `sha256:${'0'.repeat(64)}`, mediaType: 'image/png', bytes: 3 }
    const put: Uint8Array[] = []
    const attachments = {
      put: (bytes: Uint8Array): Promise<AttachmentRef> => Promise.resolve((put.push(bytes), attachment)),
    }
    const one = await answered(parts, { attachments })
    expect(messageOf(one).message.content).toEqual([
      { type: 'text', text: 'here' },
      { type: 'image', attachment },
    ])
    expect(put).toEqual([new Uint8Array([0, 1, 2])])
    expect(messageOf(await answered(parts)).message.content).toHaveLength(1)
    const full = await answered(parts, { attachments: { put: () => Promise.reject(new Error('disk full')) } })
    expect(full.of('turn/end')[0]?.data.reason).toMatchObject({ failure: { code: 'flush/failed' } })
  })

  it('usage is what the provider counted, cached input included', async () => {
    const one = rig({
      script: [{ parts: ['Hi.'], usage: { input: 100, output: 7, cacheRead: 80, cacheWrite: 5, reasoning: 3 } }],
    })
    const result = await one.send('hello')
    const counted = { inputTokens: 100, outputTokens: 7, cacheReadTokens: 80, cacheWriteTokens: 5, reasoningTokens: 3 }
    expect(messageOf(one).usage).toEqual(counted)
    expect(result.usage).toEqual(counted)
  })

  it('a model of the V3 interface answers as one of V4 does', async () => {
    const script: ScriptedAnswer[] = [
      {
        parts: [
          { reasoning: 'Hm.', metadata: { scripted: { signature: 's' } } },
          { call: 'echo', input: { a: 1 } },
        ],
      },
      { parts: ['Done.'] },
    ]
    const four = rig({ tools: [echo], script })
    const three = rig({ tools: [echo], script })
    const old = rig({ tools: [echo], model: three.model.v3(), settings: {} })
    await four.send('go')
    await old.send('go')
    const contents = (one: Rig): unknown =>
      one.of('assistant/message').map(({ data }) => [data.message.content, data.message.source])
    expect(contents(old)).toEqual(contents(four))
  })
})

describe('ends', () => {
  it('an answer whose finish part was read is whole, whenever the turn is aborted after that', async () => {
    for (let ticks = 0; ticks < 16; ticks += 1) {
      const one = rig({ tools: [echo], script: [{ parts: ['Said.', { call: 'echo' }], usage: { output: 2 } }] })
      const abort = async (): Promise<void> => {
        for (let at = 0; at < ticks; at += 1) await Promise.resolve()
        one.loop.abort('late')
      }
      const inner = one.model.doStream.bind(one.model)
      one.model.doStream = async (options) => {
        const { stream, ...rest } = await inner(options)
        const transform = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
          transform: (part, controller) => {
            controller.enqueue(part)
            if (part.type === 'finish') void abort()
          },
        })
        return { ...rest, stream: stream.pipeThrough(transform) }
      }
      expect((await one.send('go')).reason).toEqual({ kind: 'aborted', cause: 'late' })
      const { interrupted, usage: counted } = messageOf(one)
      expect(interrupted === undefined).toBe(counted !== undefined)
      expect(one.of('tool/result')).toHaveLength(1)
    }
  })

  it('an answer that a listener of the session vetoes is an attempt, and no model is asked again', async () => {
    for (const isAborted of [false, true]) {
      const parts = ['Said.', ...(isAborted ? [{ run: () => one.loop.abort() }] : [])]
      const one: Rig = rig({ script: () => ({ parts, ends: isAborted ? 'hang' : 'finish' }) })
      one.session.on('internal/dispatch', ({ type }) => {
        if (type === 'assistant/message') throw new Error('not today')
      })
      const { reason } = await one.send('go')
      expect(reason).toMatchObject({ failure: { code: 'hook/failed', message: expect.stringContaining('not today') } })
      expect(one.of('assistant/attempt').map(({ data }) => data.failure)).toEqual([
        (reason as { readonly failure: unknown }).failure,
      ])
      expect(one.model.requests).toHaveLength(1)
    }
  })

  it('an empty answer completes the turn', async () => {
    const one = rig({ script: [{ parts: [] }, 'Hi.'] })
    expect((await one.send('hello')).reason).toEqual({ kind: 'completed' })
    expect(messageOf(one).message.content).toEqual([])
    await one.send('hello?')
  })

  it.each([
    ['length', { kind: 'max-tokens' }],
    ['content-filter', { kind: 'blocked' }],
  ] as const)('%s ends the turn as %o', async (reason, expected) => {
    const one = rig({ script: [{ parts: ['Once'], finish: reason }] })
    expect((await one.send('tell')).reason).toEqual(expected)
  })

  it('length with tool calls goes on', async () => {
    const one = rig({
      tools: [echo],
      script: [{ parts: [{ call: 'echo', input: '{"a":' }], finish: 'length' }, 'Sorry.'],
    })
    expect((await one.send('go')).reason).toEqual({ kind: 'completed' })
    expect(one.of('tool/result')[0]?.data.error?.code).toBe('INVALID_ARGUMENTS')
  })

  it.each([
    ['length', 'max-tokens'],
    ['content-filter', 'blocked'],
  ] as const)(
    '%s within a call keeps what came before it, asks for nothing again and ends the turn as %s',
    async (finish, kind) => {
      for (const before of [['Writing.'], []]) {
        const one = rig({ tools: [echo], script: [{ parts: [...before, ...half('h')], finish }, 'Go on.'] })
        expect(await one.send('go')).toMatchObject({ reason: { kind }, text: before.join('') })
        expect(one.model.requests).toHaveLength(1)
        expect(messageOf(one).message.content).toEqual(before.map((text) => ({ type: 'text', text })))
        expect(messageOf(one).interrupted).toBe(true)
        expect(one.of('assistant/attempt')).toEqual([])
        expect((await one.send('and?')).reason).toEqual({ kind: 'completed' })
      }
    },
  )

  it('length within a call runs the calls that were finished, and the turn goes on', async () => {
    const reasoning: LanguageModelV4StreamPart = { type: 'reasoning-start', id: 'r', providerMetadata: { s: { a: 1 } } }
    const one = rig({
      tools: [echo],
      script: [
        {
          parts: [{ part: reasoning }, 'Both.', { call: 'echo', id: 'w', input: { a: 1 } }, ...half('h')],
          finish: 'length',
          usage: { output: 9 },
        },
        'Done.',
      ],
    })
    expect(await one.send('go')).toMatchObject({ reason: { kind: 'completed' }, text: 'Done.', steps: 2 })
    expect(messageOf(one)).toMatchObject({ interrupted: true, usage: { outputTokens: 9 } })
    expect(messageOf(one).message.content).toEqual([
      { type: 'reasoning', text: '' },
      { type: 'text', text: 'Both.' },
      { type: 'tool-call', id: 'w', name: 'echo', arguments: '{"a":1}' },
    ])
    expect(one.of('tool/call').map(({ data }) => data.callId)).toEqual(['w'])
    expect(one.of('tool/result').map(({ data }) => data.error)).toEqual([undefined])
  })

  it('any other end within a call is an attempt', async () => {
    for (const reason of ['stop', 'tool-calls'] as const) {
      const one = rig({ tools: [echo], script: [{ parts: half('h'), finish: reason }, 'Whole.'] })
      expect((await one.send('go')).text).toBe('Whole.')
      expect(one.of('assistant/attempt')).toHaveLength(1)
    }
  })

  it.each(['early', 'cut', 'error'] as const)(
    'an answer that ends with %s is an attempt, and is asked for again',
    async (ends) => {
      const one = rig({ script: [{ parts: ['Half'], ends }, 'Whole.'] })
      expect((await one.send('go')).text).toBe('Whole.')
      expect(one.of('assistant/attempt').map(({ data }) => data.stream.length > 0)).toEqual([true])
      expect(one.of('request/start').map(({ data }) => data.attempt)).toEqual([1, 2])
    },
  )

  it('an answer that the provider calls interrupted is incomplete', async () => {
    const one = rig({ script: [{ parts: ['Half'], finish: 'interrupted' }], retry: { maxAttempts: 1 } })
    expect((await one.send('go')).reason).toMatchObject({ kind: 'error', failure: { code: 'request/incomplete' } })
  })
})
