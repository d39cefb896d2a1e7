import { describe, elements, isRecord, member } from '../shared/json-reader.ts'
import { applyRules } from '../shared/rule.ts'
import type { CheckConfig, Rule, Violation } from '../shared/rule.ts'

type UiRule = Rule<unknown>
type Found = { readonly path: string; readonly message: string }

const named = (id: string, found: readonly Found[]): Violation[] => found.map((fault) => ({ rule: id, ...fault }))

/** Messages that are objects, with their places. */
function messagesOf(list: unknown): { readonly path: string; readonly value: unknown }[] {
  return elements(list).flatMap((value, index) => (isRecord(value) ? [{ path: String(index), value }] : []))
}

function partsOf(list: unknown): { readonly path: string; readonly value: unknown; readonly role: unknown }[] {
  return messagesOf(list).flatMap(({ path, value }) =>
    elements(member(value, 'parts')).map((part, index) => ({
      path: `${path}.parts.${index}`,
      value: part,
      role: member(value, 'role'),
    })),
  )
}

function texts(value: unknown, path: string, names: readonly string[]): Found[] {
  return names
    .filter((name) => typeof member(value, name) !== 'string')
    .map((name) => ({ path: `${path}.${name}`, message: 'a text belongs here' }))
}

const shape: UiRule = {
  id: 'UI1',
  level: 'refuse',
  profile: 'transcript',
  about: 'The list is an array of messages with an id, a role of system, user or assistant, and parts.',
  check(list) {
    if (!Array.isArray(list))
      return named('UI1', [{ path: '', message: `the list is ${describe(list)}, not an array` }])
    return named(
      'UI1',
      elements(list).flatMap((value, index): Found[] => {
        const path = String(index)
        if (!isRecord(value)) return [{ path, message: `the message is ${describe(value)}, not an object` }]
        const role = member(value, 'role')
        const isRole = role === 'system' || role === 'user' || role === 'assistant'
        return [
          ...texts(value, path, ['id']),
          ...(isRole ? [] : [{ path: `${path}.role`, message: `${describe(role)} is no role` }]),
          ...(Array.isArray(member(value, 'parts')) ? [] : [{ path: `${path}.parts`, message: 'a message has parts' }]),
        ]
      }),
    )
  },
}

const MEMBERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['text', ['text']],
  ['reasoning', ['text']],
  ['file', ['mediaType', 'url']],
  ['reasoning-file', ['mediaType', 'url']],
  ['source-url', ['sourceId', 'url']],
  ['source-document', ['sourceId', 'mediaType', 'title']],
  ['custom', ['kind']],
  ['step-start', []],
  ['dynamic-tool', ['toolName', 'toolCallId']],
])

/** Members that are texts, by the type of a part; `undefined` for a type that is none. */
function membersOf(type: string): readonly string[] | undefined {
  if (type.startsWith('data-')) return []
  return MEMBERS.get(type) ?? (type.startsWith('tool-') ? ['toolCallId'] : undefined)
}

const parts: UiRule = {
  id: 'UI2',
  level: 'refuse',
  profile: 'transcript',
  about: 'Parts are of a known type and have its members; a system message has texts only.',
  check: (list) =>
    named(
      'UI2',
      partsOf(list).flatMap(({ path, value, role }): Found[] => {
        const type = member(value, 'type')
        const names = typeof type === 'string' ? membersOf(type) : undefined
        if (names === undefined) return [{ path: `${path}.type`, message: `${describe(type)} is no type of part` }]
        if (role === 'system' && type !== 'text') return [{ path, message: 'a system message has texts only' }]
        const hasNoData = String(type).startsWith('data-') && member(value, 'data') === undefined
        return [
          ...texts(value, path, names),
          ...(hasNoData ? [{ path: `${path}.data`, message: 'data is missing' }] : []),
        ]
      }),
    ),
}

/** What a part of a tool has in each of its states. */
const STATES: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['input-streaming', []],
  ['input-available', ['input']],
  ['approval-requested', ['input', 'approval']],
  ['approval-responded', ['input', 'approval']],
  ['output-available', ['input', 'output']],
  ['output-error', ['errorText']],
  ['output-denied', ['input', 'approval']],
])

const isTool = (value: unknown): boolean => /^(?:tool-|dynamic-tool$)/.test(String(member(value, 'type')))

const tools: UiRule = {
  id: 'UI3',
  level: 'refuse',
  profile: 'transcript',
  about: 'Parts of tools stand in messages of the assistant and have what their state asks for.',
  check: (list) =>
    named(
      'UI3',
      partsOf(list)
        .filter(({ value }) => isTool(value))
        .flatMap(({ path, value, role }): Found[] => {
          if (role !== 'assistant') return [{ path, message: 'only an assistant calls tools' }]
          const wanted = STATES.get(member(value, 'state'))
          if (wanted === undefined)
            return [{ path: `${path}.state`, message: `${describe(member(value, 'state'))} is no state` }]
          return wanted
            .filter((name) => member(value, name) === undefined)
            .map((name) => ({ path: `${path}.${name}`, message: 'it is missing' }))
        }),
    ),
}

const ids: UiRule = {
  id: 'UI4',
  level: 'portable',
  profile: 'transcript',
  about: 'The ids of messages are unique: pages tell messages apart by them.',
  check(list) {
    const seen = new Set<unknown>()
    return messagesOf(list).flatMap(({ path, value }) => {
      const id = member(value, 'id')
      const isAgain = seen.has(id)
      seen.add(id)
      return isAgain ? named('UI4', [{ path: `${path}.id`, message: `${describe(id)} comes twice` }]) : []
    })
  },
}

/** The rules of messages for a page, in the order of their numbers. */
export const uiMessageRules: readonly Rule<unknown>[] = [shape, parts, tools, ids]

/** Names every rule that a list of `UIMessage`s, version 5, breaks. Takes any value and never throws. SPEC 8. */
export function validateUiMessages(messages: unknown, config: CheckConfig = { profile: 'transcript' }): Violation[] {
  return applyRules(uiMessageRules, messages, config)
}
