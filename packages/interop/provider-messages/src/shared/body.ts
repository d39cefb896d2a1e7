import { ProviderMessagesError } from '../errors.ts'
import { member } from './json-reader.ts'
import type { Profile } from './rule.ts'
import { utf8Length } from './unicode.ts'

/** UTF-8 bytes of the value as JSON; `undefined` when it cannot be written. */
export function jsonBytes(value: unknown): number | undefined {
  try {
    const text: unknown = JSON.stringify(value)
    return typeof text === 'string' ? utf8Length(text) : undefined
  } catch {
    return undefined
  }
}

/**
 * Throws `budget/bytes` when the value is over `limit` UTF-8 bytes as JSON. What is too large to be written as one string
 * cannot be sent, so it is over every limit.
 */
export function refuseOverBytes(body: unknown, limit: number, what: 'messages' | 'input'): void {
  const bytes = jsonBytes(body)
  if (bytes !== undefined && bytes <= limit) return
  const size = bytes === undefined ? 'more bytes than a string can hold' : `${bytes} bytes`
  throw new ProviderMessagesError('budget/bytes', `${size} of ${what}, over ${limit}: prune or compact the session`)
}

const SENT = ['system', 'instructions', 'tools', 'messages', 'input']

/** What is judged as text of a request: all of it; in the `transcript` profile not the report that an export carries. */
export function sentPart(request: unknown, profile: Profile): unknown {
  if (profile === 'request') return request
  return Object.fromEntries(SENT.map((name) => [name, member(request, name)]))
}
