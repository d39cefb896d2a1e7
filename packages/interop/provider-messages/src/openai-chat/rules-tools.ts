import { describe, elements, isRecord, member, parsed } from '../shared/json-reader.ts'
import type { Rule, Violation } from '../shared/rule.ts'
import { answeredId } from './view.ts'
import type { OpenAiChatCheckConfig, OpenAiChatView } from './view.ts'

type OpenAiChatRule = Rule<OpenAiChatView, OpenAiChatCheckConfig>

const callCount: OpenAiChatRule = {
  id: 'OC4',
  level: 'refuse',
  profile: 'transcript',
  about: 'tool_calls has 1 to 128 calls, tools at most 128.',
  check({ request, messages, limits }) {
    const found: Violation[] = []
    const at = (path: string, message: string): number => found.push({ rule: 'OC4', path, message })
    for (const { path, role, value } of messages) {
      const calls = member(value, 'tool_calls')
      if (role !== 'assistant' || !Array.isArray(calls)) continue
      if (calls.length === 0) at(`${path}.tool_calls`, 'empty array: leave tool_calls out')
      if (calls.length > limits.toolCalls) at(`${path}.tool_calls`, `array too long: over ${limits.toolCalls} calls`)
    }
    if (elements(member(request, 'tools')).length > limits.toolCalls) at('tools', `over ${limits.toolCalls} tools`)
    return found
  },
}

export const callsAnswered: OpenAiChatRule = {
  id: 'OC5',
  level: 'refuse',
  profile: 'transcript',
  about: 'Tool messages for every call follow at once, in any order among them.',
  check: (view) =>
    view.batches.flatMap(({ message, results }) => {
      const answered = new Set(results.map(answeredId))
      const missing = message.calls.filter((call) => !answered.has(call.id))
      return missing.map(({ path, id }) => ({
        rule: 'OC5',
        path,
        message: `call ${describe(id)} has no response message`,
      }))
    }),
}

export const resultsAsked: OpenAiChatRule = {
  id: 'OC6',
  level: 'refuse',
  profile: 'transcript',
  about: 'A tool message answers a call of the assistant message that its run follows.',
  check(view) {
    const wrong = view.batches.flatMap(({ message, results }) => {
      const asked = new Set(message.calls.map((call) => call.id))
      return results.filter((result) => !asked.has(answeredId(result) ?? ''))
    })
    return [...view.strayResults, ...wrong]
      .filter((result) => answeredId(result) !== undefined)
      .map(({ path }) => ({ rule: 'OC6', path, message: "role 'tool' must be a response to a preceding 'tool_calls'" }))
  },
}

const callIdLength: OpenAiChatRule = {
  id: 'OC7',
  level: 'portable',
  profile: 'transcript',
  about: 'A call id has at most 40 characters.',
  check: (view) =>
    view.messages
      .flatMap((message) => message.calls)
      .filter((call) => call.id.length > 40)
      .map(({ path, id }) => ({
        rule: 'OC7',
        path: `${path}.id`,
        message: `string too long: ${id.length}, maximum 40`,
      })),
}

export const toolNames: OpenAiChatRule = {
  id: 'OC8',
  level: 'refuse',
  profile: 'transcript',
  about: 'Tool names have 1 to 64 letters, digits, `_` and `-`, in tools and in history.',
  check(view) {
    const tools = elements(member(view.request, 'tools')).map((tool, index) => ({
      path: `tools.${index}.function.name`,
      name: member(member(tool, 'function'), 'name'),
    }))
    const calls = view.messages.flatMap((message) => message.calls)
    const used = calls.map(({ path, name }) => ({ path: `${path}.function.name`, name }))
    return [...tools, ...used]
      .filter(({ name }) => typeof name === 'string' && !/^[a-zA-Z0-9_-]{1,64}$/.test(name))
      .map(({ path }) => ({ rule: 'OC8', path, message: "does not match '^[a-zA-Z0-9_-]+$' within 64 characters" }))
  },
}

export const soundCalls: OpenAiChatRule = {
  id: 'OC9',
  level: 'portable',
  profile: 'transcript',
  about: 'Arguments are the text of a JSON object; no call id and no result comes twice.',
  check(view) {
    const found: Violation[] = []
    const at = (path: string, message: string): number => found.push({ rule: 'OC9', path, message })
    const seen = new Set<string>()
    for (const { path, id, arguments: text } of view.messages.flatMap((message) => message.calls)) {
      if (seen.has(id)) at(`${path}.id`, `call id ${describe(id)} comes twice`)
      seen.add(id)
      if (typeof text === 'string' && !isRecord(parsed(text))) at(`${path}.function.arguments`, 'is no JSON object')
    }
    for (const { results } of view.batches) {
      const answered = new Set<string | undefined>()
      for (const result of results) {
        const callId = answeredId(result)
        if (answered.has(callId)) at(result.path, `call ${describe(callId)} has two results`)
        answered.add(callId)
      }
    }
    return found
  },
}

/** Rules on calls, results and tool names. */
export const toolRules: readonly OpenAiChatRule[] = [
  callCount,
  callsAnswered,
  resultsAsked,
  callIdLength,
  toolNames,
  soundCalls,
]
