import { applyRules } from '../shared/rule.ts'
import type { Rule, UnjudgedRule, Violation } from '../shared/rule.ts'
import { requestRules } from './rules-request.ts'
import { shapeRules } from './rules-shape.ts'
import { toolRules } from './rules-tools.ts'
import { viewOpenAiChat } from './view.ts'
import type { OpenAiChatCheckConfig, OpenAiChatView } from './view.ts'

/** Every rule of Chat Completions that can be judged from a request, in the order of their numbers. */
export const openAiChatRules: readonly Rule<OpenAiChatView, OpenAiChatCheckConfig>[] = [
  ...shapeRules,
  ...toolRules,
  ...requestRules,
].sort((a, b) => Number(a.id.slice(2)) - Number(b.id.slice(2)))

/** What is left out, and why. */
export const openAiChatUnjudged: readonly UnjudgedRule[] = [
  { id: 'OC13', reason: 'The tokens of a prompt are counted by the server.' },
]

/**
 * Names every rule of Chat Completions that a parsed request body breaks. Takes any value and never throws. Give an
 * export's `messages`, not its `report`: the API takes no unknown member. SPEC 8.
 */
export function validateOpenAiChat(request: unknown, config: OpenAiChatCheckConfig): Violation[] {
  return applyRules(openAiChatRules, viewOpenAiChat(request, config), config)
}
