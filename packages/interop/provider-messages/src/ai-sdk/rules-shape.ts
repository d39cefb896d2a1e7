import { describe, elements, isRecord, member } from '../shared/json-reader.ts'
import type { Rule, Violation } from '../shared/rule.ts'
import { resultOutputShape } from './result-output.ts'
import type { AiSdkForm, AiSdkView, MessageView, PartView } from './view.ts'

type AiSdkRule = Rule<AiSdkView>
type At = (path: string, message: string) => Violation

const ROLES = ['system', 'user', 'assistant', 'tool']

const roles: AiSdkRule = {
  id: 'AI1',
  level: 'refuse',
  profile: 'transcript',
  about: 'The list is an array of messages with the role system, user, assistant or tool.',
  check({ list }) {
    if (!Array.isArray(list)) return [{ rule: 'AI1', path: '', message: `the list is ${describe(list)}, not an array` }]
    return elements(list).flatMap((value, index) => {
      const role = member(value, 'role')
      if (typeof role === 'string' && ROLES.includes(role)) return []
      return [{ rule: 'AI1', path: `${index}.role`, message: `${describe(role)} is no role` }]
    })
  },
}

const PARTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['user', ['text', 'file']],
  ['assistant', ['text', 'file', 'custom', 'reasoning', 'reasoning-file', 'tool-call', 'tool-result']],
  ['tool', ['tool-result', 'tool-approval-response']],
])
/** What people may write beyond what a model is given. */
const MORE_PARTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['user', ['image']],
  ['assistant', ['tool-approval-request']],
])

const content: AiSdkRule = {
  id: 'AI2',
  level: 'refuse',
  profile: 'transcript',
  about: 'Content is a string for system, and for other roles an array of the parts that the role takes.',
  check({ messages, form }) {
    const at: At = (path, message) => ({ rule: 'AI2', path, message })
    return messages.filter(({ role }) => ROLES.includes(role)).flatMap((message) => contentShape(message, form, at))
  },
}

function contentShape({ path, role, content: given, parts }: MessageView, form: AiSdkForm, at: At): Violation[] {
  const takesText = role === 'system' || (form === 'messages' && role !== 'tool')
  if (typeof given === 'string') return takesText ? [] : [at(`${path}.content`, `a ${role} message has parts`)]
  if (role === 'system' || !Array.isArray(given)) {
    return [at(`${path}.content`, `the content of a ${role} message is not ${describe(given)}`)]
  }
  const takes = [...(PARTS.get(role) ?? []), ...(form === 'messages' ? (MORE_PARTS.get(role) ?? []) : [])]
  const found = parts
    .filter(({ type }) => !takes.includes(type))
    .map((part) => at(part.path, `a ${role} message takes no ${describe(part.type)} part`))
  return parts.length < given.length ? [at(`${path}.content`, 'a part is an object with a type'), ...found] : found
}

const members: AiSdkRule = {
  id: 'AI3',
  level: 'refuse',
  profile: 'transcript',
  about: 'Parts have their members: text, ids and names, media types and data, inputs and outputs.',
  check({ messages, form }) {
    const at: At = (path, message) => ({ rule: 'AI3', path, message })
    return messages.flatMap(({ parts }) => parts.flatMap((part) => partShape(part, form, at)))
  },
}

function partShape(part: PartView, form: AiSdkForm, at: At): Violation[] {
  const strings = (...names: string[]): Violation[] =>
    names
      .filter((name) => typeof member(part.value, name) !== 'string')
      .map((name) => at(`${part.path}.${name}`, `a ${part.type} part needs a string here`))
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return strings('text')
    case 'file':
    case 'reasoning-file':
      return [...strings('mediaType'), ...fileData(part, form, at)]
    case 'tool-call': {
      const isMissing = member(part.value, 'input') === undefined
      const missing = isMissing ? [at(`${part.path}.input`, 'a tool-call part needs an input')] : []
      return [...strings('toolCallId', 'toolName'), ...missing]
    }
    case 'tool-result':
      return [...strings('toolCallId', 'toolName'), ...resultOutputShape(part, form, at)]
    default:
      return []
  }
}

function fileData(part: PartView, form: AiSdkForm, at: At): Violation[] {
  const data = member(part.value, 'data')
  const isTagged = isRecord(data) && typeof member(data, 'type') === 'string'
  const isPlain = typeof data === 'string' || data instanceof Uint8Array || data instanceof URL || isRecord(data)
  if (isTagged || (form === 'messages' && isPlain)) return []
  return [at(`${part.path}.data`, `the data of a ${part.type} part is not ${describe(data)}`)]
}

const providerOptions: AiSdkRule = {
  id: 'AI4',
  level: 'refuse',
  profile: 'transcript',
  about: 'providerOptions of messages and parts are objects by provider.',
  check: ({ messages }) =>
    messages.flatMap((message) =>
      [message, ...message.parts].flatMap(({ path, value }) => {
        const options = member(value, 'providerOptions')
        if (options === undefined || (isRecord(options) && Object.values(options).every(isRecord))) return []
        return [
          { rule: 'AI4', path: `${path}.providerOptions`, message: `${describe(options)} is no object of objects` },
        ]
      }),
    ),
}

/** Rules on the shape of messages and parts. */
export const shapeRules: readonly AiSdkRule[] = [roles, content, members, providerOptions]
