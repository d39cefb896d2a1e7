import type { Json, ResultContentBlock } from '@palimpsest/session'
import { isObject, objectMember, stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'
import { parseLine } from '../lines.ts'
import { readContent } from './content.ts'
import type { Images } from './content.ts'

export interface CodexOutput {
  readonly callId: string
  readonly content: readonly ResultContentBlock[]
  readonly isError: boolean
  readonly meta?: Json
  readonly asText: readonly string[]
}

/** Reads what answered a call, as the model read it. `undefined` where the type is not of an output that we know. */
export function readOutput(type: string, payload: LooseObject, images: Images): CodexOutput | undefined {
  const callId = stringMember(payload, 'call_id') ?? ''
  if (type === 'tool_search_output') {
    return { callId, content: [jsonText(payload['tools'])], isError: false, asText: ['tools'] }
  }
  if (type !== 'function_call_output' && type !== 'custom_tool_call_output') return undefined
  const { output, success } = wrapped(payload['output'])
  const { blocks, odd } = readContent(output ?? [], images)
  const status = typeof output === 'string' ? exitStatus(output) : undefined
  const more = { ...status, ...(success === undefined ? {} : { success }) }
  return {
    callId,
    content: [...blocks, ...odd.map(jsonText)],
    isError: success === false || readsAsError(output),
    asText: odd.map((part) => stringMember(isObject(part) ? part : {}, 'type') ?? typeof part),
    ...(Object.keys(more).length > 0 ? { meta: more } : {}),
  }
}

const jsonText = (value: unknown): ResultContentBlock => ({ type: 'text', text: JSON.stringify(value) ?? '' })

/** Some versions wrote `{ content, success }` around an output. */
function wrapped(output: unknown): { readonly output: unknown; readonly success?: boolean } {
  if (!isObject(output) || !Object.hasOwn(output, 'content')) return { output }
  const { content, success } = output
  return { output: content, ...(typeof success === 'boolean' ? { success } : {}) }
}

/**
 * Whether an output itself says that its command failed: the format has no flag, but the outputs of older versions are JSON
 * texts with an exit code. Wordings are not read.
 */
export function readsAsError(output: unknown): boolean {
  const code = typeof output === 'string' ? exitStatus(output)?.['exit_code'] : undefined
  return code !== undefined && code !== 0
}

function exitStatus(output: string): Record<string, number> | undefined {
  if (!output.startsWith('{"output":')) return undefined
  const value = parseLine(output)
  const metadata = isObject(value) ? objectMember(value, 'metadata') : undefined
  if (metadata === undefined) return undefined
  const entries = ['exit_code', 'duration_seconds'].flatMap((member) => {
    const number = Object.hasOwn(metadata, member) ? metadata[member] : undefined
    return typeof number === 'number' && Number.isFinite(number) ? [[member, number + 0] as const] : []
  })
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}
