/** Rules A1…A34 about the shape of the conversation, which the provider checks after everything else. */
import { isDirective, resultIds, toolUseIds } from './anthropic-schema-rules.ts'
import {
  checkThinking,
  dropsMoved,
  signCompaction,
  type ThinkingFinding,
  type ThinkingState,
} from './anthropic-thinking.ts'
import { isThinking, placeOf, type AnthropicView, type PlacedMessage, type Turn } from './anthropic-view.ts'
import { stringOf } from './json.ts'
import { firstOf, repeated, type Rule } from './rule.ts'

const directive = '; the directive-only form (content: [] with output_config) is accepted at any position'
const states = new WeakMap<AnthropicView, ThinkingState>()

/** Every thinking block checked, once per request. */
export function thinkingState(view: AnthropicView): ThinkingState {
  const state = states.get(view) ?? checkThinking(view)
  states.set(view, state)
  return state
}

/** What is wrong with the thinking of a request; a request without any costs no digests. */
export function thinkingFindings(view: AnthropicView): readonly ThinkingFinding[] {
  return view.blocks.some(isThinking) ? thinkingState(view).findings : []
}

interface Exchange {
  readonly calls: Turn
  readonly answers: Turn | undefined
}

/** Assistant turns with calls, and the user turn that should answer them. */
function exchanges({ turns }: AnthropicView): readonly Exchange[] {
  return turns.flatMap((calls, index) => {
    if (calls.role !== 'assistant' || toolUseIds(calls.blocks).length === 0) return []
    const next = turns[index + 1]
    return [{ calls, answers: next?.role === 'user' ? next : undefined }]
  })
}

function unanswered({ calls }: Exchange, ids: readonly string[]): string | undefined {
  return ids.length === 0
    ? undefined
    : `messages.${calls.messages.at(-1)?.index ?? 0}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`
}

function systemRuns(view: AnthropicView, check: (message: PlacedMessage) => string | undefined): string | undefined {
  return firstOf(view.messages, (message) =>
    message.role !== 'system' || isDirective(message) ? undefined : check(message),
  )
}

/** The nearest message that is not a system message. */
function neighbour(view: AnthropicView, from: number, step: 1 | -1): PlacedMessage | undefined {
  let at = from + step
  while (view.messages[at]?.role === 'system') at += step
  return view.messages[at]
}

function emptyTurn(view: AnthropicView): string | undefined {
  return firstOf(view.turns, ({ role, blocks, messages }, index) => {
    const at = messages[0]?.index ?? 0
    if (blocks.length > 0) return undefined
    if (role === 'user') return `messages.${at}: user messages must have non-empty content`
    return role === 'assistant' && index < view.turns.length - 1
      ? `messages.${at}: all messages must have non-empty content except for the optional final assistant message`
      : undefined
  })
}

/** The first assistant turn behind the last user turn without results, if results follow it. */
function currentLoopStart({ turns }: AnthropicView): Turn | undefined {
  const isResults = ({ role, blocks }: Turn): boolean => role === 'user' && resultIds(blocks).length > 0
  const last = turns.at(-1)
  if (last === undefined || !isResults(last)) return undefined
  const start = turns.findLastIndex((turn) => turn.role === 'user' && !isResults(turn))
  return turns.slice(start + 1).find(({ role }) => role === 'assistant')
}

function compactionFault(view: AnthropicView): { message: string; code: string } | undefined {
  const found = view.blocks.filter(({ type }) => type === 'compaction')
  if (found.length > 1)
    return { message: 'messages: more than one compaction block', code: 'compaction_block_ambiguous' }
  const block = found[0]
  if (block === undefined) return undefined
  if (block !== view.blocks[0]) {
    return { message: `${placeOf(block)}: a compaction block must come first`, code: 'compaction_block_misplaced' }
  }
  return block.fields['signature'] === signCompaction(view.settings.organisation, block.fields['content'])
    ? undefined
    : { message: `${placeOf(block)}: the compaction block was modified`, code: 'compaction_content_mismatch' }
}

export const anthropicConversationRules: readonly Rule<AnthropicView>[] = [
  {
    id: 'A7',
    level: 'refuse',
    check: ({ messages: [first] }) =>
      first?.role === 'system' && !isDirective(first)
        ? `messages.0: use the top-level 'system' parameter for the initial system prompt${directive}`
        : undefined,
  },
  {
    id: 'A8',
    level: 'refuse',
    check: ({ messages, model }) =>
      model?.systemRole === false && messages.some(({ role }) => role === 'system')
        ? "role 'system' is not supported on this model"
        : undefined,
  },
  {
    id: 'A9',
    level: 'refuse',
    check: (view) =>
      systemRuns(view, ({ index }) => {
        const before = neighbour(view, index, -1)
        const last = before?.blocks.at(-1)?.type ?? ''
        const isLegal =
          before?.role === 'user' ||
          (before?.role === 'assistant' && last !== 'tool_result' && last.endsWith('_tool_result'))
        return isLegal
          ? undefined
          : `messages.${index}: role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool result${directive}`
      }),
  },
  {
    id: 'A10',
    level: 'refuse',
    check: (view) =>
      systemRuns(view, ({ index }) =>
        (neighbour(view, index, 1)?.role ?? 'assistant') === 'assistant'
          ? undefined
          : `messages.${index}: role 'system' must precede an 'assistant' message or end the array${directive}`,
      ),
  },
  { id: 'A14', level: 'refuse', check: emptyTurn },
  {
    id: 'A4',
    level: 'portable',
    check: ({ messages }) =>
      messages[0]?.role === 'assistant' ? 'messages: first message must use the "user" role' : undefined,
  },
  {
    id: 'A18',
    level: 'refuse',
    check: ({ blocks }) => {
      const again = repeated(toolUseIds(blocks))[0]
      const block = blocks.findLast(({ type, fields }) => type === 'tool_use' && fields['id'] === again)
      return again === undefined || block === undefined
        ? undefined
        : `${placeOf(block)}: \`tool_use\` ids must be unique`
    },
  },
  {
    id: 'A16',
    level: 'refuse',
    check: ({ turns }) =>
      firstOf(turns, ({ blocks }, index) => {
        const before = turns[index - 1]
        const calls = before?.role === 'assistant' ? toolUseIds(before.blocks) : []
        const stray = blocks.find(
          ({ type, fields }) => type === 'tool_result' && !calls.includes(stringOf(fields['tool_use_id'])),
        )
        return stray === undefined
          ? undefined
          : `${placeOf(stray)}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stringOf(stray.fields['tool_use_id'])}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`
      }),
  },
  {
    id: 'A15',
    level: 'refuse',
    check: (view) =>
      firstOf(exchanges(view), (exchange) => {
        const answered = resultIds(exchange.answers?.blocks ?? [])
        return unanswered(
          exchange,
          toolUseIds(exchange.calls.blocks).filter((id) => !answered.includes(id)),
        )
      }),
  },
  {
    id: 'A17',
    level: 'refuse',
    check: (view) =>
      firstOf(exchanges(view), (exchange) => {
        const blocks = exchange.answers?.blocks ?? []
        const other = blocks.findIndex(({ type }) => type !== 'tool_result')
        return other === -1 ? undefined : unanswered(exchange, resultIds(blocks.slice(other)))
      }),
  },
  {
    id: 'A19',
    level: 'refuse',
    check: ({ turns }) =>
      firstOf(turns, ({ blocks }) => {
        const id = repeated(resultIds(blocks))[0]
        return id === undefined
          ? undefined
          : `each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`
      }),
  },
  {
    id: 'A5',
    level: 'refuse',
    check: ({ turns, model }) =>
      turns.at(-1)?.role === 'assistant' && model?.prefill === false
        ? 'This model does not support assistant message prefill. The conversation must end with a user message.'
        : undefined,
  },
  {
    id: 'A6',
    level: 'refuse',
    check: ({ turns }) => {
      const last = turns.at(-1)
      const text = stringOf(last?.blocks.at(-1)?.fields['text'])
      return last?.role === 'assistant' && text !== text.trimEnd()
        ? 'messages: final assistant content cannot end with trailing whitespace'
        : undefined
    },
  },
  {
    id: 'A24',
    level: 'refuse',
    check: (view) => {
      const first = currentLoopStart(view)?.blocks[0]
      return view.thinking !== 'enabled' || first === undefined || isThinking(first)
        ? undefined
        : `${placeOf(first)}.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first.type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block`
    },
  },
  { id: 'A34', level: 'refuse', check: compactionFault },
  {
    id: 'A23.verbatim',
    level: 'refuse',
    check: (view) => {
      const found = thinkingFindings(view).find(({ kind }) => kind === 'modified')
      if (found === undefined) return undefined
      const latest = view.turns.findLast(({ role }) => role === 'assistant')
      return latest?.blocks.includes(found.block) === true
        ? `${placeOf(found.block)}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`
        : `${placeOf(found.block)}: Invalid \`signature\` in \`thinking\` block`
    },
  },
  {
    id: 'A25',
    level: 'refuse',
    check: (view) => {
      const moved = thinkingFindings(view).find(({ kind }) => kind === 'moved')
      return moved === undefined || dropsMoved(view)
        ? undefined
        : `${placeOf(moved.block)}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".`
    },
  },
  {
    id: 'A32',
    level: 'refuse',
    check: ({ request, settings: { contextTokens = Infinity } }) =>
      request.tokens > contextTokens
        ? `prompt is too long: ${request.tokens} tokens > ${contextTokens} maximum`
        : undefined,
  },
  {
    id: 'A33',
    level: 'refuse',
    check: ({ request, body, model, settings: { contextTokens = Infinity } }) => {
      const output = Number(body['max_tokens'])
      return model?.countsOutput === true && request.tokens + output > contextTokens
        ? `input length and \`max_tokens\` exceed context limit: ${request.tokens} + ${output} > ${contextTokens}, decrease input length or \`max_tokens\` and try again`
        : undefined
    },
  },
]
