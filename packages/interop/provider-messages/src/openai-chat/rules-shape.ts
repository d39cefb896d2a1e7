import { sentPart } from '../shared/body.ts'
import { describe, elements, isRecord, member, parsed } from '../shared/json-reader.ts'
import { loneSurrogates } from '../shared/lone-surrogates.ts'
import type { Rule, Violation } from '../shared/rule.ts'
import type { MessageView, OpenAiChatCheckConfig, OpenAiChatView } from './view.ts'

type OpenAiChatRule = Rule<OpenAiChatView, OpenAiChatCheckConfig>
type At = (path: string, message: string) => Violation

const shape: OpenAiChatRule = {
  id: 'OC0',
  level: 'refuse',
  profile: 'transcript',
  about: 'The body has the shape of a Chat Completions request: what no other rule names but the schema would refuse.',
  check(view, config) {
    if (member(view.request, 'messages') === undefined && isRecord(view.request) && config.profile === 'request')
      return []
    return [...bodyShape('OC0', view, config), ...view.messages.flatMap(partTypes)]
  },
}

/** What the schema of any chat-shaped API refuses: of the body, its messages, their parts and calls. */
export function bodyShape(rule: string, view: OpenAiChatView, config: OpenAiChatCheckConfig): Violation[] {
  const at: At = (path, message) => ({ rule, path, message })
  if (!isRecord(view.request)) return [at('', `the request is ${describe(view.request)}, not an object`)]
  const messages = member(view.request, 'messages')
  if (!Array.isArray(messages)) return [at('messages', `messages is ${describe(messages)}, not an array`)]
  const found: Violation[] = []
  if (config.profile === 'request' && view.bytes() === undefined) found.push(at('', 'the request is no JSON value'))
  for (const [index, value] of elements(messages).entries()) {
    const path = `messages.${index}`
    if (!isRecord(value)) found.push(at(path, `the message is ${describe(value)}, not an object`))
    else if (typeof member(value, 'role') !== 'string') found.push(at(`${path}.role`, 'a message needs a role'))
  }
  return [...found, ...view.messages.flatMap((message) => messageShape(message, at))]
}

const PARTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['user', ['text', 'image_url', 'input_audio', 'file']],
  ['assistant', ['text', 'refusal']],
  ['tool', ['text']],
  ['system', ['text']],
  ['developer', ['text']],
])

function partTypes({ role, parts }: MessageView): Violation[] {
  return parts
    .filter((part) => PARTS.get(role)?.includes(part.type) === false)
    .map(({ path, type }) => ({ rule: 'OC0', path, message: `a ${role} message takes no ${describe(type)} part` }))
}

function messageShape({ path, role, value, parts }: MessageView, at: At): Violation[] {
  const found: Violation[] = []
  const content = elements(member(value, 'content'))
  if (parts.length < content.length) found.push(at(`${path}.content`, 'a content part is an object with a type'))
  for (const part of parts) {
    if (part.type === 'text' && typeof member(part.value, 'text') !== 'string') {
      found.push(at(`${part.path}.text`, 'a text part needs a string here'))
    } else if (part.type === 'image_url' && typeof member(member(part.value, 'image_url'), 'url') !== 'string') {
      found.push(at(`${part.path}.image_url`, 'an image_url part needs a url'))
    }
  }
  if (role === 'tool' && typeof member(value, 'tool_call_id') !== 'string') {
    found.push(at(`${path}.tool_call_id`, 'a tool message needs the id of its call'))
  }
  const calls = role === 'assistant' ? (member(value, 'tool_calls') ?? []) : []
  if (!Array.isArray(calls))
    return [...found, at(`${path}.tool_calls`, `tool_calls is ${describe(calls)}, not an array`)]
  return [...found, ...elements(calls).flatMap((call, index) => callShape(call, `${path}.tool_calls.${index}`, at))]
}

function callShape(call: unknown, path: string, at: At): Violation[] {
  const found = typeof member(call, 'id') === 'string' ? [] : [at(`${path}.id`, 'a call needs an id')]
  if (member(call, 'type') === 'custom') return found
  if (member(call, 'type') !== 'function') found.push(at(`${path}.type`, 'a call is of type function or custom'))
  const missing = ['name', 'arguments'].filter((name) => typeof member(member(call, 'function'), name) !== 'string')
  return [...found, ...missing.map((name) => at(`${path}.function.${name}`, 'a function call needs a string here'))]
}

const ROLES = ['system', 'assistant', 'user', 'function', 'tool', 'developer']

/** The rule that messages have one of these roles. */
export function rolesRule(id: string, roles: readonly string[]): OpenAiChatRule {
  return {
    id,
    level: 'refuse',
    profile: 'transcript',
    about: `Roles are ${roles.join(', ')}; their order is free.`,
    check: (view) =>
      view.messages
        .filter((message) => !roles.includes(message.role))
        .map(({ path, role }) => ({ rule: id, path: `${path}.role`, message: `invalid value: ${describe(role)}` })),
  }
}

const CONTENT_OPTIONAL_WITH = ['tool_calls', 'function_call', 'refusal', 'audio']

const content: OpenAiChatRule = {
  id: 'OC3',
  level: 'refuse',
  profile: 'transcript',
  about: 'Content is a string or an array, and may be missing only beside calls, a refusal or audio of the assistant.',
  check: (view) =>
    view.messages.flatMap(({ path, role, value }) => {
      const given = member(value, 'content') ?? null
      if (typeof given === 'string' || Array.isArray(given)) return []
      const isOptional =
        role === 'assistant' && CONTENT_OPTIONAL_WITH.some((name) => (member(value, name) ?? null) !== null)
      if (given === null && (isOptional || role === 'function')) return []
      return [{ rule: 'OC3', path: `${path}.content`, message: `expected a string, got ${describe(given)}` }]
    }),
}

const wellFormed: OpenAiChatRule = {
  id: 'OC14',
  level: 'portable',
  profile: 'transcript',
  about: 'No string and no key has a lone surrogate, call arguments included once they are parsed.',
  check: (view, config) => [
    ...loneSurrogates('OC14', sentPart(view.request, config.profile), ''),
    ...view.messages
      .flatMap((message) => message.calls)
      .flatMap((call) => loneSurrogates('OC14', parsed(call.arguments), `${call.path}.function.arguments`)),
  ],
}

/** Rules on the shape of messages and on text. */
export const shapeRules: readonly OpenAiChatRule[] = [shape, rolesRule('OC2', ROLES), content, wellFormed]
