import { type JsonObject, toJson } from '@palimpsest/session'
import { z } from 'zod'
import { AgentLoopError } from './errors.ts'
import { messageOf } from './failure.ts'
import { jsonSchemaValidator } from './json-schema.ts'
import { LONGEST_WAIT } from './retry.ts'
import type { AgentTool } from './tools.ts'

/** The parsed input of a call, or why the schema did not take it. */
export type ParsedArguments = { readonly input: unknown } | { readonly problem: string }

export interface CompiledTool {
  readonly tool: AgentTool
  /** As it stands in `request/header`. */
  readonly definition: JsonObject
  parse(text: string): Promise<ParsedArguments>
}

/**
 * The tools by name. Throws `AgentLoopError` `tools/invalid` for two of one name, for a schema that is none, and for a
 * limit that is no time.
 */
export function compileTools(tools: readonly AgentTool[]): ReadonlyMap<string, CompiledTool> {
  const compiled = new Map<string, CompiledTool>()
  for (const tool of tools) {
    if (tool.name === '') throw new AgentLoopError('tools/invalid', 'a tool has an empty name')
    if (compiled.has(tool.name)) {
      throw new AgentLoopError('tools/invalid', `two tools are named ${tool.name}: rename one of them`)
    }
    compiled.set(tool.name, compile(tool))
  }
  return compiled
}

function compile(tool: AgentTool): CompiledTool {
  const { name, description, inputSchema, timeoutMs = 0 } = tool
  if (!(timeoutMs >= 0 && timeoutMs <= LONGEST_WAIT)) {
    throw new AgentLoopError('tools/invalid', `timeoutMs of tool ${name} is ${timeoutMs}: give 0 to ${LONGEST_WAIT}`)
  }
  const written = isZod(inputSchema) ? attempt(name, () => writtenSchema(inputSchema)) : inputSchema
  const schema = attempt(name, () => toJson(written) as JsonObject)
  const type = schema['type'] ?? 'object'
  if (type !== 'object') {
    throw new AgentLoopError('tools/invalid', `the input schema of tool ${name} is not one of an object`)
  }
  const sent = { ...schema, type }
  const validator = isZod(inputSchema) ? inputSchema : attempt(name, () => jsonSchemaValidator(sent))
  return {
    tool,
    definition: {
      type: 'function',
      name,
      ...(description === undefined ? {} : { description }),
      inputSchema: sent,
    },
    parse: async (text) => {
      const json = parseJson(text)
      if ('problem' in json) return json
      const parsed = await validator.safeParseAsync(json.input)
      if (!parsed.success) return { problem: parsed.error.issues.map(issueText).join('; ') }
      return { input: isZod(inputSchema) ? parsed.data : json.input }
    },
  }
}

/** Some servers write no arguments as an empty text. */
function parseJson(text: string): ParsedArguments {
  if (text.trim() === '') return { input: {} }
  try {
    return { input: JSON.parse(text) as unknown }
  } catch (error) {
    return { problem: `they are not JSON (${messageOf(error)})` }
  }
}

function issueText({ path, message }: z.core.$ZodIssue): string {
  return path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`
}

function isZod(schema: AgentTool['inputSchema']): schema is z.ZodType {
  return 'safeParseAsync' in schema && typeof schema.safeParseAsync === 'function'
}

function writtenSchema(schema: z.ZodType): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' })
  return rest as JsonObject
}

function attempt<Value>(name: string, make: () => Value): Value {
  try {
    return make()
  } catch (error) {
    const why = `the input schema of tool ${name} cannot be used: ${messageOf(error)}`
    throw new AgentLoopError('tools/invalid', why, { cause: error })
  }
}
