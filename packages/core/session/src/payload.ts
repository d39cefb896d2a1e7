import { misplacedBlock } from './content.ts'
import { refuse } from './errors.ts'
import type { SessionEvent } from './events.ts'
import type { Json, JsonObject } from './json.ts'
import { surelyMatches } from './quick-check.ts'
import type { Vocabulary } from './vocabulary.ts'

/** The candidate that a payload belongs to. */
interface Given {
  readonly type: string
  readonly seq: number
}

/** Holds the payload of a known type to its rules. Throws `SessionAcceptanceError` with a `payload/` code. SPEC 3.1. */
export function checkPayload(given: Given, data: JsonObject, vocabulary: Vocabulary): void {
  const misplaced = misplacedBlock(given.type, data)
  if (misplaced !== undefined) {
    refuse(given, 'payload/content', `a ${misplaced.type} block may not stand in ${misplaced.place}`)
  }
  if (!surelyMatches(given.type, data)) checkSchema(given, data, vocabulary)
  requireObject(given, data)
  extraRules.get(given.type)?.(given, data)
}

function checkSchema(given: Given, data: JsonObject, vocabulary: Vocabulary): void {
  const issue = vocabulary.get(given.type)?.schema.safeParse(data).error?.issues[0]
  if (issue !== undefined) refuse(given, 'payload/invalid', `${['data', ...issue.path].join('.')}: ${issue.message}`)
}

/** Rules across members of one payload that deserve a code of their own. */
const extraRules: ReadonlyMap<string, (given: Given, data: JsonObject) => void> = new Map([
  ['tool/result', checkToolError],
  ['request/header', checkRequestHeader],
])

function checkToolError(given: Given, data: JsonObject): void {
  const { error, message } = data as unknown as Extract<SessionEvent, { type: 'tool/result' }>['data']
  if (error !== undefined && message.content[0].isError !== true) {
    refuse(given, 'payload/tool-error', 'it carries an error, but its block does not say isError: true')
  }
}

function checkRequestHeader(given: Given, data: JsonObject): void {
  const header = data['header'] as JsonObject
  const { tools, adapterDefaults } = header as { tools?: readonly Json[]; adapterDefaults?: JsonObject }
  if (Object.hasOwn(header, 'system'))
    refuse(given, 'payload/header', 'the prompt is a system/message, not header.system')
  if (tools?.length === 0) refuse(given, 'payload/header', 'leave empty tools out')
  if (adapterDefaults !== undefined && Object.keys(adapterDefaults).length === 0) {
    refuse(given, 'payload/header', 'leave empty adapterDefaults out')
  }
}

/** Opaque, or known with a schema that takes anything: every store expects an object there. */
export function requireObject(given: Given, data: unknown): void {
  if (typeof data === 'object' && data !== null && !Array.isArray(data)) return
  refuse(given, 'envelope/json', 'the data of an event is an object')
}
