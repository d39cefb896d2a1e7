/** A JSON value, as `JSON.parse` could have made it. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [member: string]: Json | undefined
}

/** Levels of objects and arrays that an event's `data` may have, itself included. SPEC 3.1. */
export const MAX_JSON_DEPTH = 1000

/** Where a value is not lossless JSON, and why. */
export interface JsonFault {
  readonly path: string
  /** The first step of the path, where the walk began at an object. */
  readonly member?: string
  readonly reason: string
}

/** What a walk of a value found: a deeply frozen JSON value, or a fault. */
export type Walked = { readonly value: Json } | { readonly fault: JsonFault }

/** An object or an array: one level of nesting. */
export type Container = Record<string | number, unknown> | unknown[]

/** Thrown within a walk for a value that JSON would lose or cannot write. */
export class NotJson extends Error {
  readonly reason: string

  constructor(reason: string) {
    super(reason)
    this.reason = reason
  }
}

/** Why a value cannot stand in JSON by itself; undefined for what can, and for any object. */
export function scalarFault(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'object':
      return undefined
    case 'number':
      if (!Number.isFinite(value)) return `${value} is not a JSON number`
      return Object.is(value, -0) ? '-0 would come back as 0' : undefined
    case 'undefined':
      return 'undefined is not a JSON value'
    default:
      return `a ${typeof value} is not a JSON value`
  }
}

/**
 * Own names of a plain container, hidden ones too; undefined for an array. Throws `NotJson` for what is not plain and
 * for what `JSON.stringify` would pass over in silence.
 */
export function memberNames(value: object): string[] | undefined {
  // Two cheap questions instead of one `Reflect.ownKeys`, which costs more than all the rest of the walk.
  const own = Object.getOwnPropertyNames(value)
  if (Object.getOwnPropertySymbols(value).length > 0) throw new NotJson('a symbol key would be lost')
  if (Array.isArray(value)) {
    const proto: unknown = Object.getPrototypeOf(value)
    // The `Array.prototype` of any realm is an array itself, but does not derive from one.
    if (!Array.isArray(proto) || Array.isArray(Object.getPrototypeOf(proto))) {
      throw new NotJson('an array of a derived class is not a JSON value')
    }
    // 'length' is the one own name beside the indexes. Fewer are holes, which nothing may walk: there can be billions.
    if (own.length !== value.length + 1) {
      throw new NotJson('an array with holes or with members of its own is not a JSON value')
    }
    return undefined
  }
  if (!isPlain(value)) throw new NotJson(`an object of class ${className(value)} is not a JSON value`)
  return own
}

/** Plain in any realm: its prototype is null or a realm's `Object.prototype`. */
function isPlain(value: object): boolean {
  const proto: unknown = Object.getPrototypeOf(value)
  if (proto === Object.prototype || proto === null) return true
  return Object.getPrototypeOf(proto) === null && Object.hasOwn(proto as object, 'isPrototypeOf')
}

function className(value: object): string {
  const constructor: unknown = (value as { constructor?: unknown }).constructor
  return typeof constructor === 'function' && constructor.name !== '' ? constructor.name : 'unknown'
}

export function setMember(target: Container, key: string | number, value: unknown): void {
  // Plain assignment to `__proto__` would set the prototype instead of a member.
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
  } else {
    ;(target as Record<string | number, unknown>)[key] = value
  }
}
