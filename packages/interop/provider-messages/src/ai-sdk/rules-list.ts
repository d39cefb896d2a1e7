import { describe, elements, member } from '../shared/json-reader.ts'
import { loneSurrogates } from '../shared/lone-surrogates.ts'
import type { Rule } from '../shared/rule.ts'
import { isBlank } from '../shared/unicode.ts'
import { textOf } from './view.ts'
import type { AiSdkView } from './view.ts'

type AiSdkRule = Rule<AiSdkView>

const noEmptyContent: AiSdkRule = {
  id: 'AI10',
  level: 'refuse',
  profile: 'transcript',
  about: 'Messages of user, assistant and tool have at least one part.',
  check: ({ messages }) =>
    messages
      .filter(({ role, content }) => role !== 'system' && Array.isArray(content) && content.length === 0)
      .map(({ path, role }) => ({ rule: 'AI10', path: `${path}.content`, message: `the ${role} message is empty` })),
}

const visibleText: AiSdkRule = {
  id: 'AI11',
  level: 'portable',
  profile: 'transcript',
  about: 'Text, but that of reasoning, has a character that is not white space: the packages send blank text as it is.',
  check: ({ messages }) =>
    messages
      .flatMap(({ parts }) => parts)
      .filter((part) => part.type === 'text' && typeof member(part.value, 'text') === 'string')
      .filter((part) => isBlank(textOf(part, 'text')))
      .map(({ path, value }) => ({ rule: 'AI11', path, message: `${describe(member(value, 'text'))} is blank` })),
}

const systemFirst: AiSdkRule = {
  id: 'AI12',
  level: 'portable',
  profile: 'transcript',
  about: 'System messages open the list: a later one is moved to the front, sent in place or refused, by provider.',
  check: ({ messages }) => {
    const first = messages.findIndex(({ role }) => role !== 'system')
    return messages
      .filter(({ role }, index) => role === 'system' && first >= 0 && index > first)
      .map(({ path }) => ({ rule: 'AI12', path, message: 'a system message stands after others' }))
  },
}

const wellFormed: AiSdkRule = {
  id: 'AI13',
  level: 'portable',
  profile: 'transcript',
  about: 'No string and no key has a lone surrogate.',
  // Bytes of files are no text, and too many to walk.
  check: ({ messages }) =>
    messages.flatMap(({ path, value, content, parts }) =>
      typeof content === 'string'
        ? loneSurrogates('AI13', value, path)
        : parts.flatMap((part) => {
            const { data: _, ...rest } = part.value
            return loneSurrogates('AI13', rest, part.path)
          }),
    ),
}

const notEmpty: AiSdkRule = {
  id: 'AI14',
  level: 'refuse',
  profile: 'request',
  about: 'A request has at least one message that is no system message.',
  check: ({ list, messages }) => {
    if (!Array.isArray(list) || messages.some(({ role }) => role !== 'system')) return []
    if (messages.length < elements(list).length) return []
    return [{ rule: 'AI14', path: '', message: 'there is nothing to answer' }]
  },
}

const endsOnInput: AiSdkRule = {
  id: 'AI15',
  level: 'portable',
  profile: 'request',
  about: 'A request ends on a user or on tool results: many models continue no assistant message.',
  check: ({ messages }) => {
    const last = messages.at(-1)
    return last?.role === 'assistant'
      ? [{ rule: 'AI15', path: last.path, message: 'the list ends on an assistant' }]
      : []
  },
}

/** Rules on texts and on the list as a whole. */
export const listRules: readonly AiSdkRule[] = [
  noEmptyContent,
  visibleText,
  systemFirst,
  wellFormed,
  notEmpty,
  endsOnInput,
]
