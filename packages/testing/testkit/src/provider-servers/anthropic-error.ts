import type { Fault } from './rule.ts'

const typeOfStatus: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

/** The error object, as in a body and in an `error` event. */
export function anthropicError({ status = 400, type, message, code }: Fault, requestId: string): object {
  return {
    type: 'error',
    error: {
      type: type ?? typeOfStatus[status] ?? 'api_error',
      message,
      ...(code === undefined ? {} : { details: { error_code: code } }),
    },
    request_id: requestId,
  }
}
