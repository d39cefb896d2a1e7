import { applyRules } from '../shared/rule.ts'
import type { Rule, UnjudgedRule, Violation } from '../shared/rule.ts'
import { rules } from './rules.ts'
import { viewDeepSeek } from './view.ts'
import type { DeepSeekCheckConfig, DeepSeekView } from './view.ts'

/** Every rule of DeepSeek that can be judged from a request, in the order of their numbers. */
export const deepSeekRules: readonly Rule<DeepSeekView, DeepSeekCheckConfig>[] = rules

/** What is left out, and why. */
export const deepSeekUnjudged: readonly UnjudgedRule[] = [
  { id: 'DS2', reason: 'It allows something: messages may come in any order, and a system message anywhere.' },
  { id: 'DS8', reason: 'The tokens of a prompt are counted by the server.' },
]

/**
 * Names every rule of DeepSeek that a parsed request body breaks. Takes any value and never throws. A `DeepSeekExport`
 * can be given as it is. SPEC 8.
 */
export function validateDeepSeek(request: unknown, config: DeepSeekCheckConfig): Violation[] {
  return applyRules(deepSeekRules, viewDeepSeek(request, config), config)
}
