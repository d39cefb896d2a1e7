import type { Rule, Violation } from '../shared/rule.ts'
import { isAtLeast } from './models.ts'
import { textOf } from './view.ts'
import type { AnthropicCheckConfig, AnthropicView, ItemView, TurnView } from './view.ts'

type AnthropicRule = Rule<AnthropicView, AnthropicCheckConfig>

const beginsWithUser: AnthropicRule = {
  id: 'A4',
  level: 'portable',
  profile: 'request',
  about: 'The first message is not an assistant: older servers refuse that.',
  check: (view) =>
    view.items[0]?.role === 'assistant'
      ? [{ rule: 'A4', path: view.items[0].path, message: 'first message must use the "user" role' }]
      : [],
}

const noPrefill: AnthropicRule = {
  id: 'A5',
  level: 'refuse',
  profile: 'request',
  about: 'The list does not end on an assistant, unless the model is known to be 4.5 or older.',
  check(view) {
    const last = view.items.at(-1)
    if (last?.role !== 'assistant') return []
    if (view.model !== undefined && !isAtLeast(view.model, 4, 6)) return []
    return [{ rule: 'A5', path: last.path, message: 'no assistant message prefill: end with a user message' }]
  },
}

const prefillWithoutTrailingSpace: AnthropicRule = {
  id: 'A6',
  level: 'refuse',
  profile: 'request',
  about: 'An assistant text that ends the list does not end in white space.',
  check(view) {
    const last = view.items.at(-1)
    const block = last?.role === 'assistant' ? last.blocks.at(-1) : undefined
    if (block?.type !== 'text' || !/\S\s+$/.test(textOf(block.value, 'text'))) return []
    return [{ rule: 'A6', path: block.path, message: 'final assistant content cannot end with trailing whitespace' }]
  },
}

const initialSystemOutside: AnthropicRule = {
  id: 'A7',
  level: 'refuse',
  profile: 'transcript',
  about: 'The initial system prompt stands in the top-level `system`, not at the head of `messages`.',
  check: (view) =>
    view.turns
      .slice(0, 1)
      .filter((turn) => turn.role === 'system')
      .map(({ path }) => ({
        rule: 'A7',
        path,
        message: "use the top-level 'system' parameter for the initial prompt",
      })),
}

const systemRoleSupported: AnthropicRule = {
  id: 'A8',
  level: 'refuse',
  profile: 'transcript',
  about: 'A model older than Opus 4.8 and the families after it takes no system messages inside the list.',
  check({ model, items }) {
    if (model === undefined || model.major >= 5 || (model.line === 'opus' && isAtLeast(model, 4, 8))) return []
    return items
      .filter((item) => item.role === 'system')
      .map(({ path }) => ({ rule: 'A8', path, message: "role 'system' is not supported on this model" }))
  },
}

/** Runs of system items that are not at the head of the list, which `A7` names. */
function systemRuns(view: AnthropicView): { turn: TurnView; before: TurnView; after: TurnView | undefined }[] {
  return view.turns.flatMap((turn, index) => {
    const before = view.turns[index - 1]
    return turn.role === 'system' && before !== undefined ? [{ turn, before, after: view.turns[index + 1] }] : []
  })
}

const systemFollows: AnthropicRule = {
  id: 'A9',
  level: 'refuse',
  profile: 'transcript',
  about: 'A run of system messages follows a user message, or an assistant that ends in a server tool result.',
  check: (view) =>
    systemRuns(view)
      .filter(({ before }) => before.role !== 'user' && !endsInServerResult(before.items.at(-1)))
      .map(({ turn }) => ({
        rule: 'A9',
        path: turn.path,
        message: "role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool result",
      })),
}

function endsInServerResult(item: ItemView | undefined): boolean {
  return item?.blocks.at(-1)?.type.endsWith('_tool_result') === true
}

const systemPrecedes: AnthropicRule = {
  id: 'A10',
  level: 'refuse',
  profile: 'transcript',
  about: 'A run of system messages precedes an assistant or ends the list.',
  check: (view) =>
    systemRuns(view)
      .filter(({ after }) => after !== undefined && after.role !== 'assistant')
      .map(({ turn }) => ({
        rule: 'A10',
        path: turn.path,
        message: "role 'system' must precede an 'assistant' message or end the array",
      })),
}

const SYSTEM_BLOCKS = new Set(['text', 'tool_addition', 'tool_removal'])

const systemContent: AnthropicRule = {
  id: 'A11',
  level: 'refuse',
  profile: 'transcript',
  about: 'A system message has at least one block, and only text, tool_addition and tool_removal blocks.',
  check(view) {
    const found: Violation[] = []
    for (const item of view.items) {
      if (item.role !== 'system' || item.isDirective) continue
      const at = (path: string, message: string): number => found.push({ rule: 'A11', path, message })
      if (item.blocks.length === 0) at(item.path, 'system content must contain at least one block')
      for (const block of item.blocks) {
        if (!SYSTEM_BLOCKS.has(block.type)) at(block.path, `role 'system' supports no ${block.type} block`)
      }
    }
    return found
  },
}

/** Rules on who may stand where. */
export const placementRules: readonly AnthropicRule[] = [
  beginsWithUser,
  noPrefill,
  prefillWithoutTrailingSpace,
  initialSystemOutside,
  systemRoleSupported,
  systemFollows,
  systemPrecedes,
  systemContent,
]
