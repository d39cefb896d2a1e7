import { isReasoningModel } from '../openai-chat/models.ts'
import { describe, elements, isRecord, member, parsed } from '../shared/json-reader.ts'
import type { Rule, Violation } from '../shared/rule.ts'
import { runs } from '../shared/runs.ts'
import { isModelOutput } from './view.ts'
import type { ItemView, OpenAiResponsesCheckConfig, OpenAiResponsesView } from './view.ts'

type ResponsesRule = Rule<OpenAiResponsesView, OpenAiResponsesCheckConfig>

/** The key by which a call and its output find each other: a custom tool's output does not answer a function call. */
function pairKey({ type, callId }: ItemView): string {
  return `${type.startsWith('custom') ? 'custom' : 'function'} ${callId ?? ''}`
}

function withCallId(items: readonly ItemView[], kind: 'call' | 'output'): ItemView[] {
  return items.filter((item) => item.kind === kind && item.callId !== undefined)
}

const callsAnswered: ResponsesRule = {
  id: 'OR5',
  level: 'refuse',
  profile: 'transcript',
  about: 'Every function_call has its output in input.',
  check({ items }) {
    const answered = new Set(withCallId(items, 'output').map(pairKey))
    return withCallId(items, 'call')
      .filter((call) => !answered.has(pairKey(call)))
      .map(({ path, callId }) => ({
        rule: 'OR5',
        path,
        message: `no tool output found for function call ${describe(callId)}`,
      }))
  },
}

const outputsAsked: ResponsesRule = {
  id: 'OR6',
  level: 'refuse',
  profile: 'transcript',
  about: 'Every output has its call in input, unless the request goes on from stored items.',
  check({ items, isChained }) {
    if (isChained) return []
    const asked = new Set(withCallId(items, 'call').map(pairKey))
    return withCallId(items, 'output')
      .filter((output) => !asked.has(pairKey(output)))
      .map(({ path, callId }) => ({
        rule: 'OR6',
        path,
        message: `no tool call found for function call output with call_id ${describe(callId)}`,
      }))
  },
}

const callIdLength: ResponsesRule = {
  id: 'OR7',
  level: 'refuse',
  profile: 'transcript',
  about: 'A call_id has 1 to 64 characters.',
  check: ({ items }) =>
    [...withCallId(items, 'call'), ...withCallId(items, 'output')]
      .filter(({ callId = '' }) => callId === '' || callId.length > 64)
      .map(({ path, callId = '' }) => ({
        rule: 'OR7',
        path: `${path}.call_id`,
        message: `a call_id of ${callId.length} characters, expected 1 to 64`,
      })),
}

const ID_PREFIX: ReadonlyMap<string, string> = new Map([
  ['function_call', 'fc'],
  ['reasoning', 'rs'],
  ['message', 'msg'],
])

const itemIds: ResponsesRule = {
  id: 'OR8',
  level: 'refuse',
  profile: 'transcript',
  about:
    'The id of an item, if sent, begins with fc, rs or msg by its type, and has only letters, digits, `_` and `-`.',
  check: ({ items }) =>
    items.flatMap(({ path, type, id }) => {
      const prefix = ID_PREFIX.get(type)
      if (id === undefined || prefix === undefined) return []
      if (id.startsWith(prefix) && /^[A-Za-z0-9_-]+$/.test(id)) return []
      return [{ rule: 'OR8', path: `${path}.id`, message: `expected an ID that begins with '${prefix}'` }]
    }),
}

const itemsOnce: ResponsesRule = {
  id: 'OR9',
  level: 'refuse',
  profile: 'transcript',
  about: 'No item comes twice.',
  check({ items }) {
    const seen = new Set<string>()
    return items.flatMap(({ path, id }) => {
      if (id === undefined) return []
      const isRepeated = seen.has(id)
      seen.add(id)
      return isRepeated
        ? [{ rule: 'OR9', path: `${path}.id`, message: `duplicate item found with id ${describe(id)}` }]
        : []
    })
  },
}

const callsWithReasoning: ResponsesRule = {
  id: 'OR10',
  level: 'refuse',
  profile: 'transcript',
  about: 'A call of a reasoning model that is sent with its fc id comes after its reasoning item.',
  check({ items, model, isChained }) {
    if (isChained || !isReasoningModel(model ?? '')) return []
    const steps = runs(items, (first, next) => isModelOutput(first) && isModelOutput(next))
    return steps.flatMap((step) => {
      const first = step.findIndex((item) => item.kind === 'reasoning' || item.type === 'item_reference')
      return step
        .filter((item, index) => item.type === 'function_call' && item.id !== undefined && (first < 0 || index < first))
        .map(({ path }) => ({
          rule: 'OR10',
          path,
          message: "a function_call was provided without its required 'reasoning' item: leave its id out",
        }))
    })
  },
}

const reasoningFollowed: ResponsesRule = {
  id: 'OR11',
  level: 'refuse',
  profile: 'transcript',
  about: 'A reasoning item is followed by what the model put out after it.',
  check: ({ items }) =>
    items
      .filter((item, index) => {
        const next = items[index + 1]
        return item.kind === 'reasoning' && (next === undefined || !isModelOutput(next))
      })
      .map(({ path }) => ({
        rule: 'OR11',
        path,
        message: 'reasoning was provided without its required following item',
      })),
}

const noReferences: ResponsesRule = {
  id: 'OR12',
  level: 'refuse',
  profile: 'transcript',
  about: 'With store false, no item is a reference, and reasoning has its encrypted_content.',
  check: ({ request, items }) =>
    member(request, 'store') !== false
      ? []
      : items
          .filter(({ kind, type, value }) => {
            const isBare = kind === 'reasoning' && typeof member(value, 'encrypted_content') !== 'string'
            return type === 'item_reference' || isBare
          })
          .map(({ path }) => ({ rule: 'OR12', path, message: 'items are not persisted when store is set to false' })),
}

const toolNames: ResponsesRule = {
  id: 'OR16',
  level: 'refuse',
  profile: 'transcript',
  about: 'Tool names have 1 to 64 letters, digits, `_` and `-`, in tools and in history.',
  check({ request, items }) {
    const tools = elements(member(request, 'tools')).map((tool, index) => ({
      path: `tools.${index}.name`,
      name: member(tool, 'name'),
    }))
    const used = items
      .filter((item) => item.kind === 'call')
      .map(({ path, value }) => ({ path: `${path}.name`, name: member(value, 'name') }))
    return [...tools, ...used]
      .filter(({ name }) => typeof name === 'string' && !/^[a-zA-Z0-9_-]{1,64}$/.test(name))
      .map(({ path }) => ({ rule: 'OR16', path, message: "does not match '^[a-zA-Z0-9_-]+$' within 64 characters" }))
  },
}

const soundCalls: ResponsesRule = {
  id: 'OR17',
  level: 'portable',
  profile: 'transcript',
  about: 'Arguments are the text of a JSON object; no call_id and no output comes twice.',
  check({ items }) {
    const found: Violation[] = []
    const at = (path: string, message: string): number => found.push({ rule: 'OR17', path, message })
    const seen = new Set<string>()
    for (const item of [...withCallId(items, 'call'), ...withCallId(items, 'output')]) {
      const key = `${item.kind} ${item.callId ?? ''}`
      if (seen.has(key)) at(`${item.path}.call_id`, `${item.kind} ${describe(item.callId)} comes twice`)
      seen.add(key)
    }
    for (const { path, type, value } of items) {
      const text = member(value, 'arguments')
      if (type === 'function_call' && typeof text === 'string' && !isRecord(parsed(text)))
        at(`${path}.arguments`, 'is no JSON object')
    }
    return found
  },
}

const outputsAdjacent: ResponsesRule = {
  id: 'OR18',
  level: 'portable',
  profile: 'transcript',
  about: 'Between a call and its output stands nothing but what the model put out and other outputs.',
  check({ items }) {
    const open = new Set<string>()
    const found: Violation[] = []
    const outputs = new Set(withCallId(items, 'output').map(pairKey))
    const calls = new Set(withCallId(items, 'call').map(pairKey))
    for (const item of items) {
      if (item.kind === 'call' && outputs.has(pairKey(item))) open.add(pairKey(item))
      else if (item.kind === 'message' && !isModelOutput(item)) open.clear()
      else if (item.kind === 'output' && calls.has(pairKey(item)) && !open.has(pairKey(item)))
        found.push({ rule: 'OR18', path: item.path, message: 'an output follows its call without messages between' })
    }
    return found
  },
}

/** Rules on calls, outputs, reasoning and ids of items. From `OR16` on they are ours beside the numbered table. */
export const itemRules: readonly ResponsesRule[] = [
  callsAnswered,
  outputsAsked,
  callIdLength,
  itemIds,
  itemsOnce,
  callsWithReasoning,
  reasoningFollowed,
  noReferences,
  toolNames,
  soundCalls,
  outputsAdjacent,
]
