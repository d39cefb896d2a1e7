/** The part of JSON Schema that our schemas turn into. */
export interface JsonSchema {
  type?: string
  const?: unknown
  enum?: unknown[]
  pattern?: string
  minLength?: number
  minimum?: number
  exclusiveMinimum?: number
  properties?: Record<string, JsonSchema>
  required?: string[]
  additionalProperties?: unknown
  items?: JsonSchema | false
  prefixItems?: JsonSchema[]
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  not?: JsonSchema
  $ref?: string
  $defs?: Record<string, JsonSchema>
  title?: string
  description?: string
  $schema?: string
}

function scalar({ type, pattern, minLength, minimum, exclusiveMinimum }: JsonSchema): string {
  if (type === undefined) return 'any JSON'
  if (type === 'string' && pattern !== undefined) return `string /${pattern}/`
  if (type === 'string' && minLength === 1) return 'non-empty string'
  if (exclusiveMinimum !== undefined) return `${type} > ${exclusiveMinimum}`
  return minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? type : `${type} ≥ ${minimum}`
}

/** A schema in a notation for reading, close to a TypeScript type. Members that a schema does not name are left out. */
export function notation(schema: JsonSchema, indent = ''): string {
  const options = schema.anyOf ?? schema.oneOf
  if (options !== undefined) return options.map((one) => notation(one, indent)).join(' | ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.prefixItems !== undefined) return `[${schema.prefixItems.map((one) => notation(one, indent)).join(', ')}]`
  if (schema.type === 'array') {
    const item = notation(schema.items === false ? {} : (schema.items ?? {}), indent)
    return item.includes(' | ') ? `(${item})[]` : `${item}[]`
  }
  if (schema.type !== 'object') return scalar(schema)
  const members = Object.entries(schema.properties ?? {}).map(([name, member]) => {
    const mark = schema.required?.includes(name) === true ? '' : '?'
    return `${indent}  ${name}${mark}: ${notation(member, `${indent}  `)}`
  })
  return members.length === 0 ? 'object' : `{\n${members.join('\n')}\n${indent}}`
}
