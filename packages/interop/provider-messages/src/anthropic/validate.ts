import { applyRules } from '../shared/rule.ts'
import type { Rule, UnjudgedRule, Violation } from '../shared/rule.ts'
import { limitRules } from './rules-limits.ts'
import { placementRules } from './rules-placement.ts'
import { shapeRules } from './rules-shape.ts'
import { thinkingRules } from './rules-thinking.ts'
import { toolRules } from './rules-tools.ts'
import { viewAnthropic } from './view.ts'
import type { AnthropicCheckConfig, AnthropicView } from './view.ts'

/** Every rule of the Messages API that can be judged from a request, in the order of their numbers. */
export const anthropicRules: readonly Rule<AnthropicView, AnthropicCheckConfig>[] = [
  ...shapeRules,
  ...placementRules,
  ...toolRules,
  ...thinkingRules,
  ...limitRules,
].sort((a, b) => Number(a.id.slice(1)) - Number(b.id.slice(1)))

/** What is left out, and why. */
export const anthropicUnjudged: readonly UnjudgedRule[] = [
  { id: 'A3', reason: 'It allows something: neighbours of one role are legal, and the rules read them merged.' },
  { id: 'A25', reason: 'Whether a signature belongs to its prefix is known to the server that made it only.' },
  { id: 'A26', reason: 'It allows something: thinking of another model is dropped without an error.' },
  { id: 'A32', reason: 'The tokens of a prompt are counted by the server.' },
  { id: 'A33', reason: 'As A32, and the models in use accept it.' },
]

/**
 * Names every rule of the Messages API that a parsed request body breaks. Takes any value and never throws. An
 * `AnthropicExport` can be given as it is. SPEC 8.
 */
export function validateAnthropic(request: unknown, config: AnthropicCheckConfig): Violation[] {
  return applyRules(anthropicRules, viewAnthropic(request, config), config)
}
