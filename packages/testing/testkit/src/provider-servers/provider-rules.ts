import { anthropicRules } from './anthropic-protocol.ts'
import { deepseekRules } from './deepseek-rules.ts'
import { compatibleRules, openaiChatRules } from './openai-chat-rules.ts'
import { openaiResponsesRules } from './openai-responses-rules.ts'
import type { Rule } from './rule.ts'
import type { ProviderKind } from './server.ts'

/** A rule that a server holds to, without its check. */
export type ProviderRule = Pick<Rule<never>, 'id' | 'level'>

/** The tables of the servers, in the order in which they are checked. */
export const providerRules: Readonly<Record<ProviderKind, readonly ProviderRule[]>> = {
  anthropic: anthropicRules,
  'openai-chat': openaiChatRules,
  'openai-responses': openaiResponsesRules,
  deepseek: deepseekRules,
  compatible: compatibleRules,
}
