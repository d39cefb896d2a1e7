import { anthropicError } from './anthropic-error.ts'
import { anthropicConversationRules, thinkingFindings, thinkingState } from './anthropic-conversation-rules.ts'
import { anthropicSchemaRules } from './anthropic-schema-rules.ts'
import { anthropicAnswer } from './anthropic-stream.ts'
import { anthropicView, type AnthropicSettings, type AnthropicView } from './anthropic-view.ts'
import { idMaker, type HttpAnswer, type Protocol } from './protocol.ts'
import { firstFault, type Fault, type Rule } from './rule.ts'
import type { ServedFailure } from './script.ts'

/** Rules A1…A34 in the order in which the provider reports them. */
export const anthropicRules: readonly Rule<AnthropicView>[] = [...anthropicSchemaRules, ...anthropicConversationRules]

const failures: Readonly<Record<NonNullable<ServedFailure['failure']>, { status: number; message: string }>> = {
  overloaded: { status: 529, message: 'Overloaded' },
  'rate-limit': {
    status: 429,
    message: "This request would exceed your organization's rate limit. Please try again later.",
  },
  quota: { status: 429, message: 'This request would exceed your spend limit. Please try again later.' },
  'server-error': { status: 500, message: 'Internal server error' },
  unauthorized: { status: 401, message: 'invalid x-api-key' },
}

/** Anthropic Messages: `POST /v1/messages`. */
export function anthropicProtocol(settings: AnthropicSettings): Protocol {
  const newId = idMaker(settings.random)

  function errorAnswer(fault: Fault, headers: Readonly<Record<string, string>> = {}): HttpAnswer {
    const id = newId('req_')
    const { status = 400 } = fault
    return {
      status,
      headers: {
        'content-type': 'application/json',
        'request-id': id,
        'x-should-retry': String(status === 429 || status >= 500),
        ...headers,
      },
      frames: [JSON.stringify(anthropicError(fault, id))],
    }
  }

  return {
    basePath: '/v1',
    paths: ['/v1/messages'],
    judge: (request) => {
      const view = anthropicView(request, settings)
      const verdict = firstFault(anthropicRules, view, settings)
      if (verdict !== undefined) return verdict
      return {
        dropped: thinkingFindings(view).map(({ block, kind }) => ({
          request: request.index,
          rule: kind === 'foreign' ? 'A26' : 'A25',
          message: block.message,
          block: block.index,
        })),
        answer: (reply) => anthropicAnswer(view, () => thinkingState(view).prefix, reply, newId),
      }
    },
    refusal: (fault) => errorAnswer(fault),
    failure: ({ failure = 'server-error', status, retryAfterMs, error }) =>
      errorAnswer(
        { ...failures[failure], ...(status === undefined ? {} : { status }), ...error },
        retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) },
      ),
  }
}
