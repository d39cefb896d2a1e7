import type { SessionEventType } from './events.ts'

/**
 * Cheap proofs that a payload matches its schema, for the types that a busy session appends all the time. A proof is
 * one-sided: `false` says nothing and leaves the verdict to the schema, which is several times slower.
 */
export function surelyMatches(type: string, data: unknown): boolean {
  return proofs.get(type)?.(data) === true
}

type Members = Readonly<Record<string, unknown>>
type Proof = (data: unknown) => boolean

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isName = (value: unknown): boolean => typeof value === 'string' && value !== ''
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0
const isAmount = (value: unknown): boolean =>
  value === undefined || (Number.isSafeInteger(value) && (value as number) >= 0)
const isTrueOrAbsent = (value: unknown): boolean => value === undefined || value === true

function every(value: unknown, proof: Proof): boolean {
  if (!Array.isArray(value)) return false
  for (const element of value as readonly unknown[]) if (!proof(element)) return false
  return true
}

const isStep: Proof = (data) => isObject(data) && isCount(data['turn']) && isCount(data['step'])
const isText: Proof = (block) => isObject(block) && block['type'] === 'text' && typeof block['text'] === 'string'

const isAssistantBlock: Proof = (block) => {
  if (!isObject(block)) return false
  if (block['type'] === 'text' || block['type'] === 'reasoning') return typeof block['text'] === 'string'
  return (
    block['type'] === 'tool-call' &&
    isName(block['id']) &&
    isName(block['name']) &&
    typeof block['arguments'] === 'string'
  )
}

const isTextRun: Proof = (record) =>
  isObject(record) &&
  (record['type'] === 'text-chunks' || record['type'] === 'reasoning-chunks') &&
  Number.isSafeInteger(record['time0']) &&
  record['index'] !== undefined &&
  isAmount(record['index']) &&
  every(record['dt'], Number.isSafeInteger) &&
  every(record['texts'], (text) => typeof text === 'string')

const isUsage: Proof = (usage) =>
  usage === undefined ||
  (isObject(usage) &&
    isAmount(usage['inputTokens']) &&
    isAmount(usage['outputTokens']) &&
    isAmount(usage['cacheReadTokens']) &&
    isAmount(usage['cacheWriteTokens']) &&
    isAmount(usage['reasoningTokens']))

const isUserMessage: Proof = (message) =>
  isObject(message) &&
  isName(message['id']) &&
  message['role'] === 'user' &&
  every(message['content'], isText) &&
  isObject(message['source']) &&
  message['source']['kind'] === 'user'

function isAssistantMessage(message: unknown): boolean {
  if (!isObject(message) || !isName(message['id']) || message['role'] !== 'assistant') return false
  const { source } = message
  return (
    every(message['content'], isAssistantBlock) &&
    isObject(source) &&
    source['kind'] === 'model' &&
    isName(source['provider']) &&
    isName(source['model'])
  )
}

function isToolResultMessage(message: unknown): boolean {
  if (!isObject(message) || !isName(message['id']) || message['role'] !== 'user') return false
  const { content, source } = message
  if (!Array.isArray(content) || content.length !== 1 || !isObject(source) || source['kind'] !== 'tool') return false
  const block: unknown = content[0]
  return (
    isObject(block) &&
    block['type'] === 'tool-result' &&
    isName(block['toolCallId']) &&
    block['toolCallId'] === source['callId'] &&
    (block['isError'] === undefined || typeof block['isError'] === 'boolean') &&
    every(block['content'], isText)
  )
}

const proofs: ReadonlyMap<string, Proof> = new Map<SessionEventType, Proof>([
  ['turn/start', (data) => isObject(data) && isCount(data['turn'])],
  ['step/start', isStep],
  ['step/end', isStep],
  ['user/message', isUserMessage],
  [
    'assistant/message',
    (data) =>
      isStep(data) &&
      isAssistantMessage((data as Members)['message']) &&
      every((data as Members)['stream'], isTextRun) &&
      isUsage((data as Members)['usage']) &&
      isTrueOrAbsent((data as Members)['interrupted']) &&
      isAmount((data as Members)['requestSeq']),
  ],
  [
    'tool/call',
    (data) =>
      isStep(data) &&
      isName((data as Members)['callId']) &&
      isName((data as Members)['name']) &&
      typeof (data as Members)['arguments'] === 'string',
  ],
  [
    'tool/result',
    (data) =>
      isStep(data) && isToolResultMessage((data as Members)['message']) && (data as Members)['error'] === undefined,
  ],
])
