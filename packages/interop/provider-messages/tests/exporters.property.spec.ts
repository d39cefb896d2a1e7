import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Message } from '@palimpsest/session'
import {
  toAnthropic,
  toDeepSeek,
  toOpenAiChat,
  toOpenAiResponses,
  validateAnthropic,
  validateDeepSeek,
  validateOpenAiChat,
  validateOpenAiResponses,
} from '../src/index.ts'
import type {
  AnthropicExportOptions,
  AnthropicThinking,
  DeepSeekExportOptions,
  DeepSeekThinking,
  OpenAiResponsesExportOptions,
} from '../src/index.ts'
import { anyEntries, sealedEntries } from './fixtures/derived-lists.ts'
import { user } from './fixtures/messages.ts'

const isDeep = process.env['PALIMPSEST_DEEP'] === '1'

const RUNS = { numRuns: isDeep ? 20_000 : 600 }
const FEWER_RUNS = { numRuns: isDeep ? 10_000 : 300 }
const MODEL = 'claude-sonnet-4-5'
const bytes = (ref: { attachmentId: string }): Uint8Array | undefined => {
  return ref.attachmentId.endsWith('1') ? undefined : new Uint8Array([1, 2, 3])
}

const anyOptions: fc.Arbitrary<AnthropicExportOptions> = fc.record(
  {
    model: fc.constantFrom(MODEL, 'claude-opus-4-8'),
    image: fc.constant(bytes),
    alternate: fc.boolean(),
    intactThrough: fc.nat({ max: 20 }),
    tools: fc.constant(['bash', 'n'.repeat(129)]),
    thinking: fc.constantFrom<AnthropicThinking>({ type: 'enabled', budget_tokens: 5 }, { type: 'disabled' }),
  },
  { requiredKeys: ['image'] },
)

const anyResponsesOptions: fc.Arbitrary<OpenAiResponsesExportOptions> = fc.record(
  {
    model: fc.constantFrom('gpt-5', 'gpt-5-2025-08-07', 'gpt-4.1'),
    provider: fc.constantFrom('openai.responses', 'azure.responses'),
    image: fc.constant(bytes),
    intactThrough: fc.oneof(fc.constant(99), fc.nat({ max: 20 })),
    tools: fc.constant(['bash', 'n'.repeat(65)]),
  },
  { requiredKeys: ['image'] },
)
const anyDeepSeekOptions: fc.Arbitrary<DeepSeekExportOptions> = fc.record(
  {
    image: fc.constant(bytes),
    vision: fc.boolean(),
    alternate: fc.boolean(),
    thinking: fc.constantFrom<DeepSeekThinking>({ type: 'enabled' }, { type: 'disabled' }),
    tools: fc.constant(['bash', 'n'.repeat(65)]),
  },
  { requiredKeys: ['image'] },
)

/** A copy with fresh identities: what is equal by value exports to the same bytes. */
const copy = (messages: readonly Message[]): readonly Message[] => structuredClone(messages)

function reasoningText({ content }: Message): string {
  return content.map((block) => (block.type === 'reasoning' ? block.text : '')).join('')
}

/** Every form in which the reasoning of a message could go back, read from the log without the code under test. */
function sealedBlocks({ source, content }: Message): string[] {
  if (source.kind !== 'model') return []
  const { blocks = [] } = source.replayState as { blocks?: readonly Record<string, unknown>[] }
  const reasoning = content.flatMap((block, index) => {
    return block.type === 'reasoning' ? [{ text: block.text, seal: blocks[index] ?? {} }] : []
  })
  const items = new Map<string, { texts: string[]; encrypted: unknown }>()
  const found: string[] = []
  for (const { text, seal } of reasoning) {
    const metadata = (seal['providerMetadata'] ?? {}) as Record<string, Record<string, unknown>>
    const { anthropic = seal, openai } = metadata
    const signature = anthropic['signature']
    const data = anthropic['data'] ?? anthropic['redactedData']
    if (signature !== undefined) found.push(JSON.stringify({ type: 'thinking', thinking: text, signature }))
    if (data !== undefined) found.push(JSON.stringify({ type: 'redacted_thinking', data }))
    if (openai === undefined) continue
    const id = openai['itemId'] as string
    const item = items.get(id) ?? { texts: [], encrypted: null }
    items.set(id, { texts: [...item.texts, text], encrypted: openai['reasoningEncryptedContent'] ?? item.encrypted })
  }
  for (const [id, { texts, encrypted }] of items) {
    const summary = texts.filter((text) => text !== '').map((text) => ({ type: 'summary_text', text }))
    found.push(JSON.stringify({ type: 'reasoning', id, summary, encrypted_content: encrypted }))
  }
  return found
}

describe('every derived list', () => {
  it('exports to what the transcript profile of Anthropic accepts, and to a request with one more user message', () => {
    fc.assert(
      fc.property(anyEntries, anyOptions, (entries, options) => {
        const list = entries.flat()
        const config = { model: MODEL, ...(options.thinking === undefined ? {} : { thinking: options.thinking }) }
        expect(validateAnthropic(toAnthropic(list, options), { ...config, profile: 'transcript' })).toEqual([])
        const { report, ...wire } = toAnthropic([...list, user('go on')], { ...options, model: MODEL })
        expect(report.notes).toBeDefined()
        expect(validateAnthropic({ model: MODEL, max_tokens: 9, ...wire }, { profile: 'request' })).toEqual([])
      }),
      RUNS,
    )
  })

  it('that ends on results exports to an Anthropic request, with thinking off where the open turn has no signature', () => {
    let off = 0
    fc.assert(
      fc.property(anyEntries, anyOptions, (entries, options) => {
        const list = entries.flat()
        fc.pre(list.at(-1)?.source.kind === 'tool')
        const { report, ...wire } = toAnthropic(list, { ...options, model: MODEL, intactThrough: 99 })
        if (report.thinkingOff) {
          off += 1
          expect(wire.thinking).toEqual({ type: 'disabled' })
          expect(JSON.stringify(wire.messages)).not.toContain('"signature"')
        }
        expect(validateAnthropic({ model: MODEL, max_tokens: 9, ...wire }, { profile: 'request' })).toEqual([])
      }),
      FEWER_RUNS,
    )
    expect(off).toBeGreaterThan(0)
  })

  it('exports to what the transcript profile of OpenAI accepts, and to a request with one more user message', () => {
    fc.assert(
      fc.property(anyEntries, fc.boolean(), (entries, alternate) => {
        const options = { image: bytes, alternate }
        const list = entries.flat()
        expect(validateOpenAiChat(toOpenAiChat(list, options), { profile: 'transcript' })).toEqual([])
        const { messages } = toOpenAiChat([...list, user('go on')], options)
        expect(validateOpenAiChat({ model: 'gpt-4.1', messages }, { profile: 'request' })).toEqual([])
      }),
      RUNS,
    )
  })

  it('exports to what the transcript profile of Responses accepts, and to a request with one more user message', () => {
    fc.assert(
      fc.property(fc.oneof(anyEntries, sealedEntries), anyResponsesOptions, (entries, options) => {
        const list = entries.flat()
        const model = options.model ?? 'gpt-5'
        expect(validateOpenAiResponses(toOpenAiResponses(list, options), { model, profile: 'transcript' })).toEqual([])
        const { report, ...wire } = toOpenAiResponses([...list, user('go on')], { ...options, model })
        expect(report.notes).toBeDefined()
        expect(validateOpenAiResponses({ model, ...wire }, { profile: 'request' })).toEqual([])
      }),
      RUNS,
    )
  })

  it('exports to what the transcript profile of DeepSeek accepts, and to a request with one more user message', () => {
    fc.assert(
      fc.property(anyEntries, anyDeepSeekOptions, (entries, options) => {
        const list = entries.flat()
        const config = { vision: options.vision ?? false }
        expect(validateDeepSeek(toDeepSeek(list, options), { ...config, profile: 'transcript' })).toEqual([])
        const { report, ...wire } = toDeepSeek([...list, user('go on')], options)
        expect(report.notes).toBeDefined()
        const body = { model: 'deepseek-v4-pro', ...wire }
        expect(validateDeepSeek(body, { ...config, profile: 'request' })).toEqual([])
      }),
      RUNS,
    )
  })

  it('TH-01: gives sealed reasoning back exactly as it came or not at all, once, and never past a broken prefix', () => {
    const sent = { responses: 0, anthropic: 0 }
    fc.assert(
      fc.property(fc.oneof(anyEntries, sealedEntries), fc.nat({ max: 12 }), (entries, through) => {
        const list = entries.flat()
        const came = new Set(list.slice(0, through).flatMap(sealedBlocks))
        const responses = toOpenAiResponses(list, { model: 'gpt-5', intactThrough: through })
        const items = responses.input.filter((item) => item.type === 'reasoning')
        const anthropic = toAnthropic(list, { model: MODEL, intactThrough: through })
        const thoughts = anthropic.messages
          .flatMap((message) => [...message.content])
          .filter((block) => block.type === 'thinking' || block.type === 'redacted_thinking')
        for (const item of items) expect(came).toContain(JSON.stringify(item))
        for (const block of thoughts) expect(came).toContain(JSON.stringify(block))
        expect(new Set(items.map((item) => item.id)).size).toBe(items.length)
        sent.responses += items.length
        sent.anthropic += thoughts.length
      }),
      RUNS,
    )
    expect(Math.min(sent.responses, sent.anthropic)).toBeGreaterThan(0)
  })

  it('passes no reasoning of others off as that of DeepSeek', () => {
    let sent = 0
    fc.assert(
      fc.property(anyEntries, (entries) => {
        const list = entries.flat()
        const own = list.filter(({ source }) => source.kind === 'model' && source.provider.startsWith('deepseek'))
        const came = own.map(reasoningText)
        for (const message of toDeepSeek(list).messages) {
          if (message.role !== 'assistant' || message.reasoning_content === '') continue
          expect(came).toContain(message.reasoning_content)
          sent += 1
        }
      }),
      RUNS,
    )
    expect(sent).toBeGreaterThan(0)
  })

  it('exports to the same bytes every time, and to plain JSON', () => {
    fc.assert(
      fc.property(anyEntries, anyOptions, anyResponsesOptions, (entries, options, responses) => {
        const list = entries.flat()
        for (const write of [
          (l: readonly Message[]) => toAnthropic(l, options),
          (l: readonly Message[]) => toOpenAiChat(l),
          (l: readonly Message[]) => toOpenAiResponses(l, responses),
          (l: readonly Message[]) => toDeepSeek(l),
        ]) {
          const wire = write(list)
          expect(JSON.stringify(write(copy(list)))).toBe(JSON.stringify(wire))
          expect(JSON.parse(JSON.stringify(wire))).toEqual(wire)
          expect(structuredClone(wire)).toEqual(wire)
        }
      }),
      FEWER_RUNS,
    )
  })

  it('exports to messages that begin with those of every shorter list', () => {
    fc.assert(
      fc.property(fc.oneof(anyEntries, sealedEntries), fc.nat(), fc.boolean(), (entries, at, isSigned) => {
        const cut = at % (entries.length + 1)
        const shorter = entries.slice(0, cut).flat()
        const longer = entries.flat()
        const signed = isSigned ? { intactThrough: longer.length } : {}
        for (const write of [
          (l: readonly Message[]) => toAnthropic(l, { image: bytes, model: MODEL, ...signed }).messages,
          (l: readonly Message[]) => toOpenAiChat(l, { image: bytes }).messages,
          (l: readonly Message[]) => toOpenAiResponses(l, { image: bytes, model: 'gpt-5', ...signed }).input,
          (l: readonly Message[]) => toDeepSeek(l, { image: bytes, vision: true }).messages,
        ]) {
          const early = write(shorter)
          expect(JSON.stringify(write(longer).slice(0, early.length))).toBe(JSON.stringify(early))
        }
      }),
      RUNS,
    )
  })

  it('exports with neighbours of one role apart, and joined when the target asks for alternation', () => {
    fc.assert(
      fc.property(anyEntries, (entries) => {
        const list = entries.flat()
        const roles = toAnthropic(list, { alternate: true }).messages.map((message) => message.role)
        expect(roles.some((role, index) => role === roles[index - 1])).toBe(false)
        const apart = toAnthropic(list).messages.flatMap((message) => [...message.content])
        const joined = toAnthropic(list, { alternate: true }).messages.flatMap((message) => [...message.content])
        expect(joined).toEqual(apart)
        const chat = toOpenAiChat(list, { alternate: true }).messages.map((message) => message.role)
        expect(chat.some((role, index) => role !== 'tool' && role === chat[index - 1])).toBe(false)
      }),
      FEWER_RUNS,
    )
  })

  it('exports tool names one to one', () => {
    fc.assert(
      fc.property(anyEntries, (entries) => {
        for (const write of [toOpenAiChat, toOpenAiResponses, toDeepSeek]) {
          const { toolNames } = write(entries.flat(), { tools: ['bash'] }).report
          expect(new Set(toolNames.map((tool) => tool.wire)).size).toBe(toolNames.length)
          expect(new Set(toolNames.map((tool) => tool.name)).size).toBe(toolNames.length)
        }
      }),
      FEWER_RUNS,
    )
  })
})
