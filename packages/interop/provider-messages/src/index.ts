export { ProviderMessagesError } from './errors.ts'
export type { ProviderMessagesErrorCode } from './errors.ts'
export type { CheckConfig, Profile, Rule, UnjudgedRule, Violation } from './shared/rule.ts'

export { anthropicRules, anthropicUnjudged, validateAnthropic } from './anthropic/validate.ts'
export type { AnthropicCheckConfig, AnthropicView } from './anthropic/view.ts'
export { ANTHROPIC_LIMITS } from './anthropic/limits.ts'
export type { AnthropicLimits } from './anthropic/limits.ts'

export { openAiChatRules, openAiChatUnjudged, validateOpenAiChat } from './openai-chat/validate.ts'
export type { OpenAiChatCheckConfig, OpenAiChatView } from './openai-chat/view.ts'
export { OPENAI_CHAT_LIMITS } from './openai-chat/limits.ts'
export type { OpenAiChatLimits } from './openai-chat/limits.ts'
