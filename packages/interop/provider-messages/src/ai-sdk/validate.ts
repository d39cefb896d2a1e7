import { applyRules } from '../shared/rule.ts'
import type { CheckConfig, Rule, Violation } from '../shared/rule.ts'
import { listRules } from './rules-list.ts'
import { shapeRules } from './rules-shape.ts'
import { toolRules } from './rules-tools.ts'
import { viewAiSdk } from './view.ts'
import type { AiSdkView } from './view.ts'

/** The rules of the AI SDK itself, before any provider's, in the order of their numbers. */
export const aiSdkRules: readonly Rule<AiSdkView>[] = [...shapeRules, ...toolRules, ...listRules]

/**
 * Names every rule of the AI SDK that the prompt of a language model breaks. Takes any value and never throws. What a
 * provider asks for beyond is judged on the body that its package sends. SPEC 8.
 */
export function validateLanguageModelPrompt(prompt: unknown, config: CheckConfig): Violation[] {
  return applyRules(aiSdkRules, viewAiSdk(prompt, 'prompt'), config)
}

/** As `validateLanguageModelPrompt`, for the messages that people give to `ai` functions. SPEC 8. */
export function validateModelMessages(messages: unknown, config: CheckConfig): Violation[] {
  return applyRules(aiSdkRules, viewAiSdk(messages, 'messages'), config)
}
