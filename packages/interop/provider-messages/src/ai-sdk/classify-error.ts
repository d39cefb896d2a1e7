import { errorFacts } from './error-facts.ts'
import type { ErrorFacts } from './error-facts.ts'
import { OVERFLOW_WORDING } from './overflow-wording.ts'

/**
 * `overflow`: the request is larger than the context. `retryable`: the same request may succeed later. `fatal`: it will
 * not.
 */
export type FailureKind = 'overflow' | 'retryable' | 'fatal'

const ABORTS = ['AbortError', 'TimeoutError', 'ResponseAborted']
/** OC13, OR15, A30. */
const OVERFLOWS = ['context_length_exceeded', 'request_too_large']
const PAYMENTS = ['insufficient_quota', 'billing_error', 'billing_hard_limit_reached', 'usage_not_included']
const PASSING = [
  'overloaded_error',
  'rate_limit_error',
  'rate_limit_exceeded',
  'api_error',
  'timeout_error',
  'server_error',
  'server_is_overloaded',
  'slow_down',
  'vector_store_timeout',
  // A server that answered half a frame or none.
  'AI_EmptyResponseBodyError',
  'AI_InvalidResponseDataError',
  'AI_JSONParseError',
]
/** A connection that broke, by the codes of Node and undici. */
const CONNECTION = /^(?:E(?:CONN\w+|PIPE|TIMEDOUT|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH|NETDOWN)|UND_ERR_\w+)$/
const LASTING = [
  'invalid_request_error',
  'authentication_error',
  'permission_error',
  'not_found_error',
  'invalid_prompt',
  'AI_InvalidArgumentError',
  'AI_InvalidPromptError',
  'AI_LoadAPIKeyError',
  'AI_LoadSettingError',
  'AI_NoSuchModelError',
  'AI_UnsupportedFunctionalityError',
]

/**
 * What kind of failure a thrown error or the `error` of a stream part is, by status, codes and flags, whichever package
 * made it; `undefined` when it is an abort or does not say.
 */
export function classifyError(error: unknown): FailureKind | undefined {
  const facts = errorFacts(error)
  const has = (codes: readonly string[]): boolean => codes.some((code) => facts.codes.has(code))
  if (has(ABORTS)) return undefined
  // What an exporter refuses for its size, a provider would refuse too: compaction helps.
  if ([...facts.codes].some((code) => code.startsWith('budget/'))) return 'overflow'
  if (has(OVERFLOWS) || facts.status === 413 || saysOverflow(facts)) return 'overflow'
  if (has(PAYMENTS) || facts.status === 402) return 'fatal'
  if (facts.shouldRetry !== undefined) return facts.shouldRetry ? 'retryable' : 'fatal'
  if ([...facts.codes].some((code) => CONNECTION.test(code))) return 'retryable'
  if (facts.status !== undefined) return isPassing(facts.status) || facts.isRetryable ? 'retryable' : 'fatal'
  if (has(PASSING)) return 'retryable'
  if (has(LASTING)) return 'fatal'
  if (facts.isRetryable !== undefined) return facts.isRetryable ? 'retryable' : 'fatal'
  return undefined
}

/** Wording counts where the provider refused the request, or where nothing else is known. */
function saysOverflow({ status, messages }: ErrorFacts): boolean {
  if (status !== undefined && status !== 400 && status !== 422) return false
  return OVERFLOW_WORDING.some(({ pattern }) => messages.some((message) => pattern.test(message)))
}

function isPassing(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500
}
