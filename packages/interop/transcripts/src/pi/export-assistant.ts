import type { AssistantBlock, EventOf, Json, ToolCallBlock } from '@palimpsest/session'
import type { Losses } from '../export.ts'
import { isObject, isTooDeep, objectMember, plainJson, stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'
import { anthropicSeal, openAiItem, piProvider, signatureOf, summaryBreak } from './providers.ts'
import type { SignatureMember } from './providers.ts'

type Event = EventOf<'assistant/message'>

/** A response as pi keeps it. */
export interface PiAssistant {
  readonly role: 'assistant'
  readonly content: readonly LooseObject[]
  readonly provider: string
  readonly model: string
  readonly [member: string]: unknown
}

/** Writes a response, with its seals: pi itself gives them back to the provider and model that made them only. */
export function writeAssistant(event: Event, losses: Losses): PiAssistant {
  const { message, usage } = event.data
  const { source } = message
  const state = isObject(source.replayState) ? source.replayState : {}
  const response = objectMember(state, 'response') ?? {}
  const replay = Array.isArray(state['blocks']) ? (state['blocks'] as readonly Json[]) : []
  const own = stringMember(response, 'api')
  const by =
    own === undefined ? piProvider(source.provider) : { api: own, provider: stringMember(response, 'provider') ?? '' }
  if (usage?.reasoningTokens !== undefined) {
    losses.add('usage/reasoning', 'tokens of reasoning are not counted apart in the file', event.seq)
  }
  const [input, output] = [usage?.inputTokens ?? 0, usage?.outputTokens ?? 0]
  const [cacheRead, cacheWrite] = [usage?.cacheReadTokens ?? 0, usage?.cacheWriteTokens ?? 0]
  const [id, errorMessage] = [stringMember(response, 'id'), stringMember(response, 'errorMessage')]
  const timestamp = response['timestamp']
  return {
    role: 'assistant',
    content: writeBlocks(event, replay, losses),
    ...by,
    model: source.model,
    usage: {
      input,
      output,
      cacheRead,
      cacheWrite,
      totalTokens: input + output + cacheRead + cacheWrite,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
    stopReason: stopReasonOf(event, stringMember(response, 'stopReason')),
    ...(errorMessage === undefined ? {} : { errorMessage }),
    ...(id === undefined ? {} : { responseId: id }),
    timestamp: typeof timestamp === 'number' ? timestamp : event.time,
  }
}

/** Stop reasons of pi, and those of providers in its words. */
const stopReasons: ReadonlyMap<string, string> = new Map([
  ...['stop', 'length', 'toolUse', 'error', 'aborted'].map((reason) => [reason, reason] as const),
  ['max_tokens', 'length'],
  ['tool_use', 'toolUse'],
  ['end_turn', 'stop'],
])

function stopReasonOf({ data }: Event, given: string | undefined): string {
  if (data.interrupted === true) return 'aborted'
  const known = stopReasons.get(given ?? '')
  return known ?? (data.message.content.some(({ type }) => type === 'tool-call') ? 'toolUse' : 'stop')
}

function writeBlocks({ seq, data }: Event, replay: readonly Json[], losses: Losses): LooseObject[] {
  const written: LooseObject[] = []
  let item: string | undefined
  for (const [index, block] of data.message.content.entries()) {
    const entry = replay[index]
    const last = written.at(-1)
    const before = item
    item = block.type === 'reasoning' ? stringMember(openAiItem(entry) ?? {}, 'itemId') : undefined
    // pi writes the parts of one item's summary as one block.
    if (block.type === 'reasoning' && item !== undefined && item === before && last !== undefined) {
      written[written.length - 1] = joined(last, block.text)
      continue
    }
    const result = writeBlock(block, entry)
    written.push(result.block)
    if (result.isLossy)
      losses.add('block/replay', 'what a provider wants back of a block has no place in the file', seq)
    if (block.type === 'image')
      losses.add('block/unsupported', 'a block that is neither text nor an image is a placeholder', seq)
  }
  return written
}

interface WrittenBlock {
  readonly block: LooseObject
  /** Whether its private data stays behind. */
  readonly isLossy: boolean
}

function writeBlock(block: AssistantBlock, entry: Json | undefined): WrittenBlock {
  const isBare = entry === undefined || entry === null
  switch (block.type) {
    case 'text': {
      const signature = signatureOf('textSignature', entry)
      return {
        block: { type: 'text', text: block.text, ...signed('textSignature', signature) },
        isLossy: !isBare && signature === undefined,
      }
    }
    case 'reasoning': {
      const seal = sealOf(block.text, entry)
      return { block: { type: 'thinking', thinking: block.text, ...seal }, isLossy: !isBare && seal === undefined }
    }
    case 'tool-call': {
      const signature = signatureOf('thoughtSignature', entry)
      // The id of a call that had to get another is no loss: the file has the one that is unambiguous.
      const isMinted = isObject(entry) && entry['type'] === 'tool_use'
      return {
        block: { ...writeCall(block), ...signed('thoughtSignature', signature) },
        isLossy: !isBare && !isMinted && signature === undefined,
      }
    }
    default:
      return { block: { type: 'text', text: `[${block.attachment.mediaType}]` }, isLossy: !isBare }
  }
}

const signed = (member: SignatureMember, signature: string | undefined): LooseObject =>
  signature === undefined ? {} : { [member]: signature }

function sealOf(text: string, entry: Json | undefined): LooseObject | undefined {
  const item = openAiItem(entry)
  if (item !== undefined) return { thinkingSignature: itemText(item, text === '' ? [] : [text]) }
  const seal = anthropicSeal(entry)
  if (seal !== undefined) {
    return { thinkingSignature: seal.signature, ...(seal.isRedacted ? { redacted: true } : {}) }
  }
  const signature = signatureOf('thinkingSignature', entry)
  return signature === undefined ? undefined : { thinkingSignature: signature }
}

/** A reasoning item of OpenAI Responses as JSON text. */
function itemText(item: LooseObject, summary: readonly string[]): string {
  const encrypted = stringMember(item, 'reasoningEncryptedContent')
  return JSON.stringify({
    type: 'reasoning',
    id: stringMember(item, 'itemId'),
    summary: summary.map((text) => ({ type: 'summary_text', text })),
    ...(encrypted === undefined ? {} : { encrypted_content: encrypted }),
  })
}

function joined(block: LooseObject, text: string): LooseObject {
  const item = JSON.parse(stringMember(block, 'thinkingSignature') ?? '{}') as { summary?: readonly unknown[] }
  const summary = [...(item.summary ?? []), { type: 'summary_text', text }]
  return {
    ...block,
    thinking: `${stringMember(block, 'thinking') ?? ''}${summaryBreak}${text}`,
    thinkingSignature: JSON.stringify({ ...item, summary }),
  }
}

/** A call. Arguments that are no object stand as the text that they are, as pi has those of calls that were cut off. */
function writeCall({ id, name, arguments: text }: ToolCallBlock): LooseObject {
  const call = { type: 'toolCall', id, name }
  const value = objectOf(text)
  return value === undefined ? { ...call, arguments: {}, partialJson: text } : { ...call, arguments: value }
}

function objectOf(text: string): LooseObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    // A line that holds it nests a few levels more.
    return isObject(value) && !isTooDeep([[[[[value]]]]]) ? (plainJson(value) as LooseObject) : undefined
  } catch {
    return undefined
  }
}
