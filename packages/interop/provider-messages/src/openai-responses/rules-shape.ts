import { sentPart } from '../shared/body.ts'
import { describe, elements, isRecord, member, parsed } from '../shared/json-reader.ts'
import { loneSurrogates } from '../shared/lone-surrogates.ts'
import type { Rule, Violation } from '../shared/rule.ts'
import type { ItemView, OpenAiResponsesCheckConfig, OpenAiResponsesView } from './view.ts'

type ResponsesRule = Rule<OpenAiResponsesView, OpenAiResponsesCheckConfig>
type At = (path: string, message: string) => Violation

const shape: ResponsesRule = {
  id: 'OR0',
  level: 'refuse',
  profile: 'transcript',
  about: 'The body has the shape of a Responses request: what no other rule names but the schema would refuse.',
  check(view, config) {
    const at: At = (path, message) => ({ rule: 'OR0', path, message })
    if (!isRecord(view.request)) return [at('', `the request is ${describe(view.request)}, not an object`)]
    const found: Violation[] = []
    if (config.profile === 'request' && view.bytes() === undefined) found.push(at('', 'the request is no JSON value'))
    const input = member(view.request, 'input')
    if (typeof input === 'string' || (input === undefined && config.profile === 'request')) return found
    if (!Array.isArray(input)) return [...found, at('input', `input is ${describe(input)}, not an array`)]
    for (const [index, value] of elements(input).entries()) {
      if (!isRecord(value)) found.push(at(`input.${index}`, `the item is ${describe(value)}, not an object`))
      else if (typeof (member(value, 'type') ?? member(value, 'role')) !== 'string')
        found.push(at(`input.${index}.type`, 'an item needs a type, a message a role'))
    }
    return [...found, ...view.items.flatMap((item) => itemShape(item, at))]
  },
}

const TEXTS = ['input_text', 'output_text', 'refusal']

function itemShape({ path, kind, type, value, role, callId, parts }: ItemView, at: At): Violation[] {
  const found: Violation[] = []
  const needs = (name: string): void => {
    if (typeof member(value, name) !== 'string') found.push(at(`${path}.${name}`, `a ${type} needs a string here`))
  }
  if (kind === 'message' && role === undefined) needs('role')
  if ((kind === 'call' || kind === 'output') && callId === undefined) needs('call_id')
  if (kind === 'call') for (const name of ['name', type === 'function_call' ? 'arguments' : 'input']) needs(name)
  if (kind === 'reasoning' && !Array.isArray(member(value, 'summary')))
    found.push(at(`${path}.summary`, 'a reasoning item needs a summary, empty or not'))
  if (kind !== 'message' && kind !== 'output') return found
  const name = kind === 'output' ? 'output' : 'content'
  const content = member(value, name)
  if (typeof content !== 'string' && !Array.isArray(content))
    found.push(at(`${path}.${name}`, `expected a string or an array, got ${describe(content)}`))
  if (parts.length < elements(content).length) found.push(at(`${path}.${name}`, 'a part is an object with a type'))
  for (const part of parts) {
    const text = part.type === 'refusal' ? 'refusal' : 'text'
    if (TEXTS.includes(part.type) && typeof member(part.value, text) !== 'string')
      found.push(at(`${part.path}.${text}`, `a part of type ${part.type} needs a string here`))
    if (
      part.type === 'input_image' &&
      !['image_url', 'file_id'].some((key) => typeof member(part.value, key) === 'string')
    )
      found.push(at(part.path, 'an input_image needs an image_url or a file_id'))
    if (kind === 'output' && !part.type.startsWith('input_'))
      found.push(at(part.path, `an output takes no ${describe(part.type)} part`))
  }
  return found
}

const inputPresent: ResponsesRule = {
  id: 'OR1',
  level: 'refuse',
  profile: 'request',
  about: 'input is given and is neither empty text nor an empty list, unless the request goes on from stored items.',
  check({ request, isChained }) {
    if (!isRecord(request)) return []
    const input = member(request, 'input')
    const isMissing = input === undefined && !isChained && (member(request, 'prompt') ?? null) === null
    const isEmpty = input === '' || (Array.isArray(input) && input.length === 0)
    return isMissing || isEmpty ? [{ rule: 'OR1', path: 'input', message: 'missing required parameter' }] : []
  },
}

const ROLES = ['assistant', 'system', 'developer', 'user']

const roles: ResponsesRule = {
  id: 'OR2',
  level: 'refuse',
  profile: 'transcript',
  about: `Roles of messages are ${ROLES.join(', ')}; their order is free.`,
  check: ({ items }) =>
    items
      .filter(({ kind, role }) => kind === 'message' && role !== undefined && !ROLES.includes(role))
      .map(({ path, role }) => ({ rule: 'OR2', path: `${path}.role`, message: `invalid value: ${describe(role)}` })),
}

const MESSAGE_MEMBERS = ['type', 'role', 'content', 'status', 'id']

const messageMembers: ResponsesRule = {
  id: 'OR3',
  level: 'refuse',
  profile: 'transcript',
  about: `Messages have the members ${MESSAGE_MEMBERS.join(', ')}, and phase on assistants only.`,
  check: ({ items }) =>
    items
      .filter((item) => item.kind === 'message')
      .flatMap(({ path, value, role }) => {
        const known = role === 'assistant' ? [...MESSAGE_MEMBERS, 'phase'] : MESSAGE_MEMBERS
        const odd = Object.keys(value).filter((name) => !known.includes(name))
        return odd.map((name) => ({ rule: 'OR3', path: `${path}.${name}`, message: 'unknown parameter' }))
      }),
}

const INPUT_PARTS = ['input_text', 'input_image', 'input_file', 'input_audio']
const OUTPUT_PARTS = ['output_text', 'refusal']

const partTypes: ResponsesRule = {
  id: 'OR4',
  level: 'refuse',
  profile: 'transcript',
  about: `Parts are ${INPUT_PARTS.join(', ')}; those of assistants ${OUTPUT_PARTS.join(', ')}.`,
  check: ({ items }) =>
    items
      .filter((item) => item.kind === 'message' && ROLES.includes(item.role ?? ''))
      .flatMap(({ role, parts }) => {
        const takes = role === 'assistant' ? OUTPUT_PARTS : INPUT_PARTS
        return parts
          .filter((part) => !takes.includes(part.type))
          .map(({ path, type }) => ({ rule: 'OR4', path, message: `invalid value: ${describe(type)}` }))
      }),
}

const wellFormed: ResponsesRule = {
  id: 'OR20',
  level: 'portable',
  profile: 'transcript',
  about: 'No string and no key has a lone surrogate, call arguments included once they are parsed.',
  check: ({ request, items }, { profile }) => [
    ...loneSurrogates('OR20', sentPart(request, profile), ''),
    ...items
      .filter((item) => item.type === 'function_call')
      .flatMap(({ path, value }) => {
        return loneSurrogates('OR20', parsed(member(value, 'arguments')), `${path}.arguments`)
      }),
  ],
}

/** Rules on the shape of the body and of messages, and on text. */
export const shapeRules: readonly ResponsesRule[] = [shape, inputPresent, roles, messageMembers, partTypes, wellFormed]
