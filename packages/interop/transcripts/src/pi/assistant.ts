import type { JsonObject, TokenUsage, ToolCallId, TurnEndReason } from '@palimpsest/session'
import type { DraftAttempt, DraftBlock, DraftModel, DraftOrigin } from '../conversation/draft.ts'
import { countMember, isObject, objectMember, plainJson, stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'
import { typeOf } from './content.ts'
import { providerName, sealedReasoning, signed } from './providers.ts'
import type { PiProvider } from './providers.ts'

/** A response, and the types of the blocks in it that no message can hold. */
export interface ReadAssistant {
  readonly draft: DraftModel | DraftAttempt
  readonly odd: readonly string[]
}

/** Reads a response; `undefined` where its content is none. One that failed before it said anything is an attempt. */
export function readAssistant(message: LooseObject, origin: DraftOrigin): ReadAssistant | undefined {
  const content = message['content']
  const listed = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  if (!Array.isArray(listed)) return undefined
  const by = { api: stringMember(message, 'api') ?? '', provider: stringMember(message, 'provider') ?? '' }
  const blocks: DraftBlock[] = []
  const odd: string[] = []
  for (const item of listed as readonly unknown[]) {
    const read = readBlock(item, by)
    if (read === undefined) odd.push(typeOf(item))
    else blocks.push(...read)
  }
  const stopReason = stringMember(message, 'stopReason')
  const isCut = stopReason === 'aborted' || stopReason === 'error'
  if (listed.length === 0 && isCut) {
    const { role: _, content: __, ...failure } = message
    return { draft: { kind: 'attempt', origin, failure: plainJson(failure) }, odd }
  }
  const ends = endOf(message, stopReason)
  const usage = usageOf(objectMember(message, 'usage') ?? {})
  const draft: DraftModel = {
    kind: 'model',
    origin,
    provider: named(providerName(by)),
    model: named(stringMember(message, 'model')),
    blocks,
    response: responseOf(message),
    ...(usage === undefined ? {} : { usage }),
    ...(stopReason === 'aborted' ? { interrupted: true } : {}),
    ...(ends === undefined ? {} : { ends }),
  }
  return { draft, odd }
}

const named = (name: string | undefined): string => (name === undefined || name === '' ? 'unknown' : name)

function readBlock(item: unknown, by: PiProvider): DraftBlock[] | undefined {
  if (!isObject(item)) return undefined
  switch (item['type']) {
    case 'text': {
      const text = stringMember(item, 'text')
      if (text === undefined) return undefined
      return [
        { block: { type: 'text', text }, replay: signed('textSignature', stringMember(item, 'textSignature'), by) },
      ]
    }
    case 'thinking':
      return sealedReasoning(item, by).map(({ text, replay }) => ({ block: { type: 'reasoning', text }, replay }))
    case 'toolCall': {
      const name = stringMember(item, 'name')
      if (name === undefined || name === '') return undefined
      const id = (stringMember(item, 'id') ?? '') as ToolCallId
      const replay = signed('thoughtSignature', stringMember(item, 'thoughtSignature'), by)
      return [{ block: { type: 'tool-call', id, name, arguments: callArguments(item) }, replay }]
    }
    default:
      return undefined
  }
}

/** The text that the model wrote: of a call that was cut off, the file keeps it beside what could be read of it. */
function callArguments(call: LooseObject): string {
  const partial = stringMember(call, 'partialJson')
  if (partial !== undefined) return partial
  return Object.hasOwn(call, 'arguments') ? JSON.stringify(call['arguments']) : '{}'
}

function endOf(message: LooseObject, stopReason: string | undefined): TurnEndReason | undefined {
  switch (stopReason) {
    case 'length':
      return { kind: 'max-tokens' }
    case 'aborted':
      return { kind: 'aborted' }
    case 'error': {
      const text = stringMember(message, 'errorMessage')
      return { kind: 'error', ...(text === undefined ? {} : { failure: { message: text } }) }
    }
    default:
      return undefined
  }
}

/** Members of a message that `replayState.response` keeps as they stand. */
const responseMembers = ['api', 'provider', 'stopReason', 'errorMessage', 'timestamp'] as const

function responseOf(message: LooseObject): JsonObject {
  const kept = responseMembers.flatMap((member) => {
    const value = Object.hasOwn(message, member) ? message[member] : undefined
    return typeof value === 'string' || (typeof value === 'number' && Number.isSafeInteger(value))
      ? [[member, value === 0 ? 0 : value] as const]
      : []
  })
  const id = stringMember(message, 'responseId')
  return { ...(id === undefined ? {} : { id }), ...Object.fromEntries(kept) }
}

function usageOf(usage: LooseObject): TokenUsage | undefined {
  const entries = [
    ['inputTokens', countMember(usage, 'input')],
    ['outputTokens', countMember(usage, 'output')],
    ['cacheReadTokens', countMember(usage, 'cacheRead')],
    ['cacheWriteTokens', countMember(usage, 'cacheWrite')],
  ].filter(([, count]) => count !== undefined)
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as TokenUsage)
}
