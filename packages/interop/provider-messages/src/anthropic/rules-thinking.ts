import { describe, member } from '../shared/json-reader.ts'
import type { Rule, Violation } from '../shared/rule.ts'
import { canDisableThinking, isAtLeast } from './models.ts'
import { allBlocks } from './view.ts'
import type { AnthropicCheckConfig, AnthropicView, TurnView } from './view.ts'

type AnthropicRule = Rule<AnthropicView, AnthropicCheckConfig>

const THINKING = new Set(['thinking', 'redacted_thinking'])

const signedThinking: AnthropicRule = {
  id: 'A23',
  level: 'refuse',
  profile: 'transcript',
  about: 'Thinking goes back with its signature, redacted thinking with its data.',
  check: (view) =>
    [...allBlocks(view.items)].flatMap(({ type, value, path }) => {
      const name = type === 'thinking' ? 'signature' : type === 'redacted_thinking' ? 'data' : undefined
      if (name === undefined) return []
      const seal = member(value, name)
      if (typeof seal === 'string' && seal !== '') return []
      return [{ rule: 'A23', path: `${path}.${name}`, message: `a ${type} block goes back with its ${name}` }]
    }),
}

const loopBeginsWithThinking: AnthropicRule = {
  id: 'A24',
  level: 'refuse',
  profile: 'request',
  about: 'With manual thinking, the tool loop that the list ends in starts with thinking.',
  check(view) {
    if (member(view.thinking, 'type') !== 'enabled') return []
    const first = openLoopStart(view.turns)?.blocks[0]
    if (first === undefined || THINKING.has(first.type)) return []
    return [
      { rule: 'A24', path: first.path, message: `expected thinking or redacted_thinking, but found ${first.type}` },
    ]
  },
}

/** The first assistant turn of the tool loop that the list ends in: every user turn of a loop answers calls. */
function openLoopStart(turns: readonly TurnView[]): TurnView | undefined {
  let start: TurnView | undefined
  for (let index = turns.length - 1; index > 0; index -= 2) {
    const assistant = turns[index - 1]
    const user = turns[index]
    const isStep = user?.role === 'user' && user.blocks.some((block) => block.type === 'tool_result')
    if (!isStep || assistant?.role !== 'assistant') break
    start = assistant
  }
  return start
}

const thinkingSupported: AnthropicRule = {
  id: 'A27',
  level: 'refuse',
  profile: 'request',
  about: 'Thinking and sampling settings are those that the model takes.',
  check(view) {
    const { model } = view
    if (model === undefined) return []
    const found: Violation[] = []
    const at = (path: string, message: string): number => found.push({ rule: 'A27', path, message })
    const type = member(view.thinking, 'type')
    const isNew = isAtLeast(model, 4, 7)
    if (type === 'enabled' && isNew) at('thinking.type', 'manual thinking is not supported for this model')
    if (type === 'adaptive' && !isAtLeast(model, 4, 6))
      at('thinking.type', 'adaptive thinking is not supported on this model')
    if (type === 'disabled' && !canDisableThinking(model)) at('thinking.type', 'this model cannot disable thinking')
    for (const [name, usual] of SAMPLING) {
      const value = member(view.request, name) ?? usual
      if (isNew && value !== usual) at(name, `${name} ${describe(value)} is not supported for this model`)
    }
    return found
  },
}

const SAMPLING: readonly (readonly [name: string, usual: unknown])[] = [
  ['temperature', 1],
  ['top_p', 1],
  ['top_k', undefined],
]

const compactionPlace: AnthropicRule = {
  id: 'A34',
  level: 'refuse',
  profile: 'transcript',
  about: 'A signed compaction block is the first block of its turn, and the only one of the request.',
  check(view) {
    const blocks = view.turns.flatMap((turn) => turn.blocks.map((block, index) => ({ ...block, index })))
    return blocks
      .filter((block) => block.type === 'compaction')
      .flatMap(({ path, index }, nth) => {
        if (nth > 0) return [{ rule: 'A34', path, message: 'there is more than one compaction block' }]
        return index > 0 ? [{ rule: 'A34', path, message: 'a compaction block is the first of its turn' }] : []
      })
  },
}

const thinkingNotLast: AnthropicRule = {
  id: 'A36',
  level: 'refuse',
  profile: 'transcript',
  about: 'The final block of an assistant turn is not thinking.',
  check: (view) =>
    view.turns
      .filter((turn) => turn.role === 'assistant')
      .flatMap((turn) => turn.blocks.slice(-1))
      .filter((block) => THINKING.has(block.type))
      .map(({ path, type }) => ({
        rule: 'A36',
        path,
        message: `the final block of an assistant message cannot be ${type}`,
      })),
}

/** Rules on thinking and other signed blocks. `A36` is not in the numbered table (tailcallhq/forgecode#2107). */
export const thinkingRules: readonly AnthropicRule[] = [
  signedThinking,
  loopBeginsWithThinking,
  thinkingSupported,
  compactionPlace,
  thinkingNotLast,
]
