import {
  type ResultContentBlock,
  TOOL_NOT_STARTED,
  TOOL_OUTCOME_UNKNOWN,
  type ToolError,
  toJson,
} from '@palimpsest/session'
import { messageOf } from './failure.ts'
import type { ToolOutcome, ToolOutput } from './tools.ts'

/** What a body returned, as an outcome. Throws for what JSON cannot hold. */
export function outcomeOf(output: ToolOutput | undefined): ToolOutcome {
  if (output === undefined) return { content: [], isError: false }
  if (typeof output === 'string') return { content: [{ type: 'text', text: output }], isError: false }
  if (!isStructured(output)) {
    return { content: [{ type: 'text', text: JSON.stringify(toJson(output)) }], isError: false }
  }
  const { content, isError = false, meta } = output
  return { content, isError, ...(meta === undefined ? {} : { meta: toJson(meta) }) }
}

function isStructured(output: ToolOutput): output is Extract<ToolOutput, { readonly content: readonly unknown[] }> & {
  readonly content: readonly ResultContentBlock[]
} {
  if (typeof output !== 'object' || output === null || !('content' in output)) return false
  const { content } = output
  return Array.isArray(content) && content.every((block) => isBlock(block))
}

function isBlock(block: unknown): boolean {
  if (typeof block !== 'object' || block === null || !('type' in block)) return false
  return block.type === 'text' || block.type === 'image'
}

/** An error result with one text. */
function errorOutcome(code: string, text: string, name = 'ToolCallError'): ToolOutcome {
  return { content: [{ type: 'text', text }], isError: true, error: { name, code } }
}

export function failedOutcome(error: unknown): ToolOutcome {
  const name = error instanceof Error && error.name !== '' ? error.name : 'Error'
  return errorOutcome('TOOL_FAILED', `The tool failed: ${messageOf(error)}`, name)
}

/** An error result whose tool was named by nobody, or whose arguments its schema refused, and so on: SPEC 7.4. */
export const synthetic: {
  readonly unknownTool: (name: string, known: readonly string[]) => ToolOutcome
  readonly invalidArguments: (name: string, problem: string) => ToolOutcome
  readonly denied: (why: string) => ToolOutcome
  readonly timeout: (ms: number) => ToolOutcome
  readonly aborted: () => ToolOutcome
  readonly abortedBeforeDispatch: () => ToolOutcome
  readonly notStarted: (why: string) => ToolOutcome
  readonly outcomeUnknown: () => ToolOutcome
  readonly withheld: () => ToolOutcome
} = {
  unknownTool: (name, known) => {
    const list = known.length === 0 ? 'There are no tools.' : `The tools are: ${known.join(', ')}.`
    return errorOutcome('UNKNOWN_TOOL', `There is no tool named ${JSON.stringify(name)}. ${list}`)
  },
  invalidArguments: (name, problem) =>
    errorOutcome(
      'INVALID_ARGUMENTS',
      `The arguments do not fit the tool ${name}: ${problem}. Nothing was done. Call it again with one JSON object that fits its schema.`,
    ),
  denied: (why) => errorOutcome('DENIED', `The call was denied, and nothing was done: ${why}`),
  timeout: (ms) =>
    errorOutcome(
      'TOOL_TIMEOUT',
      `The tool did not finish within ${ms} ms and was told to stop. Whether it did anything is unknown; if it reports later, you will read it then.`,
    ),
  aborted: () =>
    errorOutcome(
      'TOOL_ABORTED',
      'The tool was stopped because the turn was aborted. It may have done a part of its work.',
    ),
  abortedBeforeDispatch: () =>
    errorOutcome('ABORTED_BEFORE_DISPATCH', 'The turn was aborted before this tool started. Nothing was done.'),
  notStarted: (why) => errorOutcome(TOOL_NOT_STARTED, `The tool was not started: ${why}. Nothing was done.`),
  outcomeUnknown: () =>
    errorOutcome(
      TOOL_OUTCOME_UNKNOWN,
      'The turn was aborted while this tool was running, so its outcome is unknown: it may have finished, partly or not ' +
        'at all. Retry it only if it just reads or is safe to repeat. Otherwise check the state of the world first, or ask the user.',
    ),
  withheld: () =>
    errorOutcome('RESULT_WITHHELD', 'The tool ran, but its result was withheld: what reviews the results failed.'),
}

/** An outcome of foreign code whose parts agree: `error` stands only beside `isError`. */
export function soundOutcome(outcome: ToolOutcome): ToolOutcome {
  const { content, isError, error, meta } = outcome
  const known: ToolError | undefined = isError ? error : undefined
  return { content, isError, ...(known && { error: known }), ...(meta === undefined ? {} : { meta: toJson(meta) }) }
}
