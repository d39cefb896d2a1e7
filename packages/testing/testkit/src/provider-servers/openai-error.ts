import type { HttpAnswer, WireRequest } from './protocol.ts'
import type { Fault } from './rule.ts'
import type { ServedFailure } from './script.ts'

/** Whose words and headers an OpenAI-shaped error takes. */
export type OpenAIDialect = 'openai' | 'compatible' | 'deepseek'

/** The error object, as in a body and in a stream. */
export function openaiError(
  { message, type = 'invalid_request_error', param, code }: Fault,
  dialect: OpenAIDialect,
): object {
  return dialect === 'deepseek'
    ? { message, type, param: null, code: code ?? type }
    : { message, type, param: param ?? null, code: code ?? null }
}

/** A fault as a whole response. */
export function openaiErrorAnswer(
  fault: Fault,
  requestId: string,
  dialect: OpenAIDialect,
  headers: Readonly<Record<string, string>> = {},
): HttpAnswer {
  return {
    status: fault.status ?? 400,
    headers: {
      'content-type': 'application/json',
      [dialect === 'deepseek' ? 'x-ds-trace-id' : 'x-request-id']: requestId,
      ...headers,
    },
    frames: [JSON.stringify({ error: openaiError(fault, dialect) })],
  }
}

function failureFault({ failure = 'server-error', retryAfterMs = 0 }: ServedFailure, model: string): Fault {
  const faults: Readonly<Record<typeof failure, Fault>> = {
    'rate-limit': {
      status: 429,
      type: 'requests',
      code: 'rate_limit_exceeded',
      message: `Rate limit reached for ${model} in organization org-loopback on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in ${retryAfterMs / 1000}s.`,
    },
    quota: {
      status: 429,
      type: 'insufficient_quota',
      code: 'insufficient_quota',
      message: 'You exceeded your current quota, please check your plan and billing details.',
    },
    overloaded: { status: 503, type: 'server_error', message: 'The server is currently overloaded.' },
    'server-error': { status: 500, type: 'server_error', message: 'The server had an error.' },
    unauthorized: { status: 401, code: 'invalid_api_key', message: 'Incorrect API key provided.' },
  }
  return faults[failure]
}

function failureHeaders({ failure, retryAfterMs }: ServedFailure, dialect: OpenAIDialect): Record<string, string> {
  const retry =
    retryAfterMs === undefined
      ? {}
      : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)), 'retry-after-ms': String(retryAfterMs) }
  if (failure !== 'rate-limit' || dialect === 'deepseek') return retry
  const kinds = ['requests', 'tokens'].flatMap((kind) => [
    [`x-ratelimit-limit-${kind}`, '3'],
    [`x-ratelimit-remaining-${kind}`, kind === 'requests' ? '0' : '3'],
    [`x-ratelimit-reset-${kind}`, `${retryAfterMs ?? 0}ms`],
  ])
  return { ...retry, ...(Object.fromEntries(kinds) as Record<string, string>) }
}

/** A scripted failure in the provider's form. */
export function openaiFailure(
  failure: ServedFailure,
  request: WireRequest,
  requestId: string,
  dialect: OpenAIDialect,
): HttpAnswer {
  const { status, error } = failure
  const fault = failureFault(failure, String(request.body['model']))
  return openaiErrorAnswer(
    { ...fault, ...(status === undefined ? {} : { status }), ...error },
    requestId,
    dialect,
    failureHeaders(failure, dialect),
  )
}
