import { listOf, type Fields } from './json.ts'
import { openaiError } from './openai-error.ts'
import { pieces, type HttpAnswer, type ProtocolAnswer, type WireRequest } from './protocol.ts'
import { conversation, type ResponsesView } from './responses-view.ts'
import type { Fault } from './rule.ts'
import {
  argumentsText,
  thinkingText,
  type ServedBlock,
  type ServedBreak,
  type ServedReply,
  type ServedThinking,
} from './script.ts'

/** An event before it has its number. */
interface Event extends Fields {
  readonly type: string
}

/** 2026-10-07T13:46:40Z, then a second per answer: the same in every run. */
const epoch = 1_791_380_800

function numbered(events: readonly Event[], from = 0): readonly string[] {
  return events.map(({ type, ...rest }, index) => {
    const data = JSON.stringify({ type, sequence_number: from + index, ...rest })
    return `event: ${type}\ndata: ${data}\n\n`
  })
}

function skeleton(request: WireRequest, id: string, created: number): Fields {
  const { body } = request
  return {
    id,
    object: 'response',
    created_at: created,
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    model: body['model'],
    output: [],
    parallel_tool_calls: true,
    previous_response_id: body['previous_response_id'] ?? null,
    store: body['store'] !== false,
    tools: listOf(body['tools']),
    usage: null,
  }
}

function reasoningItem(view: ResponsesView, one: ServedThinking, id: string): Fields {
  const summaries = typeof one.text === 'string' ? [one.text] : one.text
  const isAsked = listOf(view.body['include']).includes('reasoning.encrypted_content')
  return {
    id,
    type: 'reasoning',
    summary: one.redacted === true ? [] : summaries.map((text) => ({ type: 'summary_text', text })),
    ...(isAsked ? { encrypted_content: view.memory.encrypt(id, thinkingText(one)) } : {}),
  }
}

/** The item of a block, as it ends up in `output`. */
function itemOf(view: ResponsesView, block: ServedBlock, newId: (prefix: string) => string): Fields {
  if (block.type === 'raw') return block.block
  if (block.type === 'thinking') return reasoningItem(view, block, newId('rs_'))
  if (block.type === 'tool-call') {
    const call = { call_id: block.id ?? newId('call_'), name: block.name, arguments: argumentsText(block) }
    return { id: newId('fc_'), type: 'function_call', status: 'completed', ...call }
  }
  const content = [{ type: 'output_text', text: block.text, annotations: [], logprobs: [] }]
  return { id: newId('msg_'), type: 'message', status: 'completed', role: 'assistant', content }
}

function textEvents(item: Fields, at: Fields, random: () => number): readonly Event[] {
  return (item['content'] as readonly { readonly text: string }[]).flatMap((part, index) => {
    const place = { ...at, content_index: index }
    return [
      { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
      ...pieces(part.text, random).map((delta) => ({
        type: 'response.output_text.delta',
        ...place,
        delta,
        logprobs: [],
      })),
      { type: 'response.output_text.done', ...place, text: part.text, logprobs: [] },
      { type: 'response.content_part.done', ...place, part },
    ]
  })
}

function summaryEvents(item: Fields, at: Fields, random: () => number): readonly Event[] {
  return (item['summary'] as readonly { readonly text: string }[]).flatMap((part, index) => {
    const place = { ...at, summary_index: index }
    return [
      { type: 'response.reasoning_summary_part.added', ...place, part: { ...part, text: '' } },
      ...pieces(part.text, random).map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...place, delta })),
      { type: 'response.reasoning_summary_text.done', ...place, text: part.text },
      { type: 'response.reasoning_summary_part.done', ...place, part },
    ]
  })
}

function argumentEvents(item: Fields, at: Fields, random: () => number): readonly Event[] {
  const text = item['arguments'] as string
  return [
    ...pieces(text, random).map((delta) => ({ type: 'response.function_call_arguments.delta', ...at, delta })),
    { type: 'response.function_call_arguments.done', ...at, arguments: text },
  ]
}

function begun(item: Fields): Fields {
  switch (item['type']) {
    case 'message':
      return { ...item, status: 'in_progress', content: [] }
    case 'function_call':
      return { ...item, status: 'in_progress', arguments: '' }
    case 'reasoning': {
      const { encrypted_content: encrypted } = item
      // The early value is a beginning that verifies nowhere: only the one at the end may be kept.
      return {
        ...item,
        summary: [],
        ...(typeof encrypted === 'string' ? { encrypted_content: encrypted.slice(0, 24) } : {}),
      }
    }
    default:
      return item
  }
}

function itemEvents(item: Fields, index: number, random: () => number): readonly Event[] {
  const at = { item_id: item['id'], output_index: index }
  const inner = { message: textEvents, function_call: argumentEvents, reasoning: summaryEvents }[item['type'] as string]
  return [
    { type: 'response.output_item.added', output_index: index, item: begun(item) },
    ...(inner?.(item, at, random) ?? []),
    { type: 'response.output_item.done', output_index: index, item },
  ]
}

function usageOf(view: ResponsesView, { usage = {}, blocks }: ServedReply, output: readonly Fields[]): Fields {
  const thought = blocks.map((one) => (one.type === 'thinking' ? thinkingText(one) : '')).join('')
  const reasoning = usage.reasoning ?? Math.ceil(thought.length / 4)
  const input = usage.input ?? view.request.tokens
  const produced = usage.output ?? reasoning + Math.ceil(JSON.stringify(output).length / 4)
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead ?? 0 },
    output_tokens: produced,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + produced,
  }
}

function endOf({ stop }: ServedReply): { readonly status: string; readonly details: Fields | null } {
  if (stop === 'length') return { status: 'incomplete', details: { reason: 'max_output_tokens' } }
  if (stop === 'content-filter') return { status: 'incomplete', details: { reason: 'content_filter' } }
  return { status: 'completed', details: null }
}

function brokenEvents({ after, error, nested }: ServedBreak, started: Fields): readonly string[] {
  const fault = { type: 'server_error', code: 'server_error', message: 'The server had an error.', ...error }
  if (nested !== true) {
    const { code, message, param } = { param: null, ...fault }
    return numbered([{ type: 'error', code, message, param }], after)
  }
  return numbered(
    [
      { type: 'error', error: openaiError(fault, 'openai') },
      {
        type: 'response.failed',
        response: { ...started, status: 'failed', error: { code: fault.code, message: fault.message } },
      },
    ],
    after,
  )
}

/** The answer as events and as one object; the memory learns it. */
export function responsesAnswer(
  view: ResponsesView,
  reply: ServedReply,
  n: number,
  newId: (prefix: string) => string,
): ProtocolAnswer {
  const { random } = view.settings
  const id = newId('resp_')
  const started = skeleton(view.request, id, epoch + n)
  const output = reply.blocks.map((block) => itemOf(view, block, newId))
  const { status, details } = endOf(reply)
  const whole = { ...started, status, incomplete_details: details, output, usage: usageOf(view, reply, output) }
  view.memory.remember(id, conversation(view), output, view.isStored)
  return {
    events: numbered([
      { type: 'response.created', response: started },
      { type: 'response.in_progress', response: started },
      ...output.flatMap((item, index) => itemEvents(item, index, random)),
      { type: `response.${status}`, response: whole },
    ]),
    whole,
    headers: { 'x-request-id': newId('req_') },
    errorEvents: (one) => brokenEvents(one, started),
  }
}

/** A request that is refused when its stream has begun: the error is the second event. */
export function refusedStream(fault: Fault, request: WireRequest, newId: (prefix: string) => string): HttpAnswer {
  const started = skeleton(request, newId('resp_'), epoch)
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-request-id': newId('req_') },
    frames: numbered([
      { type: 'response.created', response: started },
      { type: 'error', error: openaiError(fault, 'openai') },
    ]),
  }
}
