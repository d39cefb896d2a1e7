import { anthropicError } from './anthropic-error.ts'
import { signCompaction, type ThinkingPrefix } from './anthropic-thinking.ts'
import type { AnthropicView } from './anthropic-view.ts'
import { stringOf, type Fields } from './json.ts'
import { pieces, type ProtocolAnswer } from './protocol.ts'
import {
  argumentsText,
  thinkingText,
  type ServedBlock,
  type ServedRaw,
  type ServedReply,
  type ServedThinking,
  type ServedToolCall,
} from './script.ts'

/** A block as it is in the whole answer, and the arguments of a call as they are streamed. */
interface AnsweredBlock {
  readonly block: Fields
  readonly argumentsText?: string
}

const stopReasons: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'refusal',
}

function event(data: Fields & { readonly type: string }, random: () => number): string {
  // The provider pads some lines with blanks.
  const padding = ' '.repeat(random() < 0.2 ? Math.floor(random() * 8) : 0)
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}${padding}\n\n`
}

function usageOf(view: AnthropicView, { usage = {} }: ServedReply, answered: readonly AnsweredBlock[]): Fields {
  const { cacheRead = 0, cacheWrite = 0 } = usage
  const text = JSON.stringify(answered.map(({ block }) => block))
  return {
    input_tokens: (usage.input ?? view.request.tokens) - cacheRead - cacheWrite,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: usage.output ?? Math.ceil(text.length / 4),
  }
}

function deltas(block: AnsweredBlock, random: () => number): readonly Fields[] {
  const { type, text, thinking, signature } = block.block
  if (type === 'text') return pieces(stringOf(text), random).map((piece) => ({ type: 'text_delta', text: piece }))
  if (type === 'thinking') {
    return [
      ...pieces(stringOf(thinking), random).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
      { type: 'signature_delta', signature },
    ]
  }
  if (type !== 'tool_use') return []
  const parts = block.argumentsText === '{}' ? [] : pieces(block.argumentsText ?? '', random)
  return ['', ...parts].map((piece) => ({ type: 'input_json_delta', partial_json: piece }))
}

function startOf({ block }: AnsweredBlock): Fields {
  if (block['type'] === 'text') return { ...block, text: '' }
  if (block['type'] === 'thinking') return { ...block, thinking: '', signature: '' }
  return block['type'] === 'tool_use' ? { ...block, input: {} } : block
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

function thinkingBlock(one: ServedThinking, sign: (text: string) => string): AnsweredBlock {
  if (one.redacted === true) return { block: { type: 'redacted_thinking', data: sign('') } }
  const text = thinkingText(one)
  return { block: { type: 'thinking', thinking: text, signature: sign(text) } }
}

function callBlock(one: ServedToolCall, id: string): AnsweredBlock {
  const text = argumentsText(one)
  return { block: { type: 'tool_use', id, name: one.name, input: parsed(text) }, argumentsText: text }
}

function rawBlock({ block }: ServedRaw, organisation: string): AnsweredBlock {
  return block['type'] === 'compaction'
    ? { block: { ...block, signature: signCompaction(organisation, block['content']) } }
    : { block }
}

/** Gives the blocks ids and signatures: each thinking block is sealed to the conversation and to the blocks before it. */
function answeredBlocks(
  view: AnthropicView,
  prefixOf: () => ThinkingPrefix,
  blocks: readonly ServedBlock[],
  newId: (prefix: string) => string,
): readonly AnsweredBlock[] {
  const answer = newId('')
  let thought = 0
  const prefix = blocks.some(({ type }) => type === 'thinking') ? prefixOf() : undefined
  const sign = (text: string): string => (prefix ?? prefixOf()).sign(view.model?.family ?? '', answer, thought++, text)
  return blocks.map((one) => {
    let made: AnsweredBlock
    if (one.type === 'text') made = { block: { type: 'text', text: one.text } }
    else if (one.type === 'tool-call') made = callBlock(one, one.id ?? newId('toolu_'))
    else if (one.type === 'raw') made = rawBlock(one, view.settings.organisation)
    else made = thinkingBlock(one, sign)
    prefix?.add('assistant', made.block)
    return made
  })
}

/** The answer as events and as one object. */
export function anthropicAnswer(
  view: AnthropicView,
  prefixOf: () => ThinkingPrefix,
  reply: ServedReply,
  newId: (prefix: string) => string,
): ProtocolAnswer {
  const { random } = view.settings
  const requestId = newId('req_')
  const answered = answeredBlocks(view, prefixOf, reply.blocks, newId)
  const usage = usageOf(view, reply, answered)
  const hasCalls = reply.blocks.some(({ type }) => type === 'tool-call')
  const wish = reply.stop ?? (hasCalls ? 'tool-calls' : 'stop')
  const stop = { stop_reason: stopReasons[wish] ?? wish, stop_sequence: null }
  const message = { id: newId('msg_'), type: 'message', role: 'assistant', model: view.body['model'] }
  const opening = {
    ...message,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 },
  }
  const events = [
    event({ type: 'message_start', message: opening }, random),
    ...answered.flatMap((one, index) => [
      event({ type: 'content_block_start', index, content_block: startOf(one) }, random),
      ...deltas(one, random).map((delta) => event({ type: 'content_block_delta', index, delta }, random)),
      event({ type: 'content_block_stop', index }, random),
    ]),
    event({ type: 'message_delta', delta: stop, usage }, random),
    event({ type: 'message_stop' }, random),
  ]
  const ping = event({ type: 'ping' }, random)
  return {
    events: reply.pings === true ? events.flatMap((one, index) => (index % 2 === 0 ? [one, ping] : [one])) : events,
    whole: { ...message, content: answered.map(({ block }) => block), ...stop, usage },
    headers: { 'request-id': requestId },
    errorEvents: ({ error }) => {
      const fault = { status: 529, message: 'Overloaded', ...error }
      return [`event: error\ndata: ${JSON.stringify(anthropicError(fault, requestId))}\n\n`]
    },
  }
}
