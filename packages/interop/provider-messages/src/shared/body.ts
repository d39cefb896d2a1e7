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

const SENT = ['system', 'instructions', 'tools', 'messages', 'input']

/** What is judged as text of a request: all of it; in the `transcript` profile not the report that an export carries. */
export function sentPart(request: unknown, profile: Profile): unknown {
  if (profile === 'request') return request
  return Object.fromEntries(SENT.map((name) => [name, member(request, name)]))
}
