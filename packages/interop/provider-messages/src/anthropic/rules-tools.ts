import { describe, elements, isRecord, member } from '../shared/json-reader.ts'
import type { Rule, Violation } from '../shared/rule.ts'
import { allBlocks, blocksOf, nestedBlocks, textOf } from './view.ts'
import type { AnthropicCheckConfig, AnthropicView, BlockView, TurnView } from './view.ts'

type AnthropicRule = Rule<AnthropicView, AnthropicCheckConfig>

/** Turns without the system runs between them, which the rules of placement judge. */
function spoken(view: AnthropicView): TurnView[] {
  return view.turns.filter((turn) => turn.role !== 'system')
}

function ids(blocks: readonly BlockView[], name: string): Set<string> {
  return new Set(blocks.map((block) => textOf(block.value, name)))
}

const callsAnswered: AnthropicRule = {
  id: 'A15',
  level: 'refuse',
  profile: 'transcript',
  about: 'Each tool_use is answered by a tool_result in the very next user turn.',
  check: (view) =>
    spoken(view).flatMap((turn, index, turns) => {
      if (turn.role !== 'assistant') return []
      const next = turns[index + 1]
      const answered = ids(next?.role === 'user' ? blocksOf(next, 'tool_result') : [], 'tool_use_id')
      return blocksOf(turn, 'tool_use')
        .filter((block) => !answered.has(textOf(block.value, 'id')))
        .map(({ path, value }) => ({
          rule: 'A15',
          path,
          message: `tool_use ${describe(member(value, 'id'))} is found without a tool_result immediately after`,
        }))
    }),
}

const resultsAsked: AnthropicRule = {
  id: 'A16',
  level: 'refuse',
  profile: 'transcript',
  about: 'Each tool_result answers a tool_use of the assistant turn right before.',
  check: (view) =>
    spoken(view).flatMap((turn, index, turns) => {
      const asked = ids(blocksOf(turns[index - 1], 'tool_use'), 'id')
      return blocksOf(turn, 'tool_result')
        .filter((block) => turn.role === 'user' && !asked.has(textOf(block.value, 'tool_use_id')))
        .map(({ path, value }) => ({
          rule: 'A16',
          path,
          message: `unexpected tool_use_id ${describe(member(value, 'tool_use_id'))}: no such tool_use in the turn before`,
        }))
    }),
}

const resultsFirst: AnthropicRule = {
  id: 'A17',
  level: 'refuse',
  profile: 'transcript',
  about: 'Tool results open their user turn; text and images follow.',
  check: (view) =>
    view.turns.flatMap((turn) => {
      const other = turn.blocks.findIndex((block) => block.type !== 'tool_result')
      if (turn.role !== 'user' || other < 0) return []
      return blocksOf({ ...turn, blocks: turn.blocks.slice(other) }, 'tool_result').map(({ path }) => ({
        rule: 'A17',
        path,
        message: 'a tool_result stands before all other content of its turn',
      }))
    }),
}

const uniqueCalls: AnthropicRule = {
  id: 'A18',
  level: 'refuse',
  profile: 'transcript',
  about: 'tool_use ids are unique in the request.',
  check: (view) =>
    repeated(
      [...allBlocks(view.items)].filter((block) => block.type === 'tool_use'),
      'id',
    ).map(({ path }) => ({ rule: 'A18', path, message: 'tool_use ids must be unique' })),
}

const oneResult: AnthropicRule = {
  id: 'A19',
  level: 'refuse',
  profile: 'transcript',
  about: 'Each call has a single result.',
  check: (view) =>
    view.turns.flatMap((turn) =>
      repeated(blocksOf(turn, 'tool_result'), 'tool_use_id').map(({ path, value }) => ({
        rule: 'A19',
        path,
        message: `found multiple tool_result blocks with id ${describe(member(value, 'tool_use_id'))}`,
      })),
    ),
}

function repeated(blocks: readonly BlockView[], name: string): BlockView[] {
  const seen = new Set<unknown>()
  return blocks.filter(({ value }) => {
    const id = member(value, name)
    const isAgain = typeof id === 'string' && seen.has(id)
    seen.add(id)
    return isAgain
  })
}

const callIdPattern: AnthropicRule = {
  id: 'A20',
  level: 'refuse',
  profile: 'transcript',
  about: 'A tool_use id has only letters, digits, `_` and `-`.',
  check: (view) =>
    [...allBlocks(view.items)]
      .filter(({ type, value }) => {
        const id = member(value, 'id')
        return type === 'tool_use' && typeof id === 'string' && !/^[a-zA-Z0-9_-]+$/.test(id)
      })
      .map(({ path }) => ({ rule: 'A20', path: `${path}.id`, message: "should match pattern '^[a-zA-Z0-9_-]+$'" })),
}

const inputObject: AnthropicRule = {
  id: 'A21',
  level: 'refuse',
  profile: 'transcript',
  about: 'The input of a tool_use is an object.',
  check: (view) =>
    [...allBlocks(view.items)]
      .filter(({ type, value }) => type === 'tool_use' && !isRecord(member(value, 'input')))
      .map(({ path, value }) => ({
        rule: 'A21',
        path: `${path}.input`,
        message: `input is ${describe(member(value, 'input'))}, not an object`,
      })),
}

const toolNames: AnthropicRule = {
  id: 'A22',
  level: 'refuse',
  profile: 'transcript',
  about: 'Tool names: charset of ids, 128 characters and unique in `tools`, 200 in history, 64 in references.',
  check(view) {
    const found: Violation[] = []
    const judge = (name: unknown, path: string, limit: number): void => {
      if (typeof name !== 'string') return
      const at = (message: string): number => found.push({ rule: 'A22', path, message })
      if (!/^[a-zA-Z0-9_-]+$/.test(name)) at("should match pattern '^[a-zA-Z0-9_-]+$'")
      else if (name.length > limit) at(`should have at most ${limit} characters`)
    }
    const seen = new Set<unknown>()
    for (const [index, tool] of elements(member(view.request, 'tools')).entries()) {
      const name = member(tool, 'name')
      judge(name, `tools.${index}.name`, 128)
      if (typeof name === 'string' && seen.has(name)) {
        found.push({ rule: 'A22', path: `tools.${index}.name`, message: 'tool names must be unique' })
      }
      seen.add(name)
    }
    for (const { type, value, path } of allBlocks(view.items)) {
      if (type === 'tool_use') judge(member(value, 'name'), `${path}.name`, 200)
      if (type === 'tool_reference') judge(member(value, 'tool_name'), `${path}.tool_name`, 64)
    }
    return found
  },
}

const errorResultText: AnthropicRule = {
  id: 'A35',
  level: 'refuse',
  profile: 'transcript',
  about: 'A result with is_error has content, and all of it is text.',
  check: (view) =>
    [...allBlocks(view.items)]
      .filter(({ type, value }) => type === 'tool_result' && member(value, 'is_error') === true)
      .flatMap((result) => {
        const blocks = nestedBlocks(result)
        if (blocks.length === 0) return [{ path: result.path, message: 'content cannot be empty if is_error is true' }]
        return blocks
          .filter((block) => block.type !== 'text')
          .map(({ path }) => ({ path, message: 'all content must be type text if is_error is true' }))
      })
      .map((violation) => ({ rule: 'A35', ...violation })),
}

/** Rules on calls, results and tool names. `A35` is not in the numbered table; the server refuses it all the same (vellum-ai/vellum-assistant#18387). */
export const toolRules: readonly AnthropicRule[] = [
  callsAnswered,
  resultsAsked,
  resultsFirst,
  uniqueCalls,
  oneResult,
  callIdPattern,
  inputObject,
  toolNames,
  errorResultText,
]
