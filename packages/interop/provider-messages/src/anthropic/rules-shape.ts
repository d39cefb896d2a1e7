import { sentPart } from '../shared/body.ts'
import { describe, elements, isRecord, member } from '../shared/json-reader.ts'
import type { Rule, Violation } from '../shared/rule.ts'
import { isBlank, isWellFormed, toWellFormed, walkStrings } from '../shared/unicode.ts'
import { allBlocks, textOf } from './view.ts'
import type { AnthropicCheckConfig, AnthropicView, BlockView, ItemView } from './view.ts'

type AnthropicRule = Rule<AnthropicView, AnthropicCheckConfig>

const ASSISTANT_ONLY = new Set(['tool_use', 'server_tool_use', 'thinking', 'redacted_thinking'])
const USER_ONLY = new Set(['tool_result', 'image', 'document'])

const shape: AnthropicRule = {
  id: 'A0',
  level: 'refuse',
  profile: 'transcript',
  about: 'The body has the shape of a Messages request: what no other rule names but the schema would refuse.',
  check(view, config) {
    const at = (path: string, message: string): Violation => ({ rule: 'A0', path, message })
    if (!isRecord(view.request)) return [at('', `the request is ${describe(view.request)}, not an object`)]
    const messages = member(view.request, 'messages')
    if (!Array.isArray(messages)) return [at('messages', `messages is ${describe(messages)}, not an array`)]
    const isUnwritable = config.profile === 'request' && view.bytes() === undefined
    return [
      ...contentShape(member(view.request, 'system') ?? '', 'system', at),
      ...(isUnwritable ? [at('', 'the request is no JSON value')] : []),
      ...elements(messages).flatMap((value, index) => messageShape(value, `messages.${index}`, at)),
      ...view.items.flatMap((item) => misplaced(item, at)),
    ]
  },
}

function messageShape(value: unknown, path: string, at: (path: string, message: string) => Violation): Violation[] {
  if (!isRecord(value)) return [at(path, `the message is ${describe(value)}, not an object`)]
  if (typeof member(value, 'role') !== 'string') return [at(`${path}.role`, 'a message needs a role')]
  return contentShape(member(value, 'content'), `${path}.content`, at)
}

function contentShape(
  content: unknown,
  path: string,
  at: (path: string, message: string) => Violation,
  isNested = false,
): Violation[] {
  if (typeof content === 'string') return []
  if (!Array.isArray(content)) return [at(path, `content is ${describe(content)}, not a string or an array of blocks`)]
  return elements(content).flatMap((block, index) => {
    const where = `${path}.${index}`
    const type = member(block, 'type')
    if (typeof type !== 'string') return [at(where, 'a content block is an object with a type')]
    const missing = (STRING_MEMBERS.get(type) ?? []).filter((name) => typeof member(block, name) !== 'string')
    const found = missing.map((name) => at(`${where}.${name}`, `a ${type} block needs a string here`))
    if (type === 'image' && !isRecord(member(block, 'source')))
      found.push(at(`${where}.source`, 'an image has a source'))
    if (type === 'tool_result' && isNested) found.push(at(where, 'a tool_result does not stand inside another'))
    else if (type === 'tool_result')
      return [...found, ...contentShape(member(block, 'content') ?? '', `${where}.content`, at, true)]
    return found
  })
}

const STRING_MEMBERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['text', ['text']],
  ['tool_use', ['id', 'name']],
  ['tool_result', ['tool_use_id']],
  ['thinking', ['thinking']],
])

function misplaced(item: ItemView, at: (path: string, message: string) => Violation): Violation[] {
  const forbidden = item.role === 'user' ? ASSISTANT_ONLY : item.role === 'assistant' ? USER_ONLY : undefined
  return item.blocks
    .filter((block) => forbidden?.has(block.type) === true)
    .map((block) => at(block.path, `a ${block.type} block cannot stand in a message of role ${item.role}`))
}

const items: AnthropicRule = {
  id: 'A1',
  level: 'refuse',
  profile: 'transcript',
  about: 'Messages have the keys role and content and the role user, assistant or system; a request has at least one.',
  check(view, config) {
    const at = (path: string, message: string): Violation => ({ rule: 'A1', path, message })
    const messages = member(view.request, 'messages')
    const isEmpty = config.profile === 'request' && Array.isArray(messages) && messages.length === 0
    const found = isEmpty ? [at('messages', 'at least one message is required')] : []
    for (const item of view.items) {
      const { path, role } = item
      if (!['user', 'assistant', 'system'].includes(role))
        found.push(at(`${path}.role`, `unexpected role ${describe(role)}`))
      for (const key of Object.keys(item.value)) {
        if (key === 'role' || key === 'content' || (key === 'output_config' && role === 'system')) continue
        found.push(at(`${path}.${key}`, 'extra inputs are not permitted'))
      }
    }
    return found
  },
}

function* texts(view: AnthropicView): Generator<BlockView> {
  for (const block of [...view.system, ...allBlocks(view.items)]) if (block.type === 'text') yield block
}

const nonEmptyText: AnthropicRule = {
  id: 'A12',
  level: 'refuse',
  profile: 'transcript',
  about: 'Every text block has a character.',
  check: (view) =>
    [...texts(view)]
      .filter((block) => member(block.value, 'text') === '')
      .map(({ path }) => ({ rule: 'A12', path, message: 'text content blocks must be non-empty' })),
}

const visibleText: AnthropicRule = {
  id: 'A13',
  level: 'refuse',
  profile: 'transcript',
  about: 'Every text block has a character that is not white space.',
  check: (view) =>
    [...texts(view)]
      .filter(({ value }) => textOf(value, 'text') !== '' && isBlank(textOf(value, 'text')))
      .map(({ path }) => ({ rule: 'A13', path, message: 'text content blocks must contain non-whitespace text' })),
}

const nonEmptyTurn: AnthropicRule = {
  id: 'A14',
  level: 'refuse',
  profile: 'transcript',
  about: 'A merged user turn has content, and so has every assistant turn but the last turn of the list.',
  check: (view) =>
    view.turns
      .filter((turn, index) => {
        if (turn.blocks.length > 0) return false
        return turn.role === 'user' || (turn.role === 'assistant' && index < view.turns.length - 1)
      })
      .map(({ path, role }) => ({ rule: 'A14', path, message: `this ${role} turn must have non-empty content` })),
}

const wellFormed: AnthropicRule = {
  id: 'A31',
  level: 'refuse',
  profile: 'transcript',
  about: 'No string and no key has a lone surrogate.',
  check({ request }, config) {
    const found: Violation[] = []
    walkStrings(sentPart(request, config.profile), '', (text, path) => {
      if (isWellFormed(text)) return
      found.push({
        rule: 'A31',
        path: toWellFormed(path.slice(1)),
        message: 'not valid JSON: a surrogate stands alone',
      })
    })
    return found
  },
}

/** Rules on the shape of messages and on text. */
export const shapeRules: readonly AnthropicRule[] = [shape, items, nonEmptyText, visibleText, nonEmptyTurn, wellFormed]
