import type { Json, JsonObject } from '@palimpsest/session'

/** Whether a value has members by name. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The own member of a value that may be anything; undefined where it has none of this name. */
export function member(value: Json | undefined, name: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}
