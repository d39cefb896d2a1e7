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

const isString: Proof = (value) => typeof value === 'string'
const isIndex: Proof = (value) => value !== undefined && isAmount(value)

const isStreamRecord: Proof = (record) => {
  if (!isObject(record)) return false
  const { type, time, chunk } = record
  if (type === 'chunk') return Number.isSafeInteger(time) && isObject(chunk) && isName(chunk['type'])
  const isRun =
    Number.isSafeInteger(record['time0']) && isIndex(record['index']) && every(record['dt'], Number.isSafeInteger)
  if (type === 'text-chunks' || type === 'reasoning-chunks') return isRun && every(record['texts'], isString)
  const { id, name, args } = record
  return (
    type === 'tool-call-chunks' &&
    isRun &&
    isName(id) &&
    (name === undefined || isString(name)) &&
    every(args, isString)
  )
}

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

/** Reasons that a turn may end for, whatever else they say. */
const endKinds: ReadonlySet<unknown> = new Set([
  'completed',
  'aborted',
  'error',
  'blocked',
  'max-tokens',
  'interrupted',
])

const isToolError: Proof = (error) =>
  error === undefined || (isObject(error) && isString(error['name']) && isString(error['code']))

/** Payloads that carry their turn and step, by what else they hold. */
const withinStep = (proof: (data: Members) => boolean): Proof => {
  return (data) => isObject(data) && isCount(data['turn']) && isCount(data['step']) && proof(data)
}

const proofs: ReadonlyMap<string, Proof> = new Map<SessionEventType, Proof>([
  ['turn/start', (data) => isObject(data) && isCount(data['turn'])],
  [
    'turn/end',
    (data) =>
      isObject(data) && isCount(data['turn']) && isObject(data['reason']) && endKinds.has(data['reason']['kind']),
  ],
  ['step/start', withinStep(() => true)],
  ['step/end', withinStep(() => true)],
  ['request/start', withinStep(({ attempt, throughSeq }) => isCount(attempt) && isIndex(throughSeq))],
  ['user/message', isUserMessage],
  [
    'assistant/message',
    withinStep(
      ({ message, stream, usage, interrupted, requestSeq }) =>
        isAssistantMessage(message) &&
        every(stream, isStreamRecord) &&
        isUsage(usage) &&
        isTrueOrAbsent(interrupted) &&
        isAmount(requestSeq),
    ),
  ],
  ['tool/call', withinStep((data) => isName(data['callId']) && isName(data['name']) && isString(data['arguments']))],
  ['tool/result', withinStep(({ message, error }) => isToolResultMessage(message) && isToolError(error))],
])
