import type { Message } from '@palimpsest/session'
import { toAnthropic, toOpenAiChat, validateAnthropic, validateOpenAiChat } from '@palimpsest/provider-messages'

/** What the providers would refuse of these messages. */
export function violations(messages: readonly Message[]): string[] {
  const profile = 'transcript'
  return [
    ...validateAnthropic(toAnthropic(messages), { profile }),
    ...validateOpenAiChat(toOpenAiChat(messages), { profile }),
  ].map(({ rule, path }) => `${rule} ${path}`)
}
