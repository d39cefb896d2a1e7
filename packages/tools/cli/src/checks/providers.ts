import type { AttachmentRef, Finding, Message } from '@palimpsest/session'
import {
  ProviderMessagesError,
  type Violation,
  toAnthropic,
  toOpenAiChat,
  validateAnthropic,
  validateOpenAiChat,
} from '@palimpsest/provider-messages'

type Lookup = (ref: AttachmentRef) => Uint8Array | undefined

const targets: readonly {
  readonly name: string
  readonly violations: (messages: readonly Message[], image: Lookup) => readonly Violation[]
}[] = [
  {
    name: 'anthropic',
    violations: (messages, image) => validateAnthropic(toAnthropic(messages, { image }), { profile: 'transcript' }),
  },
  {
    name: 'openai-chat',
    violations: (messages, image) => {
      const { messages: exported } = toOpenAiChat(messages, { image })
      return validateOpenAiChat({ messages: exported }, { profile: 'transcript' })
    },
  },
]

/**
 * Whether every provider takes the derived messages, by their `transcript` rules. A list over a provider's budget breaks
 * no rule of the log: it is an `info`. SPEC 8.
 */
export function checkProviders(messages: readonly Message[], image: Lookup): Finding[] {
  return targets.flatMap(({ name, violations }) => {
    try {
      return violations(messages, image).map(({ rule, path, message }): Finding => ({
        code: `${name}/${rule}`,
        severity: 'error',
        message: `${name} would refuse the messages at ${path === '' ? 'the request' : path}: ${message}`,
        fix: 'this is a fault of the exporter: please report it',
      }))
    } catch (error) {
      if (!(error instanceof ProviderMessagesError)) throw error
      const isBudget = error.code.startsWith('budget/')
      return [
        {
          code: `${name}/${error.code}`,
          severity: isBudget ? 'info' : 'error',
          message: `${name}: ${error.message}`,
        } satisfies Finding,
      ]
    }
  })
}
