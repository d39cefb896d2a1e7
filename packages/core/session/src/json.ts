import { SessionError } from './errors.ts'
import {
  type Container,
  type Json,
  type JsonObject,
  MAX_JSON_DEPTH,
  NotJson,
  type Walked,
  memberNames,
  scalarFault,
  setMember,
} from './json-value.ts'
import { walkJson } from './json-walk.ts'

export { MAX_JSON_DEPTH } from './json-value.ts'
export type { Json, JsonFault, JsonObject } from './json-value.ts'

/** A deeply frozen copy of lossless JSON, or the place where it is not. Every accessor is read once. SPEC 3.1. */
export function snapshotJson(value: unknown, maxDepth: number = MAX_JSON_DEPTH): Walked {
  const copy = freezeSound(value, maxDepth, clone)
  if (copy !== undefined) return { value: copy }
  const walked = walkJson(value, maxDepth, false)
  // The careful walk names the fault. Where it finds none, an accessor said something else than at the first read.
  const isLie = typeof value === 'object' && value !== null && !('fault' in walked)
  return isLie ? { fault: { path: '', reason: 'an accessor changed between two reads' } } : walked
}

/**
 * Checks and freezes lossless JSON in place, for values that the caller gives away. A value with accessors is
 * copied instead, since freezing would leave them live.
 */
export function adoptJson(value: unknown, maxDepth: number = MAX_JSON_DEPTH): Walked {
  const adopted = freezeSound(value, maxDepth, claim)
  return adopted === undefined ? snapshotJson(value, maxDepth) : { value: adopted }
}

/**
 * A deeply frozen JSON copy of a value of foreign code: object members that are `undefined` are dropped, as
 * `JSON.stringify` does. Throws `SessionError` `json/lossy` for anything else that JSON would lose. SPEC 3.1.
 */
export function toJson(value: unknown): Json {
  const result = walkJson(value, MAX_JSON_DEPTH, true)
  if ('fault' in result)
    throw new SessionError('json/lossy', `${result.fault.path || 'the value'}: ${result.fault.reason}`)
  return result.value
}

/** Takes one plain container in hand, by its own names; those of an array are its indexes. */
type Take = (source: Container, names: readonly string[] | undefined) => Container

/**
 * Sound JSON, deeply frozen; undefined where anything is wrong, and then the careful walk says what. Every event comes
 * through here, so `take` clones or claims a whole container at once. Depth first, so that a cycle ends at the limit.
 */
function freezeSound(root: unknown, maxDepth: number, take: Take): Json | undefined {
  if (typeof root !== 'object' || root === null) return undefined
  try {
    const rootNames = memberNames(root)
    const taken = take(root as Container, rootNames)
    // Three stacks instead of one of objects, since every level would make one.
    const pending: Container[] = [taken]
    const pendingNames = [rootNames]
    const depths = [1]
    for (let target = pending.pop(); target !== undefined; target = pending.pop()) {
      const names = pendingNames.pop()
      const depth = depths.pop() as number
      const length = names === undefined ? (target as unknown[]).length : names.length
      for (let at = 0; at < length; at += 1) {
        const key = names === undefined ? at : (names[at] as string)
        const value = (target as Record<string | number, unknown>)[key]
        if (typeof value === 'string') continue
        if (typeof value === 'object' && value !== null) {
          if (depth === maxDepth) return undefined
          const childNames = memberNames(value)
          const child = take(value as Container, childNames)
          if (child !== value) setMember(target, key, child)
          pending.push(child)
          pendingNames.push(childNames)
          depths.push(depth + 1)
        } else if (scalarFault(value) !== undefined) return undefined
      }
      Object.freeze(target)
    }
    return taken as Json
  } catch {
    return undefined
  }
}

/** A shallow copy, each accessor read once. A hidden member is not copied, so that its name then finds no JSON. */
function clone(source: Container, names: readonly string[] | undefined): Container {
  // Not the array's own `slice`, which it could have.
  return names === undefined ? Array.prototype.slice.call(source) : { ...(source as Record<string, unknown>) }
}

/** The container itself. Throws `NotJson` for a hidden member, and for an accessor, which could lie at the next read. */
function claim(source: Container, names: readonly string[] | undefined): Container {
  for (const key of names ?? Object.keys(source)) {
    const member = Object.getOwnPropertyDescriptor(source, key)
    if (member?.get !== undefined || member?.enumerable !== true) throw new NotJson('a getter or a hidden key')
  }
  return source
}

/** Whether two JSON values hold the same members, whatever the order of keys. */
export function jsonEqual(left: Json | undefined, right: Json | undefined): boolean {
  const pairs: [Json | undefined, Json | undefined][] = [[left, right]]
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [a, b] = pair
    if (Object.is(a, b)) continue
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
    if (Array.isArray(a) !== Array.isArray(b)) return false
    const names = Object.keys(a)
    if (names.length !== Object.keys(b).length) return false
    for (const name of names) {
      if (!Object.hasOwn(b, name)) return false
      pairs.push([(a as JsonObject)[name], (b as JsonObject)[name]])
    }
  }
  return true
}
