import { applyRules } from '../shared/rule.ts'
import type { Rule, UnjudgedRule, Violation } from '../shared/rule.ts'
import { itemRules } from './rules-items.ts'
import { limitRules } from './rules-limits.ts'
import { shapeRules } from './rules-shape.ts'
import { viewOpenAiResponses } from './view.ts'
import type { OpenAiResponsesCheckConfig, OpenAiResponsesView } from './view.ts'

/** Every rule of Responses that can be judged from a request, in the order of their numbers. */
export const openAiResponsesRules: readonly Rule<OpenAiResponsesView, OpenAiResponsesCheckConfig>[] = [
  ...shapeRules,
  ...itemRules,
  ...limitRules,
].sort((a, b) => Number(a.id.slice(2)) - Number(b.id.slice(2)))

/** What is left out, and why. */
export const openAiResponsesUnjudged: readonly UnjudgedRule[] = [
  { id: 'OR13', reason: 'Whether encrypted content belongs to its item and organisation is known to the server only.' },
  { id: 'OR15', reason: 'The tokens of a prompt are counted by the server.' },
]

/**
 * Names every rule of Responses that a parsed request body breaks. Takes any value and never throws. An
 * `OpenAiResponsesExport` can be given as it is. SPEC 8.
 */
export function validateOpenAiResponses(request: unknown, config: OpenAiResponsesCheckConfig): Violation[] {
  return applyRules(openAiResponsesRules, viewOpenAiResponses(request, config), config)
}
