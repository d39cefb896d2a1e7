import { isObject, objectMember, stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'
import type { KeptLine, ReadLine } from '../conversation/source-lines.ts'

/** A line of a rollout file, whichever layout it came in. */
export interface CodexLine {
  readonly kept: KeptLine
  /** Of the envelope; a bare line has the type that newer versions would have put around it. */
  readonly type: string
  readonly payload: LooseObject
  /** Members of the envelope that no event has a place for. */
  readonly leftOut: readonly string[]
}

/**
 * Reads a line with an envelope, or one of the oldest versions, which had none: the first named the session, `record_type`
 * lines held state, and all others were response items. `undefined` where it is neither. FORMATS 2.
 */
export function codexLine({ kept, value }: Extract<ReadLine, { kind: 'object' }>): CodexLine | undefined {
  const type = stringMember(value, 'type')
  if (Object.hasOwn(value, 'payload')) {
    if (type === undefined) return undefined
    const leftOut = Object.keys(value).filter((member) => !['type', 'timestamp', 'payload'].includes(member))
    return { kept, type, payload: objectMember(value, 'payload') ?? {}, leftOut }
  }
  if (Object.hasOwn(value, 'record_type')) return { kept, type: 'state', payload: value, leftOut: [] }
  if (type !== undefined) return { kept, type: 'response_item', payload: value, leftOut: [] }
  const isHead = stringMember(value, 'id') !== undefined && Object.hasOwn(value, 'timestamp')
  return isHead ? { kept, type: 'session_meta', payload: value, leftOut: [] } : undefined
}

/** What the first `session_meta` of a file says about the session. */
export interface CodexMeta {
  readonly id?: string
  readonly cwd?: string
  /** Epoch milliseconds. */
  readonly createdAt?: number
  readonly parent?: string
  readonly isSubagent: boolean
  /** As `source.provider` of messages names it. */
  readonly provider: string
  readonly instructions?: string
}

/** Forks carry the parent's meta behind their own, so the first of a file is the one that counts. */
export function codexMeta(payload: LooseObject): CodexMeta {
  const [id, cwd] = [nonEmpty(payload, 'id'), nonEmpty(payload, 'cwd')]
  const createdAt = Date.parse(stringMember(payload, 'timestamp') ?? '')
  const isSubagent = isObject(objectMember(payload, 'source')?.['subagent'])
  const thread = nonEmpty(payload, 'parent_thread_id')
  const parent = (isSubagent ? thread : undefined) ?? nonEmpty(payload, 'forked_from_id') ?? thread
  const instructions =
    stringMember(objectMember(payload, 'base_instructions') ?? {}, 'text') ??
    stringMember(payload, 'base_instructions') ??
    stringMember(payload, 'instructions')
  const provider = nonEmpty(payload, 'model_provider')
  return {
    isSubagent,
    // The CLI speaks to its own provider through the Responses API; before it wrote a name there was no other.
    provider: provider === undefined || provider === 'openai' ? 'openai.responses' : provider,
    ...(id === undefined ? {} : { id }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(Number.isSafeInteger(createdAt) ? { createdAt } : {}),
    ...(parent === undefined || parent === id ? {} : { parent }),
    ...(instructions === undefined ? {} : { instructions }),
  }
}

export function nonEmpty(value: LooseObject, member: string): string | undefined {
  const text = stringMember(value, member)
  return text === '' ? undefined : text
}
