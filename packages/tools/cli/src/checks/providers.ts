import type { AttachmentRef, Finding, Session } from '@palimpsest/session'
import {
  ProviderMessagesError,
  type Violation,
  intactThrough,
  toAnthropic,
  toDeepSeek,
  toOpenAiChat,
  toOpenAiResponses,
  validateAnthropic,
  validateDeepSeek,
  validateOpenAiChat,
  validateOpenAiResponses,
} from '@palimpsest/provider-messages'
import { responsesProvider } from '../exporting.ts'

type Lookup = (ref: AttachmentRef) => Uint8Array | undefined

const targets: readonly {
  readonly name: string
  readonly violations: (session: Session, image: Lookup) => readonly Violation[]
}[] = [
  {
    name: 'anthropic',
    violations: (session, image) => {
      const messages = session.deriveMessages()
      return validateAnthropic(toAnthropic(messages, { image }), { profile: 'transcript' })
    },
  },
  {
    // As it goes to the model that spoke last, with all reasoning that may go back to it.
    name: 'anthropic-signed',
    violations: (session, image) => {
      const messages = session.deriveMessages()
      const source = messages.findLast((message) => message.role === 'assistant')?.source
      if (source?.kind !== 'model' || source.provider.split('.', 1)[0] !== 'anthropic') return []
      const { model } = source
      const thinking = { type: 'enabled', budget_tokens: 1024 } as const
      const exported = toAnthropic(messages, { image, model, thinking, intactThrough: intactThrough(session) })
      return validateAnthropic(exported, { profile: 'transcript', model })
    },
  },
  {
    name: 'openai-chat',
    violations: (session, image) => {
      const { messages } = toOpenAiChat(session.deriveMessages(), { image })
      return validateOpenAiChat({ messages }, { profile: 'transcript' })
    },
  },
  {
    // As it goes to the model that spoke last, with the reasoning that may go back to it.
    name: 'openai-responses',
    violations: (session, image) => {
      const messages = session.deriveMessages()
      const source = messages.findLast((message) => message.role === 'assistant')?.source
      const own = source?.kind === 'model' ? { model: source.model, intactThrough: intactThrough(session) } : {}
      const exported = toOpenAiResponses(messages, { image, provider: responsesProvider(messages), ...own })
      return validateOpenAiResponses(exported, { profile: 'transcript', ...own })
    },
  },
  {
    name: 'deepseek',
    violations: (session, image) => {
      return validateDeepSeek(toDeepSeek(session.deriveMessages(), { image }), { profile: 'transcript' })
    },
  },
]

/**
 * Whether every provider takes the derived messages, by their `transcript` rules. A list over a provider's budget breaks
 * no rule of the log: it is an `info`. SPEC 8.
 */
export function checkProviders(session: Session, image: Lookup): Finding[] {
  return targets.flatMap(({ name, violations }) => {
    try {
      return violations(session, image).map(({ rule, path, message }): Finding => ({
        code: `${name}/${rule}`,
        severity: 'error',
        message: `${name} would refuse the messages at ${path === '' ? 'the request' : path}: ${message}`,
        fix: 'nothing in this log needs mending: the exporter is at fault, and a newer palimpsest may do better',
      }))
    } catch (error) {
      if (!(error instanceof ProviderMessagesError)) throw error
      // What the plain messages break has been said.
      if (name === 'anthropic-signed') return []
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
