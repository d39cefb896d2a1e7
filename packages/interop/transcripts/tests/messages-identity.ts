import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Session } from '@palimpsest/session'
import type { ContentBlock, Message } from '@palimpsest/session'
import {
  intactThrough,
  toAnthropic,
  toDeepSeek,
  toModelMessages,
  toOpenAiChat,
  toOpenAiResponses,
  toUiMessages,
  validateAnthropic,
  validateDeepSeek,
  validateModelMessages,
  validateOpenAiChat,
  validateOpenAiResponses,
  validateUiMessages,
} from '@palimpsest/provider-messages'
import { detectMessages, importMessageArray, importVocabulary } from '../src/index.ts'
import type { MessageShape } from '../src/index.ts'
import { seed } from './fuzz.ts'
import { expectSoundSessions } from './import-laws.ts'
import { chatRequests, claudeRequests, deepSeekRequests, modelLists, responsesRequests } from './message-requests.ts'
import { MemorySink } from './support.ts'
import { uiLists } from './ui-lists.ts'

type Loose = Record<string, unknown>

const profile = 'transcript'

interface Read {
  readonly list: readonly Message[]
  readonly intact: number
  readonly image: (ref: { readonly attachmentId: string }) => Uint8Array | undefined
}

/** Imports a request, and gives what an exporter needs to write it again. */
async function read(request: unknown, shape: MessageShape, provider?: string): Promise<Read> {
  const sink = new MemorySink()
  const imported = await importMessageArray(request, {
    attachments: sink,
    shape,
    model: 'm',
    ...(provider === undefined ? {} : { provider }),
  })
  expectSoundSessions([imported])
  expect(imported.report.unmapped).toEqual([])
  const session = Session.restore(structuredClone(imported.session), { vocabulary: importVocabulary })
  return {
    list: session.deriveMessages(),
    intact: intactThrough(session),
    image: ({ attachmentId }) => sink.stored.get(attachmentId),
  }
}

/** Ids, lines and what else names the source aside. */
const contents = (list: readonly Message[]): unknown[] => list.map(({ role, content }) => ({ role, content }))

/** A single text may be written as a string or as its one part: the exporters write the string. */
const oneText = (content: unknown): unknown => {
  const [first, ...rest] = Array.isArray(content) ? (content as Loose[]) : []
  return first?.['type'] === 'text' && rest.length === 0 ? first['text'] : content
}

/**
 * What every shape has a place for: blocks without what only one shape knows of them, arguments as values, the texts of an
 * error as one, answers in the order of their calls.
 */
function plain(list: readonly Message[]): unknown[] {
  return inCallOrder(list).flatMap(({ role, content }) => {
    const blocks = content.flatMap(plainBlock)
    return blocks.length === 0 ? [] : [{ role, blocks }]
  })
}

function inCallOrder(list: readonly Message[]): Message[] {
  const places = new Map<string, number>()
  const placeOf = ([first]: readonly ContentBlock[]): number =>
    first?.type === 'tool-result' ? (places.get(first.toolCallId) ?? 0) : 0
  // Ids are unique here, and so is the place of each call among all.
  for (const block of list.flatMap(({ content }) => content)) {
    if (block.type === 'tool-call') places.set(block.id, places.size)
  }
  const found: Message[] = []
  let batch: Message[] = []
  for (const message of list) {
    if (message.content[0]?.type === 'tool-result') {
      batch.push(message)
      continue
    }
    found.push(...batch.sort((a, b) => placeOf(a.content) - placeOf(b.content)), message)
    batch = []
  }
  return [...found, ...batch.sort((a, b) => placeOf(a.content) - placeOf(b.content))]
}

function plainBlock(block: ContentBlock): object[] {
  const { wire: _, ...rest } = block as ContentBlock & { readonly wire?: unknown }
  if (rest.type === 'text' && rest.text === '') return []
  if (rest.type === 'tool-call') return [{ ...rest, arguments: JSON.parse(rest.arguments) as unknown }]
  if (rest.type !== 'tool-result') return [rest]
  const texts = rest.content.flatMap((inner) => (inner.type === 'text' ? [inner.text] : []))
  return [{ ...rest, content: rest.isError === true ? [texts.join('\n\n')] : rest.content.flatMap(plainBlock) }]
}

const chatNormal = ({ content, ...message }: Loose): Loose => ({ ...message, content: oneText(content) ?? null })
const chat = ({ list, image }: Read): readonly object[] => toOpenAiChat(list, { image }).messages

const claudeBlocks = (content: unknown): Loose[] =>
  (typeof content === 'string' ? [{ type: 'text', text: content }] : (content as Loose[])).map((block) => {
    if (block['type'] !== 'tool_result') return block
    const { is_error: isError, content: inner, ...rest } = block
    return { ...rest, content: claudeBlocks(inner), ...(isError === true ? { is_error: true } : {}) }
  })

/** Neighbours of one role are one turn to the API; text is a block; `is_error: false` goes without saying. */
function claudeNormal(messages: readonly Loose[]): Loose[] {
  const turns: { role: unknown; content: Loose[] }[] = []
  for (const { role, content } of messages) {
    const last = turns.at(-1)
    if (last?.role === role) last?.content.push(...claudeBlocks(content))
    else turns.push({ role, content: claudeBlocks(content) })
  }
  return turns
}

const claude = ({ list, image, intact }: Read, alternate = true): { system?: unknown; messages: readonly object[] } => {
  const { report: _, ...body } = toAnthropic(list, { image, model: 'm', intactThrough: intact, alternate })
  return body
}

/** Messages say their type and have parts; ids and states of what is said are bookkeeping of the provider. */
function responsesNormal(item: Loose): Loose {
  const { type = 'message' } = item
  if (type === 'function_call_output' || type === 'custom_tool_call_output') {
    const [first, ...rest] = Array.isArray(item['output']) ? (item['output'] as Loose[]) : []
    return { ...item, output: first?.['type'] === 'input_text' && rest.length === 0 ? first['text'] : item['output'] }
  }
  if (type !== 'message') return item
  const { id: _, status: __, content, ...rest } = item
  const textType = item['role'] === 'assistant' ? 'output_text' : 'input_text'
  return { ...rest, type, content: typeof content === 'string' ? [{ type: textType, text: content }] : content }
}

const responses = ({ list, image, intact }: Read): readonly object[] =>
  toOpenAiResponses(list, { image, model: 'm', intactThrough: intact }).input

/** Text is a part, and the results of a batch are one message. */
function modelNormal(messages: readonly Loose[]): Loose[] {
  const found: Loose[] = []
  for (const message of messages) {
    const { role, content } = message
    const last = found.at(-1)
    if (role === 'tool' && last?.['role'] === 'tool') {
      found[found.length - 1] = { ...last, content: [...(last['content'] as Loose[]), ...(content as Loose[])] }
    } else if (role !== 'system' && typeof content === 'string') {
      found.push({ ...message, content: [{ type: 'text', text: content }] })
    } else found.push(message)
  }
  return found
}

const provider = 'anthropic.messages'
const model = ({ list, image, intact }: Read): readonly object[] =>
  toModelMessages(list, { image, provider, model: 'm', intactThrough: intact }).messages

/**
 * Messages of each shape that its validator accepts come back from a session as they were, up to the normal forms that the
 * titles name. SPEC 8.
 */
export function describeIdentity(numRuns: number): void {
  describe('messages of Chat Completions', () => {
    it(`come back as they were, one text as a string and no content as null, seed ${seed}`, async () => {
      await fc.assert(
        fc.asyncProperty(chatRequests, async (request) => {
          expect(validateOpenAiChat(request, { profile })).toEqual([])
          const once = await read(request.messages, 'openai-chat')
          expect(chat(once)).toEqual(request.messages.map(chatNormal))
          const again = await read(chat(once), 'openai-chat')
          expect(contents(again.list)).toEqual(contents(once.list))
        }),
        { numRuns, seed },
      )
    })

    it('come back with ids in the characters that every provider takes', async () => {
      const once = await read(
        [
          { role: 'user', content: 'x' },
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'a.b', type: 'function', function: { name: 'f', arguments: '{}' } }],
          },
          { role: 'tool', tool_call_id: 'a.b', content: 'y' },
        ],
        'openai-chat',
      )
      expect(chat(once)).toMatchObject([{}, { tool_calls: [{ id: 'a_b' }] }, { tool_call_id: 'a_b' }])
    })

    it('come back with functions as tools, since a log knows calls by their ids', async () => {
      const once = await read(
        [
          { role: 'user', content: 'x' },
          { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
          { role: 'function', name: 'f', content: 'y' },
        ],
        'openai-chat',
      )
      expect(chat(once)).toMatchObject([
        {},
        { tool_calls: [{ function: { name: 'f' } }] },
        { role: 'tool', content: 'y' },
      ])
    })

    it('come back with fixed texts for blank ones, and with later prompts in their frame', async () => {
      const once = await read(
        [
          { role: 'user', content: ' ' },
          { role: 'system', content: 'x' },
          { role: 'assistant', content: '' },
        ],
        'openai-chat',
      )
      expect(chat(once)).toEqual([
        { role: 'user', content: '[empty message]' },
        { role: 'user', content: '[system message]\nx\n[end of system message]' },
      ])
    })
  })

  describe('messages of DeepSeek', () => {
    it(`come back as they were, with empty content beside calls, seed ${seed}`, async () => {
      await fc.assert(
        fc.asyncProperty(deepSeekRequests, async (request) => {
          expect(validateDeepSeek(request, { profile })).toEqual([])
          const { list, image } = await read(request.messages, 'openai-chat', 'deepseek')
          const normal = request.messages.map((message) => {
            const { content, ...rest } = chatNormal(message)
            return { ...rest, content: content ?? '' }
          })
          expect(toDeepSeek(list, { image }).messages).toEqual(normal)
        }),
        { numRuns, seed },
      )
    })
  })

  describe('messages of Anthropic', () => {
    it(`come back as they were, neighbours joined and text in blocks, seed ${seed}`, async () => {
      await fc.assert(
        fc.asyncProperty(claudeRequests, async (request) => {
          expect(validateAnthropic(request, { profile })).toEqual([])
          const once = await read(request, 'anthropic')
          const { system, messages } = request
          expect(claude(once)).toEqual({
            ...(system === undefined ? {} : { system: claudeBlocks(system) }),
            messages: claudeNormal(messages),
          })
          const again = await read(claude(once, false), 'anthropic')
          expect(contents(again.list)).toEqual(contents(once.list))
        }),
        { numRuns, seed },
      )
    })

    it('come back without marks of where to cache, which are a matter of one request, and with a text for an empty result', async () => {
      const cache_control = { type: 'ephemeral' }
      const once = await read(
        {
          messages: [
            { role: 'user', content: [{ type: 'text', text: 'x', cache_control }] },
            { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {}, cache_control }] },
            { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', cache_control }] },
          ],
        },
        'anthropic',
      )
      expect(claude(once).messages).toEqual([
        { role: 'user', content: [{ type: 'text', text: 'x' }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: '[no output]' }] }],
        },
      ])
    })
  })

  describe('items of Responses', () => {
    it(`come back as they were, messages with their type and parts and without ids, seed ${seed}`, async () => {
      await fc.assert(
        fc.asyncProperty(responsesRequests, async (request) => {
          expect(validateOpenAiResponses({ ...request, store: false }, { profile })).toEqual([])
          const once = await read(request, 'openai-responses')
          expect(responses(once)).toEqual(request.input.map(responsesNormal))
          const again = await read(responses(once), 'openai-responses')
          expect(contents(again.list)).toEqual(contents(once.list))
        }),
        { numRuns, seed },
      )
    })

    it('come back with instructions as the first message, and with an output right behind the response that asked for it', async () => {
      const once = await read(
        {
          instructions: 'Be brief',
          input: [
            { type: 'message', role: 'user', content: 'x' },
            { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
            { type: 'function_call', call_id: 'b', name: 'f', arguments: '{}' },
            { type: 'function_call_output', call_id: 'a', output: '1' },
            { type: 'message', role: 'assistant', content: 'so far' },
            { type: 'function_call_output', call_id: 'b', output: '2' },
          ],
        },
        'openai-responses',
      )
      expect(
        responses(once).map((item) =>
          'type' in item && item.type !== 'message' ? item.type : 'role' in item && item.role,
        ),
      ).toEqual([
        'system',
        'user',
        'function_call',
        'function_call',
        'function_call_output',
        'function_call_output',
        'assistant',
      ])
    })
  })

  describe('model messages', () => {
    it(`come back as they were, text in parts and results of a batch in one message, seed ${seed}`, async () => {
      await fc.assert(
        fc.asyncProperty(modelLists, async (messages) => {
          expect(validateModelMessages(messages, { profile })).toEqual([])
          const once = await read(messages, 'model-messages', provider)
          expect(model(once)).toEqual(modelNormal(messages))
          const again = await read(model(once), 'model-messages', provider)
          expect(contents(again.list)).toEqual(contents(once.list))
        }),
        { numRuns, seed },
      )
    })
  })

  describe('messages for a page', () => {
    it(`come back as they were, seed ${seed}`, async () => {
      await fc.assert(
        fc.asyncProperty(uiLists, async (messages) => {
          expect(validateUiMessages(messages, { profile })).toEqual([])
          const { list, image } = await read(messages, 'ui-messages')
          expect(toUiMessages(list, { image }).messages).toEqual(messages)
        }),
        { numRuns, seed },
      )
    })

    it(`show what was read in another shape, and give the same list again, seed ${seed}`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.oneof(chatRequests, claudeRequests), async (request) => {
          const once = await read(
            request,
            'system' in request ? 'anthropic' : (detectMessages(request) ?? 'openai-chat'),
          )
          const { messages } = toUiMessages(once.list, { image: once.image })
          expect(validateUiMessages(messages, { profile })).toEqual([])
          const again = await read(JSON.parse(JSON.stringify(messages)), 'ui-messages')
          expect(plain(again.list)).toEqual(plain(once.list))
        }),
        { numRuns, seed },
      )
    })
  })
}
