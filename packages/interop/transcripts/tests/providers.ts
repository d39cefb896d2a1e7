import type { Message } from '@palimpsest/session'
import {
  toAnthropic,
  toDeepSeek,
  toLanguageModelPrompt,
  toOpenAiChat,
  toOpenAiResponses,
  validateAnthropic,
  validateDeepSeek,
  validateLanguageModelPrompt,
  validateOpenAiChat,
  validateOpenAiResponses,
} from '@palimpsest/provider-messages'

/** What the providers would refuse of these messages. */
export function violations(messages: readonly Message[]): string[] {
  const profile = 'transcript'
  return [
    ...validateAnthropic(toAnthropic(messages), { profile }),
    ...validateOpenAiChat(toOpenAiChat(messages), { profile }),
    ...validateOpenAiResponses(toOpenAiResponses(messages, { provider: 'openai.responses' }), { profile }),
    ...validateDeepSeek(toDeepSeek(messages), { profile }),
    ...validateLanguageModelPrompt(
      toLanguageModelPrompt(messages, { provider: 'anthropic.messages', model: 'm' }).prompt,
      { profile },
    ),
  ].map(({ rule, path }) => `${rule} ${path}`)
}
