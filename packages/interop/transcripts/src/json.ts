import type { Json } from '@palimpsest/session'

/** A parsed JSON object whose members nobody has checked yet. */
export type LooseObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is LooseObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The member where it is a string. Only own members count: the data may name anything. */
export function stringMember(value: LooseObject, member: string): string | undefined {
  const found = Object.hasOwn(value, member) ? value[member] : undefined
  return typeof found === 'string' ? found : undefined
}

/** The member where it is an object. */
export function objectMember(value: LooseObject, member: string): LooseObject | undefined {
  const found = Object.hasOwn(value, member) ? value[member] : undefined
  return isObject(found) ? found : undefined
}

/** The member where it is a count: a safe integer, 0 or more. */
export function countMember(value: LooseObject, member: string): number | undefined {
  const found = Object.hasOwn(value, member) ? value[member] : undefined
  return typeof found === 'number' && Number.isSafeInteger(found) && found >= 0 ? found + 0 : undefined
}

/** A copy of parsed JSON in which `-0`, which no log can hold, is 0. */
export function plainJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value ?? null)) as Json
}

/** Levels of nesting that a log can hold around what a line brings. SPEC 3.1 allows 1,000 in all. */
const maxDepth = 900

/** Whether a parsed value is nested deeper than a log can hold. Iterative: hostile depth must not exhaust the stack. */
export function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxDepth) return true
    const next: unknown[] = []
    for (const item of level) {
      if (typeof item !== 'object' || item === null) continue
      for (const member of Object.values(item)) if (typeof member === 'object' && member !== null) next.push(member)
    }
    level = next
  }
  return false
}
