import type { Json, JsonObject } from '@palimpsest/session'
import { z } from 'zod'

/** What zod cannot check. Schemas of others hold it, and the tool is the one to check it then. */
const UNCHECKED = new Set([
  'not',
  'if',
  'then',
  'else',
  'unevaluatedItems',
  'unevaluatedProperties',
  'dependentSchemas',
  'dependentRequired',
])
/** Keywords whose members are schemas by names of the tool's own. */
const BY_NAME = new Set(['properties', 'patternProperties', '$defs', 'definitions'])
/** Keywords that hold values, not schemas. */
const VALUES = new Set(['enum', 'const', 'default', 'examples', 'required'])

/**
 * A validator of what zod can check of a JSON Schema: keywords and references that it does not know are left out. Throws
 * for what is no schema.
 */
export function jsonSchemaValidator(schema: JsonObject): z.ZodType {
  const isOld = schema['$schema'] === undefined && schema['$defs'] === undefined && schema['definitions'] !== undefined
  const options = isOld ? ({ defaultTarget: 'draft-7' } as const) : {}
  try {
    return z.fromJSONSchema(schema, options)
  } catch {
    return z.fromJSONSchema(checkable(schema, schema) as JsonObject, options)
  }
}

function checkable(schema: Json, root: JsonObject): Json {
  if (isList(schema)) return schema.map((one) => checkable(one, root))
  if (!isObject(schema)) return schema
  const { $ref: ref } = schema
  if (typeof ref === 'string' && !isKnown(ref, root)) return {}
  const kept: Record<string, Json> = {}
  for (const [keyword, value] of entriesOf(schema)) {
    if (UNCHECKED.has(keyword)) continue
    if (VALUES.has(keyword)) kept[keyword] = value
    else if (BY_NAME.has(keyword) && isObject(value)) {
      kept[keyword] = Object.fromEntries(entriesOf(value).map(([name, one]) => [name, checkable(one, root)]))
    } else kept[keyword] = checkable(value, root)
  }
  return kept
}

function isKnown(ref: string, root: JsonObject): boolean {
  if (ref === '#') return true
  const [, keyword = '', name = ''] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(ref) ?? []
  const named = root[keyword]
  return named !== undefined && isObject(named) && Object.hasOwn(named, name)
}

function entriesOf(value: JsonObject): [name: string, value: Json][] {
  return Object.entries(value).flatMap(([name, member]) => (member === undefined ? [] : [[name, member]]))
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
