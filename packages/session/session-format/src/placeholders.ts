import type { Json, JsonObject } from '@palimpsest/session'
import { SessionFormatError } from './errors.ts'
import type { ReadOptions } from './log.ts'

/** Whether a value is nothing but a placeholder of a recorded fixture, such as `{{tools}}`. */
export function isPlaceholder(value: Json | undefined): boolean {
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
  const found = members.filter((name) => Object.hasOwn(value, name) && isPlaceholder(value[name]))
  if (found.length === 0) return value
  for (const name of found) {
    const message = `${name} is the placeholder ${String(value[name])}`
    if (options.normalised !== true) throw normalised(line, message)
    options.note?.({ code: 'placeholder/left-out', line, message: `${message}: it was left out` })
  }
  return Object.fromEntries(Object.entries(value).filter(([name]) => !found.includes(name)))
}

export function normalised(line: number, why: string): SessionFormatError {
  return new SessionFormatError(
    'format/normalised',
    `line ${line}: ${why}. This is a recorded fixture: it is read with \`normalised\` only`,
    { line },
  )
}
