import { SessionError } from './errors.ts'

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
  readonly reason: string
}

type Container = Record<string, unknown> | unknown[]

interface Frame {
  readonly source: Container
  readonly target: Container
  /** Member names of an object; absent for an array. */
  readonly keys: readonly string[] | undefined
  readonly length: number
  next: number
}

class NotJson extends Error {
  readonly reason: string
  constructor(reason: string) {
    super(reason)
    this.reason = reason
  }
}

function scalarFault(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined
    case 'number':
      if (!Number.isFinite(value)) return `${value} is not a JSON number`
      return Object.is(value, -0) ? '-0 would come back as 0' : undefined
    case 'object':
      return undefined
    case 'undefined':
      return 'undefined is not a JSON value'
    default:
      return `a ${typeof value} is not a JSON value`
  }
}

/** Plain in any realm: its prototype is null or a realm's `Object.prototype`. */
function isPlain(value: object): boolean {
  const proto: unknown = Object.getPrototypeOf(value)
  if (proto === Object.prototype || proto === null) return true
  return Object.getPrototypeOf(proto) === null && Object.hasOwn(proto as object, 'isPrototypeOf')
}

/** Member names of a container, refusing what `JSON.stringify` would pass over in silence. */
function memberNames(value: object): string[] | undefined {
  // Three cheap questions instead of one `Reflect.ownKeys`, which costs more than all the rest of the walk.
  const own = Object.getOwnPropertyNames(value)
  if (Object.getOwnPropertySymbols(value).length > 0) throw new NotJson('a symbol key would be lost')
  if (Array.isArray(value)) {
    if (!Array.isArray(Object.getPrototypeOf(value)))
      throw new NotJson('an array of a derived class is not a JSON value')
    // 'length' is the one own name beside the indexes; a hole is read as undefined and refused there.
    if (own.length > value.length + 1) throw new NotJson('an array with members of its own is not a JSON value')
    return undefined
  }
  if (!isPlain(value)) throw new NotJson(`an object of class ${className(value)} is not a JSON value`)
  const names = Object.keys(value)
  if (names.length !== own.length) throw new NotJson('a hidden key would be lost')
  return names
}

function className(value: object): string {
  const constructor: unknown = (value as { constructor?: unknown }).constructor
  return typeof constructor === 'function' && constructor.name !== '' ? constructor.name : 'unknown'
}

function setMember(target: Container, key: string | number, value: unknown): void {
  // Plain assignment to `__proto__` would set the prototype instead of a member.
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
  } else {
    ;(target as Record<string | number, unknown>)[key] = value
  }
}

function open(source: object, copy: boolean): Frame {
  const keys = memberNames(source)
  const container = source as Container
  return {
    source: container,
    target: copy ? (keys === undefined ? [] : {}) : container,
    keys,
    length: keys === undefined ? (container as unknown[]).length : keys.length,
    next: 0,
  }
}

function faultAt(frames: readonly Frame[], reason: string): JsonFault {
  const path = frames.map(({ keys, next }) => (keys === undefined ? `[${next - 1}]` : `.${keys[next - 1]}`)).join('')
  const shown = path.length > 200 ? `${path.slice(0, 200)}…` : path
  return { path: shown, reason }
}

function isCyclic(frames: readonly Frame[]): boolean {
  return new Set(frames.map(({ source }) => source)).size < frames.length
}

/**
 * What the walk makes of one member. `copy` gives fresh frozen containers and reads an accessor once; otherwise the
 * given containers are frozen in place, so an accessor, which could lie at the next read, is refused.
 */
type Walk = 'copy' | 'adopt'
export type Walked = { readonly value: Json } | { readonly fault: JsonFault }

/** Iterative, so that hostile depth meets the limit and not the end of the stack. */
function walk(root: unknown, mode: Walk, maxDepth: number, dropUndefined = false): Walked {
  const rootFault = scalarFault(root)
  if (rootFault !== undefined) return { fault: { path: '', reason: rootFault } }
  if (typeof root !== 'object' || root === null) return { value: root as Json }
  const copy = mode === 'copy'
  const frames: Frame[] = []
  try {
    frames.push(open(root, copy))
    const target = frames[0]?.target as Json
    for (let frame = frames[0]; frame !== undefined; frame = frames[frames.length - 1]) {
      if (frame.next === frame.length) {
        Object.freeze(frame.target)
        frames.pop()
        continue
      }
      const key = frame.keys === undefined ? frame.next : (frame.keys[frame.next] as string)
      frame.next += 1
      if (!copy && isAccessor(frame.source, key)) throw new NotJson('a getter may lie between two reads')
      const value = (frame.source as Record<string | number, unknown>)[key]
      if (typeof value === 'object' && value !== null) {
        if (frames.length === maxDepth) {
          throw new NotJson(isCyclic(frames) ? 'a cycle cannot be written' : `more than ${MAX_JSON_DEPTH} levels`)
        }
        const child = open(value, copy)
        if (copy) setMember(frame.target, key, child.target)
        frames.push(child)
        continue
      }
      if (value === undefined && dropUndefined && frame.keys !== undefined) continue
      const fault = scalarFault(value)
      if (fault !== undefined) throw new NotJson(fault)
      if (copy) setMember(frame.target, key, value)
    }
    return { value: target }
  } catch (error) {
    const reason = error instanceof NotJson ? error.reason : `reading it failed: ${String(error)}`
    return { fault: faultAt(frames, reason) }
  }
}

function isAccessor(source: Container, key: string | number): boolean {
  return Object.getOwnPropertyDescriptor(source, key)?.get !== undefined
}

/** A deeply frozen copy of lossless JSON, or the place where it is not. Every accessor is read once. SPEC 3.1. */
export function snapshotJson(value: unknown, maxDepth: number = MAX_JSON_DEPTH): Walked {
  const copy = copySound(value, maxDepth)
  // The slow walk knows where a fault is.
  return copy === undefined ? walk(value, 'copy', maxDepth) : { value: copy }
}

/**
 * The copy of sound JSON; undefined where anything is wrong. Every `append` comes through here: cloning a whole
 * container at once is several times faster than copying it member by member.
 */
function copySound(root: unknown, maxDepth: number): Json | undefined {
  if (typeof root !== 'object' || root === null) return undefined
  try {
    const copy = cloneContainer(root)
    const pending: Container[] = [copy]
    const depths: number[] = [1]
    for (let target = pending.pop(); target !== undefined; target = pending.pop()) {
      const depth = depths.pop() as number
      const names = Array.isArray(target) ? undefined : Object.keys(target)
      const length = names === undefined ? (target as unknown[]).length : names.length
      for (let at = 0; at < length; at += 1) {
        const key = names === undefined ? at : (names[at] as string)
        const value = (target as Record<string | number, unknown>)[key]
        if (typeof value === 'string') continue
        if (typeof value === 'object' && value !== null) {
          if (depth === maxDepth) return undefined
          const child = cloneContainer(value)
          setMember(target, key, child)
          pending.push(child)
          depths.push(depth + 1)
        } else if (scalarFault(value) !== undefined) return undefined
      }
      Object.freeze(target)
    }
    return copy as Json
  } catch {
    return undefined
  }
}

/** A shallow copy of a plain container, each accessor read once. Throws `NotJson` for any other object. */
function cloneContainer(source: object): Container {
  const names = memberNames(source)
  return names === undefined ? (source as unknown[]).slice() : { ...source }
}

/**
 * Checks and freezes lossless JSON in place, for values that the caller gives away. A value with accessors is
 * copied instead, since freezing would leave them live.
 */
export function adoptJson(value: unknown, maxDepth: number = MAX_JSON_DEPTH): Walked {
  const adopted = walk(value, 'adopt', maxDepth)
  return 'fault' in adopted ? snapshotJson(value, maxDepth) : adopted
}

/**
 * A deeply frozen JSON copy of a value of foreign code: object members that are `undefined` are dropped, as
 * `JSON.stringify` does. Throws `SessionError` `json/lossy` for anything else that JSON would lose. SPEC 3.1.
 */
export function toJson(value: unknown): Json {
  const result = walk(value, 'copy', MAX_JSON_DEPTH, true)
  if ('fault' in result)
    throw new SessionError('json/lossy', `${result.fault.path || 'the value'}: ${result.fault.reason}`)
  return result.value
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
