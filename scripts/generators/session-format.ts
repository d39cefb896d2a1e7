import { z } from 'zod'
import { allEvents } from '../../packages/tools/cli/src/vocabulary.ts'
import { isSurfaceType } from '../../packages/core/session/src/events.ts'
import { sessionHeaderSchema } from '../../packages/core/session/src/header.ts'
import type { JsonSchema } from '../lib/json-schema.ts'

const seq: JsonSchema = { type: 'integer', minimum: 0 }
const sourceEventSeqs = { type: 'array', items: { $ref: '#/$defs/seq' }, minItems: 1, uniqueItems: true }
const surfaceOp: JsonSchema = {
  anyOf: [
    { const: 'append' },
    {
      type: 'object',
      properties: { op: { const: 'replace' }, startSeq: { $ref: '#/$defs/seq' }, endSeq: { $ref: '#/$defs/seq' } },
      required: ['op', 'startSeq', 'endSeq'],
      additionalProperties: false,
    },
  ],
}

function jsonSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' }) as JsonSchema
  return rest
}

function event(type: string, data: JsonSchema): JsonSchema {
  const placement: Record<string, JsonSchema> = {}
  if (type === 'assistant/message') placement['surfaceOp'] = { const: 'append' }
  else if (isSurfaceType(type))
    Object.assign(placement, {
      surfaceOp: { $ref: '#/$defs/surfaceOp' },
      sourceEventSeqs: { $ref: '#/$defs/sourceEventSeqs' },
    })
  return {
    type: 'object',
    properties: {
      type: { const: type },
      seq: { $ref: '#/$defs/seq' },
      time: { type: 'integer' },
      ...placement,
      ignorable: { const: true },
      data,
    },
    required: ['type', 'seq', 'time', 'data', ...(isSurfaceType(type) ? ['surfaceOp'] : [])],
    additionalProperties: false,
  }
}

/** `docs/session-format.schema.json`: one line of a stored session, header or event. */
export function sessionFormat(): string {
  const events = [...allEvents].filter(([, { retired }]) => !retired)
  const types = events.map(([type]) => type)
  const header = jsonSchema(sessionHeaderSchema)
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Palimpsest session, format version 3',
    description: 'One line of a stored session: the first is the header, each other one an event.',
    anyOf: ['header', ...types, 'ignorable'].map((name) => ({ $ref: `#/$defs/${name.replaceAll('/', '~1')}` })),
    $defs: {
      seq,
      surfaceOp,
      sourceEventSeqs,
      header: {
        ...header,
        properties: { type: { const: 'session' }, ...header.properties },
        required: ['type', ...(header.required ?? [])],
      },
      ...Object.fromEntries(events.map(([type, { schema: data }]) => [type, event(type, jsonSchema(data))])),
      ignorable: {
        type: 'object',
        description: 'An event of a type that is not listed here. A reader that does not know it skips it.',
        properties: {
          type: { type: 'string', not: { enum: ['session', ...types] } },
          seq: { $ref: '#/$defs/seq' },
          time: { type: 'integer' },
          ignorable: { const: true },
          data: { type: 'object' },
        },
        required: ['type', 'seq', 'time', 'ignorable', 'data'],
      },
    },
  }
  return `${JSON.stringify(schema, null, 2)}\n`
}
