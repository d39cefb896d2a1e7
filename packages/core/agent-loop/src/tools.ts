import type { Json, JsonObject, ResultContentBlock, ToolCallId, ToolError } from '@palimpsest/session'
import type { z } from 'zod'

/** What a tool's body is told. */
export interface ToolContext {
  readonly callId: ToolCallId
  readonly turn: number
  readonly step: number
  /** Aborted when the turn is, or when the call runs out of time. */
  readonly signal: AbortSignal
  /** Records a provisional result, `tool/progress`: log-only, and it settles nothing. SPEC 4. */
  progress(content: string | readonly ResultContentBlock[]): void
}

/** What a body may return. A string is text; any other JSON is written as JSON text. */
export type ToolOutput =
  | string
  | { readonly content: readonly ResultContentBlock[]; readonly isError?: boolean; readonly meta?: Json }
  | Json

/**
 * One tool. Give the input's shape as a zod schema or as a JSON Schema of an object. A JSON Schema goes to the model as it
 * is; `if`, `not`, `unevaluated…`, `dependent…` and references out of the schema are for the tool itself to check.
 */
export interface AgentTool<Input = unknown> {
  readonly name: string
  readonly description?: string
  readonly inputSchema: z.ZodType<Input> | JsonObject
  /** Milliseconds after which the call is answered with `TOOL_TIMEOUT`; what comes later is a late result. No limit unless given. */
  readonly timeoutMs?: number
  /** Its answer becomes the result. A throw becomes an error result with the thrown message. */
  execute(input: Input, context: ToolContext): ToolOutput | Promise<ToolOutput>
}

/** A settled call, before it is recorded. */
export interface ToolOutcome {
  readonly content: readonly ResultContentBlock[]
  readonly isError: boolean
  /** Present for errors only. */
  readonly error?: ToolError
  readonly meta?: Json
}

/** A call as the model wrote it, and its parsed input where the tool's schema took it. */
export interface RequestedCall {
  readonly callId: ToolCallId
  readonly name: string
  /** The raw JSON text. */
  readonly arguments: string
  readonly input: unknown
}

/** Infers the input type of a tool from its zod schema. */
export function defineTool<Input>(tool: AgentTool<Input>): AgentTool<Input> {
  return tool
}
