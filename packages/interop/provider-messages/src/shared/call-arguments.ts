import type { Json, JsonObject } from '@palimpsest/session'
import { INVALID_ARGUMENTS } from './fixed-texts.ts'
import { isRecord } from './json-reader.ts'
import { isBlank, isWellFormed, toWellFormed } from './unicode.ts'

/** Levels of nesting that every provider's parser takes. */
const MAX_DEPTH = 100

/** The arguments of a call in both forms that providers want. */
export interface CallArguments {
  readonly value: JsonObject
  /** JSON text of an object: the model's own bytes wherever they are well-formed. */
  readonly text: string
  /** Whether the model's text was no JSON object and `value` carries it under `palimpsest_invalid_arguments`. */
  readonly isMarked: boolean
  /** Whether lone surrogates were replaced. */
  readonly isMended: boolean
}

/**
 * Reads the raw arguments of a call. Blank text means no arguments. Text that is no JSON object, nests deeper than 100
 * levels or holds a number beyond the range of JSON goes out marked, never guessed. SPEC 8.
 */
export function callArguments(raw: string): CallArguments {
  if (isBlank(raw)) return { value: {}, text: '{}', isMarked: false, isMended: false }
  const value = parseObject(raw)
  if (value === undefined) {
    const marked = { [INVALID_ARGUMENTS]: toWellFormed(raw) }
    return { value: marked, text: JSON.stringify(marked), isMarked: true, isMended: !isWellFormed(raw) }
  }
  const state = { isMended: !isWellFormed(raw) }
  const mended = mend(value, state) as JsonObject
  return {
    value: mended,
    text: state.isMended ? JSON.stringify(mended) : raw,
    isMarked: false,
    isMended: state.isMended,
  }
}

function parseObject(raw: string): JsonObject | undefined {
  try {
    const value = JSON.parse(raw) as unknown
    return isRecord(value) && isSendable(value, MAX_DEPTH) ? (value as JsonObject) : undefined
  } catch {
    return undefined
  }
}

function isSendable(value: unknown, depth: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return true
  return depth > 0 && Object.values(value).every((child: unknown) => isSendable(child, depth - 1))
}

function mend(value: Json, state: { isMended: boolean }): Json {
  if (typeof value === 'string') {
    if (isWellFormed(value)) return value
    state.isMended = true
    return toWellFormed(value)
  }
  // `-0` does not survive JSON.stringify; what is returned is what arrives.
  if (typeof value === 'number') return value + 0
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return (value as readonly Json[]).map((child) => mend(child, state))
  const entries = Object.entries(value as JsonObject)
  const names = mendNames(
    entries.map(([name]) => name),
    state,
  )
  return Object.fromEntries(entries.map(([, child], index) => [names[index], mend(child ?? null, state)])) as JsonObject
}

function mendNames(names: readonly string[], state: { isMended: boolean }): readonly string[] {
  if (names.every(isWellFormed)) return names
  state.isMended = true
  const taken = new Set(names.filter(isWellFormed))
  return names.map((name) => {
    if (isWellFormed(name)) return name
    const base = toWellFormed(name)
    let mended = base
    for (let copy = 2; taken.has(mended); copy += 1) mended = `${base}_${copy}`
    taken.add(mended)
    return mended
  })
}
