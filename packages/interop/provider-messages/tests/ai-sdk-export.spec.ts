import { describe, expect, it } from 'vitest'
import type { ContentBlock, Json, Message } from '@palimpsest/session'
import {
  ProviderMessagesError,
  toLanguageModelPrompt,
  toModelMessages,
  validateLanguageModelPrompt,
  validateModelMessages,
} from '../src/index.ts'
import type { LanguageModelExportOptions } from '../src/index.ts'
import { assistant, call, image, reasoning, result, system, text, thinking, user } from './fixtures/messages.ts'
import { sendList, wireTargets } from './fixtures/wire-targets.ts'

const CLAUDE = { provider: 'anthropic.messages', model: 'claude-sonnet-4-5', intactThrough: 99 } as const
const RESPONSES = { provider: 'openai.responses', model: 'gpt-5', intactThrough: 99 } as const
const CHAT = { provider: 'openai.chat', model: 'gpt-4.1' } as const
const DEEPSEEK = { provider: 'deepseek.chat', model: 'deepseek-v4-pro' } as const
const ACME = { provider: 'acme.chat', model: 'acme-1' } as const
const bytes = (): Uint8Array => new Uint8Array([1, 2, 3])

const prompt = (list: readonly Message[], options: LanguageModelExportOptions): unknown[] => {
  return toLanguageModelPrompt(list, options).prompt
}
const codes = (list: readonly Message[], options: LanguageModelExportOptions): string[] => {
  return toLanguageModelPrompt(list, options).report.notes.map(({ code }) => code)
}
const made = (
  options: { provider: string; model: string },
  content: readonly ContentBlock[],
  metadata: Json[],
): Message => {
  const blocks = metadata.map((one) => (one === null ? null : { providerMetadata: one }))
  return assistant(content, { provider: options.provider, model: options.model, replayState: { blocks } })
}
const wire = async (name: string, list: readonly Message[], options: LanguageModelExportOptions) => {
  const target = wireTargets.find((candidate) => candidate.name === name)
  if (target === undefined) throw new Error(`no target ${name}`)
  return sendList({ target, modelId: options.model, messages: list, options })
}

describe('a prompt for every model', () => {
  it.each([CLAUDE, RESPONSES, CHAT, DEEPSEEK, ACME])(
    'of $provider has system at its head only, and results in one tool message',
    (options) => {
      const list = [
        system('be brief'),
        user(),
        assistant([text('ok'), call('a', '{"x":1}'), call('b', '{')]),
        result('b', 'two', true),
        result('a', 'one'),
        system('be kind'),
        user('bye'),
      ]
      expect(prompt(list, options)).toEqual([
        { role: 'system', content: 'be brief' },
        { role: 'user', content: [{ type: 'text', text: 'hello' }] },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'ok' },
            { type: 'tool-call', toolCallId: 'a', toolName: 'run', input: { x: 1 } },
            { type: 'tool-call', toolCallId: 'b', toolName: 'run', input: { palimpsest_invalid_arguments: '{' } },
          ],
        },
        {
          role: 'tool',
          content: [
            { type: 'tool-result', toolCallId: 'b', toolName: 'run', output: { type: 'error-text', value: 'two' } },
            { type: 'tool-result', toolCallId: 'a', toolName: 'run', output: { type: 'text', value: 'one' } },
          ],
        },
        { role: 'user', content: [{ type: 'text', text: '[system message]\nbe kind\n[end of system message]' }] },
        { role: 'user', content: [{ type: 'text', text: 'bye' }] },
      ])
      expect(codes(list, options)).toEqual(['arguments/marked', 'system/framed'])
    },
  )

  it('names tools within the charset, as the map says, and gives no tool the name of a member of every object', () => {
    const names = ['bash', 'a.b', 'toString', '__proto__']
    const list = [
      user(),
      assistant(names.map((name, index) => call(`c${index}`, '{}', name))),
      ...names.map((_, index) => result(`c${index}`)),
    ]
    for (const options of [CLAUDE, RESPONSES, CHAT, DEEPSEEK, ACME]) {
      const { toolNames, prompt: written } = toLanguageModelPrompt(list, { ...options, tools: ['unused.tool'] })
      expect([...toolNames.keys()]).toEqual(['unused.tool', ...names])
      expect(toolNames.get('bash')).toBe('bash')
      for (const wireName of toolNames.values()) {
        expect(wireName).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
        expect(wireName in Object.prototype).toBe(false)
      }
      const sent = written.flatMap((message) => (message.role === 'assistant' ? message.content : []))
      expect(sent.map((part) => (part.type === 'tool-call' ? part.toolName : ''))).toEqual(
        names.map((name) => toolNames.get(name)),
      )
    }
  })

  it('keeps call ids as long as the provider takes them', () => {
    const id = 'x'.repeat(100)
    const list = [user(), assistant([call(id)]), result(id)]
    const lengths = [CLAUDE, RESPONSES, CHAT, DEEPSEEK, ACME].map((options) => {
      return /"toolCallId":"(x+)"/.exec(JSON.stringify(prompt(list, options)))?.[1]?.length
    })
    expect(lengths).toEqual([100, 64, 40, 40, 40])
  })

  it('over its budget is refused', () => {
    const list = [user(), assistant([call('a'), call('b')]), result('a'), result('b')]
    const refusal = (limits: LanguageModelExportOptions['limits'], more: readonly Message[] = []): string => {
      try {
        toLanguageModelPrompt([...list, ...more], { ...CHAT, limits, image: bytes })
        return 'accepted'
      } catch (error) {
        return error instanceof ProviderMessagesError ? error.code : 'another error'
      }
    }
    expect(refusal({ bytes: 10 })).toBe('budget/bytes')
    expect(refusal({ messages: 2 })).toBe('budget/messages')
    expect(refusal({ toolCalls: 1 })).toBe('budget/tool-calls')
    expect(refusal({ images: 0 }, [user([image()])])).toBe('budget/images')
    expect(refusal({}, [user([image()])])).toBe('accepted')
  })
})

describe('images', () => {
  const list = [
    user(),
    assistant([call('a'), call('b')]),
    result('a', [text('see'), image()]),
    result('b', [image()], true),
  ]
  const file = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AQID' } }

  it.each([CLAUDE, RESPONSES])('of results stay where $provider takes them, and those of errors move', (options) => {
    const [results, moved] = prompt(list, { ...options, image: bytes }).slice(2) as { content: unknown[] }[]
    expect(results?.content[0]).toMatchObject({
      output: { type: 'content', value: [{ type: 'text', text: 'see' }, file] },
    })
    expect(results?.content[1]).toMatchObject({ output: { type: 'error-text' } })
    expect(moved?.content).toEqual([{ type: 'text', text: '[images of the messages above, in their order]' }, file])
  })

  it.each([CHAT, ACME, { ...DEEPSEEK, vision: true }])(
    'of results move where $provider takes none there',
    (options) => {
      const [results, moved] = prompt(list, { ...options, image: bytes }).slice(2) as { content: unknown[] }[]
      expect(results?.content[0]).toMatchObject({
        output: { type: 'text', value: expect.stringMatching(/^see\n\n\[image 1 /) as string },
      })
      expect(moved?.content).toEqual([
        { type: 'text', text: '[images of the messages above, in their order]' },
        file,
        file,
      ])
    },
  )

  it('are placeholders for a model of DeepSeek that is not known to see', () => {
    expect(codes(list, { ...DEEPSEEK, image: bytes })).toEqual(['image/unsupported', 'image/unsupported'])
    expect(codes([user([image()])], { ...DEEPSEEK, model: 'deepseek-vision', image: bytes })).toEqual([])
  })
})

describe('reasoning for Anthropic', () => {
  const seal = { anthropic: { signature: 'sig' } }
  const own = made(CLAUDE, [reasoning('hm'), text('x'), call('a')], [seal, null, null])

  it('goes back with its seal, from either form', () => {
    const redacted = made(CLAUDE, [reasoning(''), text('y')], [{ anthropic: { redactedData: 'd' } }, null])
    const list = [user(), own, result('a'), thinking([text('z')]), user(), redacted, user()]
    const parts = (prompt(list, CLAUDE) as { role: string; content: { type: string }[] }[]).flatMap(
      ({ role, content }) => {
        return role === 'assistant' ? content.filter(({ type }) => type === 'reasoning') : []
      },
    )
    expect(parts).toEqual([
      { type: 'reasoning', text: 'hm', providerOptions: { anthropic: { signature: 'sig' } } },
      { type: 'reasoning', text: 'let me see', providerOptions: { anthropic: { signature: 'sig' } } },
      { type: 'reasoning', text: '', providerOptions: { anthropic: { redactedData: 'd' } } },
    ])
  })

  it('stays behind past the intact prefix, for another model, and for another provider', () => {
    const list = [user(), own, result('a'), user()]
    expect(codes(list, CLAUDE)).toEqual([])
    expect(codes(list, { ...CLAUDE, intactThrough: 1 })).toEqual(['reasoning/dropped'])
    expect(codes(list, { ...CLAUDE, model: 'claude-opus-4-8' })).toEqual(['reasoning/dropped'])
    for (const options of [RESPONSES, CHAT, DEEPSEEK, ACME]) expect(codes(list, options)).toEqual(['reasoning/dropped'])
  })

  it('stays behind where the package would move a call behind text', () => {
    const moved = made(CLAUDE, [reasoning('hm'), call('a'), text('x')], [seal, null, null])
    const apart = made(CLAUDE, [call('a'), reasoning('hm'), text('x')], [null, seal, null])
    expect(codes([user(), moved, result('a'), user()], CLAUDE)).toEqual(['reasoning/dropped'])
    expect(codes([user(), apart, result('a'), user()], CLAUDE)).toEqual([])
  })

  it('that is redacted goes back by its data alone, whatever its text', () => {
    const odd = made(CLAUDE, [reasoning('\ud800'), text('x')], [{ anthropic: { redactedData: 'd' } }, null])
    const written = prompt([user(), odd, user()], CLAUDE)
    expect(validateLanguageModelPrompt(written, { profile: 'request' })).toEqual([])
    expect(JSON.stringify(written)).toContain('"redactedData":"d"')
  })

  it('reaches the wire as it came', async () => {
    const { body } = await wire('anthropic', [user(), own, result('a')], { ...CLAUDE, reasoningEffort: 'high' })
    expect(body['thinking']).toMatchObject({ type: 'enabled' })
    expect((body['messages'] as { content: unknown[] }[])[1]?.content).toEqual([
      { type: 'thinking', thinking: 'hm', signature: 'sig' },
      { type: 'text', text: 'x' },
      { type: 'tool_use', id: 'a', name: 'run', input: {} },
    ])
  })

  it('that is gone from an open tool turn turns thinking off, whoever asked for it', async () => {
    const list = [user(), own, result('a')]
    const asked: Partial<LanguageModelExportOptions>[] = [
      { reasoningEffort: 'high' },
      { providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 2000 } } } },
    ]
    for (const more of asked) {
      const options = { ...CLAUDE, ...more, intactThrough: 0 }
      const { body, exported } = await wire('anthropic', list, options)
      expect(exported.providerOptions).toEqual({ anthropic: { thinking: { type: 'disabled' } } })
      expect(exported.report.thinkingOff).toBe(true)
      expect(body['thinking']).toEqual({ type: 'disabled' })
      expect(codes(list, options)).toContain('thinking/off')
      // The turn of the next user message ends that.
      expect(toLanguageModelPrompt([...list, assistant(), user()], options).report.thinkingOff).toBe(false)
    }
    expect(toLanguageModelPrompt(list, { ...CLAUDE, intactThrough: 0 }).providerOptions).toBeUndefined()
    expect(
      toLanguageModelPrompt(list, { ...CLAUDE, intactThrough: 0, reasoningEffort: 'none' }).providerOptions,
    ).toBeUndefined()
  })

  it.each(['claude-fable-5-1', 'claude-opus-5-5', 'claude-sonnet-5-5'])(
    'goes without where %s cannot turn thinking off',
    (model) => {
      const list = [user(), own, result('a')]
      const options = { ...CLAUDE, model, reasoningEffort: 'high' }
      expect(toLanguageModelPrompt(list, options).providerOptions).toBeUndefined()
      expect(codes(list, options)).toEqual(['reasoning/dropped', 'thinking/kept'])
    },
  )
})

describe('reasoning for OpenAI', () => {
  const item = (itemId: string, reasoningEncryptedContent: string | null): Json => ({
    openai: { itemId, reasoningEncryptedContent },
  })
  const own = made(
    RESPONSES,
    [reasoning('one'), reasoning('two'), text('x'), call('a')],
    [
      item('rs_1', null),
      item('rs_1', 'enc'),
      { openai: { itemId: 'msg_1', phase: 'commentary' } },
      { openai: { itemId: 'fc_1' } },
    ],
  )
  const list = [user(), own, result('a')]

  it('goes back to Responses as whole items, and nothing is stored', async () => {
    const { body, exported } = await wire('openai responses', list, RESPONSES)
    expect(exported.providerOptions).toEqual({ openai: { store: false } })
    expect(body).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] })
    expect((body['input'] as unknown[]).slice(1)).toEqual([
      {
        type: 'reasoning',
        id: 'rs_1',
        encrypted_content: 'enc',
        summary: [
          { type: 'summary_text', text: 'one' },
          { type: 'summary_text', text: 'two' },
        ],
      },
      { role: 'assistant', content: 'x', phase: 'commentary' },
      { type: 'function_call', call_id: 'a', name: 'run', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: 'done' },
    ])
  })

  it('asks nothing of a model that does not reason', async () => {
    const { body } = await wire('openai responses', [user()], { ...RESPONSES, model: 'gpt-4.1' })
    expect(body).toMatchObject({ store: false })
    expect(body).not.toHaveProperty('include')
  })

  it('stays behind for other providers of the family, past the intact prefix, and where responses are stored', () => {
    for (const more of [
      { provider: 'azure.responses' },
      { intactThrough: 1 },
      { providerOptions: { openai: { store: true } } },
      { providerOptions: { openai: { previousResponseId: 'r' } } },
    ]) {
      expect(codes(list, { ...RESPONSES, ...more })).toEqual(['reasoning/dropped'])
    }
    const stored = toLanguageModelPrompt(list, { ...RESPONSES, providerOptions: { openai: { store: true } } })
    expect(stored.providerOptions).toBeUndefined()
  })

  it('of Azure stands under the key that its package reads', () => {
    const azure = { ...RESPONSES, provider: 'azure.responses' }
    const options = (providerOptions: LanguageModelExportOptions['providerOptions']): unknown => {
      return toLanguageModelPrompt(list, { ...azure, providerOptions }).providerOptions
    }
    expect(options(undefined)).toEqual({ azure: { store: false } })
    expect(options({ openai: { user: 'x' } })).toEqual({ openai: { store: false } })
    expect(options({ openai: {}, azure: {} })).toEqual({ azure: { store: false } })
  })

  it('stays behind for Chat Completions', () => {
    expect(JSON.stringify(prompt(list, CHAT))).not.toContain('reasoning')
  })
})

describe('reasoning for DeepSeek and compatible servers', () => {
  const sent = async (
    name: string,
    list: readonly Message[],
    options: LanguageModelExportOptions,
  ): Promise<unknown[]> => {
    const { body } = await wire(name, list, options)
    return (body['messages'] as Record<string, unknown>[])
      .filter(({ role }) => role === 'assistant')
      .map((message) => message['reasoning_content'])
  }
  const list = (options: { provider: string; model: string }): Message[] => {
    return [user(), made(options, [reasoning('hm'), text('x')], []), user(), thinking([text('y')]), user()]
  }

  it('DS5: stands on every assistant of DeepSeek, empty where another provider made it', async () => {
    expect(await sent('deepseek', list(DEEPSEEK), DEEPSEEK)).toEqual(['hm', ''])
    const other = { ...DEEPSEEK, model: 'deepseek-v4-flash' }
    expect(await sent('deepseek', list(other), DEEPSEEK)).toEqual(['hm', ''])
    expect(await sent('deepseek', list(ACME), DEEPSEEK)).toEqual(['', ''])
    const off = { ...DEEPSEEK, providerOptions: { deepseek: { thinking: { type: 'disabled' } } } }
    expect(codes(list(DEEPSEEK), off)).toEqual(['reasoning/dropped', 'reasoning/dropped'])
  })

  it('goes to a compatible server only from its own model', async () => {
    expect(await sent('compatible', list(ACME), ACME)).toEqual(['hm', undefined])
    expect(await sent('compatible', list(DEEPSEEK), ACME)).toEqual([undefined, undefined])
    expect(await sent('compatible', list({ ...ACME, model: 'acme-2' }), ACME)).toEqual([undefined, undefined])
  })

  it('in private on a call goes back to its own model too', () => {
    const signed = made(ACME, [call('a')], [{ google: { thoughtSignature: 's' } }])
    const [, message] = prompt([user(), signed, result('a')], ACME) as { content: unknown[] }[]
    expect(message?.content[0]).toMatchObject({ providerOptions: { google: { thoughtSignature: 's' } } })
    for (const options of [{ ...ACME, model: 'acme-2' }, DEEPSEEK, CHAT, CLAUDE]) {
      expect(JSON.stringify(prompt([user(), signed, result('a')], options))).not.toContain('thoughtSignature')
    }
  })

  it('texts of one user message for DeepSeek do not run together', async () => {
    const { body } = await wire('deepseek', [user([text('one'), text('two')])], DEEPSEEK)
    expect(body['messages']).toEqual([{ role: 'user', content: 'one\n\ntwo' }])
  })
})

describe('who the provider is', () => {
  const kinds: [provider: string, limit: number][] = [
    ['anthropic.messages', 100],
    ['vertex.anthropic.messages', 100],
    ['corp.messages', 100],
    ['azure.responses', 64],
    ['openai.chat', 40],
    ['deepseek.chat', 40],
    ['acme.chat', 40],
    ['', 40],
  ]
  it.each(kinds)('%s takes call ids of %i characters here', (provider, limit) => {
    const id = 'x'.repeat(100)
    const list = [user(), assistant([call(id)]), result(id)]
    const written = JSON.stringify(prompt(list, { provider, model: 'm' }))
    expect(/"toolCallId":"(x+)"/.exec(written)?.[1]).toHaveLength(limit)
  })
})

describe('messages for ai functions', () => {
  it('are those of the prompt, with images in base64', () => {
    const list = [
      system('be brief'),
      user([text('see'), image()]),
      thinking([call('a', '{"x":1}')]),
      result('a', [image()]),
      assistant('fine'),
      user('bye'),
    ]
    const { messages, report, toolNames } = toModelMessages(list, { ...CLAUDE, image: bytes })
    expect(messages).toEqual([
      { role: 'system', content: 'be brief' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type: 'file', mediaType: 'image/png', data: 'AQID' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'let me see', providerOptions: { anthropic: { signature: 'sig' } } },
          { type: 'tool-call', toolCallId: 'a', toolName: 'run', input: { x: 1 } },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'a',
            toolName: 'run',
            output: {
              type: 'content',
              value: [{ type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AQID' } }],
            },
          },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'fine' }] },
      { role: 'user', content: [{ type: 'text', text: 'bye' }] },
    ])
    expect(validateModelMessages(messages, { profile: 'request' })).toEqual([])
    expect(report.notes).toEqual([])
    expect(toolNames.get('run')).toBe('run')
    expect(toModelMessages([user()], RESPONSES).providerOptions).toEqual({ openai: { store: false } })
  })
})
