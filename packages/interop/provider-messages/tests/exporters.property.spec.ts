import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Message } from '@palimpsest/session'
import { toAnthropic, toOpenAiChat, validateAnthropic, validateOpenAiChat } from '../src/index.ts'
import type { AnthropicExportOptions, AnthropicThinking } from '../src/index.ts'
import { anyEntries } from './fixtures/derived-lists.ts'
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

/** A copy with fresh identities: what is equal by value exports to the same bytes. */
const copy = (messages: readonly Message[]): readonly Message[] => structuredClone(messages)

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
    expect(off).toBeGreaterThan(10)
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

  it('exports to the same bytes every time, and to plain JSON', () => {
    fc.assert(
      fc.property(anyEntries, anyOptions, (entries, options) => {
        const list = entries.flat()
        for (const write of [
          (l: readonly Message[]) => toAnthropic(l, options),
          (l: readonly Message[]) => toOpenAiChat(l),
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
      fc.property(anyEntries, fc.nat(), fc.boolean(), (entries, at, isSigned) => {
        const cut = at % (entries.length + 1)
        const shorter = entries.slice(0, cut).flat()
        const longer = entries.flat()
        const options = { image: bytes, model: MODEL, ...(isSigned ? { intactThrough: longer.length } : {}) }
        for (const write of [
          (l: readonly Message[]) => toAnthropic(l, options),
          (l: readonly Message[]) => toOpenAiChat(l, options),
        ]) {
          const early = write(shorter).messages
          expect(JSON.stringify(write(longer).messages.slice(0, early.length))).toBe(JSON.stringify(early))
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
        const { toolNames } = toOpenAiChat(entries.flat(), { tools: ['bash'] }).report
        expect(new Set(toolNames.map((tool) => tool.wire)).size).toBe(toolNames.length)
        expect(new Set(toolNames.map((tool) => tool.name)).size).toBe(toolNames.length)
      }),
      FEWER_RUNS,
    )
  })
})
