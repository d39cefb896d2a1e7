import { isRecord, member, parsed } from '../shared/json-reader.ts'

/** What an error says of itself, wherever in it that stands. */
export interface ErrorFacts {
  /** HTTP status. */
  readonly status: number | undefined
  /** Every `code`, `type` and `error_code`, and the names of errors. */
  readonly codes: ReadonlySet<string>
  readonly messages: readonly string[]
  /** What the package made of it. */
  readonly isRetryable: boolean | undefined
  /** What the provider's `x-should-retry` says. */
  readonly shouldRetry: boolean | undefined
}

const DEPTH = 6
/** Where errors, bodies and frames keep the error that they are about. */
const INSIDE = ['data', 'error', 'response', 'details', 'cause', 'lastError'] as const

/**
 * Reads a thrown error or the `error` of a stream part: an error of the AI SDK, a provider's body or frame, a text. The
 * outermost status and flags win. Never throws.
 */
export function errorFacts(error: unknown): ErrorFacts {
  const facts = new Facts()
  try {
    facts.read(error, DEPTH)
  } catch {
    // A member that throws when it is read says nothing; what was read before it counts.
  }
  return facts
}

class Facts implements ErrorFacts {
  status: number | undefined
  isRetryable: boolean | undefined
  shouldRetry: boolean | undefined
  readonly codes = new Set<string>()
  readonly messages: string[] = []

  read(value: unknown, depth: number): void {
    if (depth === 0) return
    if (typeof value === 'string') this.#readText(value, depth)
    else if (isRecord(value)) this.#readRecord(value, depth)
  }

  #readText(text: string, depth: number): void {
    const body = parsed(text)
    if (isRecord(body)) this.read(body, depth - 1)
    else this.messages.push(text)
  }

  #readRecord(value: object, depth: number): void {
    for (const name of ['code', 'type', 'error_code', 'name']) {
      const code = name === 'name' && value instanceof Error ? value.name : member(value, name)
      if (typeof code === 'string') this.codes.add(code)
      if (name === 'code') this.#readStatus(typeof code === 'string' ? Number(code) : code)
    }
    this.#readStatus(member(value, 'statusCode'))
    this.#readStatus(member(value, 'status'))
    const message = member(value, 'message')
    if (typeof message === 'string') this.messages.push(message)
    const isRetryable = member(value, 'isRetryable')
    if (typeof isRetryable === 'boolean') this.isRetryable ??= isRetryable
    const shouldRetry = member(member(value, 'responseHeaders'), 'x-should-retry')
    if (shouldRetry === 'true' || shouldRetry === 'false') this.shouldRetry ??= shouldRetry === 'true'
    for (const name of INSIDE) this.read(member(value, name), depth - 1)
    const body = member(value, 'responseBody')
    if (typeof body === 'string') this.read(body, depth - 1)
  }

  #readStatus(status: unknown): void {
    if (typeof status === 'number' && Number.isInteger(status) && status >= 400 && status < 600) this.status ??= status
  }
}
