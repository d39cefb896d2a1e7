/** A JSON object of unknown shape. */
export interface UnknownRecord {
  readonly [member: string]: unknown
}

/** Whether `value` is an object that is no array. */
export function isRecord(value: unknown): value is UnknownRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The elements of an array; none for anything else. */
export function elements(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}

/** An own member of an object; `undefined` for anything else, so that `__proto__` and `constructor` are just names. */
export function member(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/** The value of a JSON text; `undefined` when the text is none. */
export function parsed(text: unknown): unknown {
  try {
    return typeof text === 'string' ? (JSON.parse(text) as unknown) : undefined
  } catch {
    return undefined
  }
}

/** A short name for a value in a violation. Never throws, whatever the value is. */
export function describe(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return 'an array'
  return value === undefined ? 'nothing' : `a value of type ${typeof value}`
}
