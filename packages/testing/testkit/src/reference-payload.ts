import type { Candidate } from './reference-session.ts'

/** Payload and JSON rules, straight from the tables of SPEC 2.3, 2.4 and 3.1: a list of the codes that may be reported. */

type Bag = Readonly<Record<string, unknown>>
const isBag = (value: unknown): value is Bag => typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = (value: unknown): value is string => typeof value === 'string'
const isName = (value: unknown): boolean => isText(value) && value !== ''
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 1
export const isSeq = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && !Object.is(value, -0)
const optional = (check: (value: unknown) => boolean) => (value: unknown) => value === undefined || check(value)

/** Whether JSON holds `value` without loss. `above` are the containers it lies in. */
export function isLossless(value: unknown, above: readonly unknown[] = []): boolean {
  if (value === null || typeof value === 'boolean' || isText(value)) return true
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0)
  if (typeof value !== 'object' || above.includes(value) || above.length >= 1000) return false
  const inside = [...above, value]
  const keys = Reflect.ownKeys(value)
  if (Array.isArray(value)) {
    if (keys.length !== value.length + 1 || Object.getPrototypeOf(value) !== Array.prototype) return false
    return value.every((element) => isLossless(element, inside))
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return false
  return keys.every(
    (key) =>
      isText(key) && Object.prototype.propertyIsEnumerable.call(value, key) && isLossless((value as Bag)[key], inside),
  )
}

const blockShapes: Record<string, (block: Bag) => boolean> = {
  text: (block) => isText(block['text']),
  reasoning: (block) => isText(block['text']),
  image: ({ attachment }) =>
    isBag(attachment) &&
    /^sha256:[0-9a-f]{64}$/.test(String(attachment['attachmentId'])) &&
    isText(attachment['mediaType']) &&
    isSeq(attachment['bytes']),
  'tool-call': (block) => isName(block['id']) && isText(block['name']) && isText(block['arguments']),
  'tool-result': (block) =>
    isName(block['toolCallId']) &&
    Array.isArray(block['content']) &&
    optional((value) => typeof value === 'boolean')(block['isError']),
}

const isBlock = (block: unknown): boolean =>
  isBag(block) &&
  isText(block['type']) &&
  (!Object.hasOwn(blockShapes, block['type']) || blockShapes[block['type']]?.(block) === true)

function isMessage(message: unknown, role: string, isSource: (source: Bag) => boolean): boolean {
  if (!isBag(message) || !isName(message['id']) || message['role'] !== role) return false
  const { content, source } = message
  return Array.isArray(content) && content.every(isBlock) && isBag(source) && isSource(source)
}

const isStep = (data: Bag): boolean => isCount(data['turn']) && isCount(data['step'])

function isResult({ message }: Bag): boolean {
  if (!isMessage(message, 'user', (source) => source['kind'] === 'tool' && isName(source['callId']))) return false
  const { content, source } = message as { content: Bag[]; source: Bag }
  const [block, ...rest] = content
  return rest.length === 0 && block?.['type'] === 'tool-result' && block['toolCallId'] === source['callId']
}

const reasons = ['completed', 'aborted', 'error', 'blocked', 'max-tokens', 'interrupted']

/** The core payloads of SPEC 2.3. */
const payloads: Record<string, (data: Bag) => boolean> = {
  'turn/start': (data) => isCount(data['turn']),
  'turn/end': (data) =>
    isCount(data['turn']) && isBag(data['reason']) && reasons.includes(String(data['reason']['kind'])),
  'step/start': isStep,
  'step/end': isStep,
  'system/message': (data) =>
    isStep(data) && isMessage(data['message'], 'system', (s) => s['kind'] === 'plugin' && isName(s['plugin'])),
  'user/message': (data) =>
    isMessage(data, 'user', (s) => isName(s['kind']) && s['kind'] !== 'model' && s['kind'] !== 'tool'),
  'assistant/message': (data) =>
    isStep(data) &&
    Array.isArray(data['stream']) &&
    isMessage(
      data['message'],
      'assistant',
      (s) => s['kind'] === 'model' && isText(s['provider']) && isText(s['model']),
    ),
  'assistant/attempt': (data) => isStep(data) && Array.isArray(data['stream']),
  'tool/call': (data) => isStep(data) && isName(data['callId']) && isText(data['name']) && isText(data['arguments']),
  'tool/result': (data) => isStep(data) && isResult(data),
  'request/header': (data) => isBag(data['header']) && isBag(data['header']['config']) && isText(data['reason']),
  'request/context': (data) => isText(data['provider']) && isText(data['model']),
  'request/start': (data) => isStep(data) && isCount(data['attempt']) && isSeq(data['throughSeq']),
  'session/end-seed': (data) => optional((value) => value === true)(data['inherited']),
  'tool/progress': (data) => isStep(data) && isName(data['callId']) && Array.isArray(data['content']),
  'tool/late-result': (data) => isStep(data) && isName(data['callId']) && Array.isArray(data['content']),
}

export const isKnownType = (type: string): boolean => Object.hasOwn(payloads, type)

/** What may stand in the content of a message, and inside its blocks. */
const allowed: Record<string, { readonly top: readonly string[]; readonly nested: readonly string[] }> = {
  'system/message': { top: ['text'], nested: ['text'] },
  'assistant/message': { top: ['text', 'reasoning', 'image', 'tool-call'], nested: ['text', 'reasoning', 'image'] },
  'tool/result': { top: ['tool-result'], nested: ['text', 'image'] },
}

/** Whether the blocks stand where they may, at every depth: every element of a `content` array inside a block. */
function standsWell(type: string, content: unknown, depth: 'top' | 'nested'): boolean {
  if (!Array.isArray(content)) return true
  return content.every((block: unknown) => {
    if (!isBag(block)) return true
    const name = String(block['type'])
    const ofUser = name === 'text' || name === 'image' || !Object.hasOwn(blockShapes, name)
    return (allowed[type]?.[depth].includes(name) ?? ofUser) && standsWell(type, block['content'], 'nested')
  })
}

/** Codes that data alone may be refused with. */
export function payloadCodes({ type, data }: Candidate): string[] {
  if (!isBag(data)) return ['envelope/json', 'payload/invalid', 'envelope/keys']
  if (!isLossless(data)) return ['envelope/json', 'payload/invalid', 'payload/content']
  if (!isKnownType(type)) return []
  const codes: string[] = []
  if (payloads[type]?.(data) !== true) codes.push('payload/invalid')
  const message = (type === 'user/message' ? data : data['message']) as Bag | undefined
  if (isBag(message)) {
    const content = message['content']
    if (!standsWell(type, content, 'top')) codes.push('payload/content')
    const isError = Array.isArray(content) && isBag(content[0]) && content[0]['isError'] === true
    if (type === 'tool/result' && data['error'] !== undefined && !isError) codes.push('payload/tool-error')
  }
  if (type === 'request/header' && isBag(data['header'])) {
    const { system, tools, adapterDefaults } = data['header']
    const isEmpty = (value: unknown): boolean =>
      typeof value === 'object' && value !== null && Object.keys(value).length === 0
    if (system !== undefined || isEmpty(tools) || isEmpty(adapterDefaults)) codes.push('payload/header')
  }
  return codes
}
