import type { Json, JsonObject } from '@palimpsest/session'
import { SessionFormatError } from './errors.ts'
import type { ReadOptions } from './log.ts'
import { member } from './members.ts'

/** Whether a value is nothing but a placeholder of a recorded fixture, such as `{{tools}}`. */
export function isPlaceholder(value: Json | undefined): value is string {
  return typeof value === 'string' && /^\{\{[^{}]*\}\}$/.test(value)
}

/**
 * The object without those of the named members whose value is a placeholder: they want a value of another kind, and
 * all of them are optional. Throws `SessionFormatError` `format/normalised` without leave to read a fixture.
 */
export function withoutPlaceholders(
  value: JsonObject,
  members: readonly string[],
  line: number,
  options: ReadOptions,
): JsonObject {
  const found: string[] = []
  for (const name of members) {
    const placeholder = member(value, name)
    if (!isPlaceholder(placeholder)) continue
    found.push(name)
    const message = `${name} is the placeholder ${placeholder}`
    if (options.normalised !== true) throw normalised(line, message)
    options.note?.({ code: 'placeholder/left-out', line, message: `${message}: it was left out` })
  }
  if (found.length === 0) return value
  return Object.fromEntries(Object.entries(value).filter(([name]) => !found.includes(name)))
}

export function normalised(line: number, why: string): SessionFormatError {
  return new SessionFormatError(
    'format/normalised',
    `line ${line}: ${why}. This is a recorded fixture: it is read with \`normalised\` only`,
    { line },
  )
}
