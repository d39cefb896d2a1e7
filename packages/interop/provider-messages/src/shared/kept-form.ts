import type { AttachmentRef, Json, JsonObject } from '@palimpsest/session'
import { elements, isRecord, member } from './json-reader.ts'
import { isWellFormed, walkStrings } from './unicode.ts'

/** The shapes of messages that importers read, and whose own forms of things they keep. */
export type KeptShape = 'openai-chat' | 'openai-responses' | 'anthropic' | 'model-messages' | 'ui-messages'

/** A part that no block stands for: it goes back, as it came, to the API that has a place for it. */
export interface OwnPart {
  readonly type: 'own'
  readonly value: JsonObject
  /** Members of what holds it, such as the phase of a message. */
  readonly kept?: JsonObject
}

/** What a block or the source of a message was in the shape it came from: `wire`, by shape. Absent in most. */
function formOf(holder: object, shape: KeptShape | undefined): unknown {
  return shape === undefined ? undefined : member(member(holder, 'wire'), shape)
}

/** Whether something in another form stands behind the block. */
export function keptType(holder: object): string | undefined {
  const wire = member(holder, 'wire')
  const [form] = isRecord(wire) ? Object.values(wire) : []
  const type = member(member(form, 'part'), 'type')
  return typeof type === 'string' ? type : undefined
}

/** Whether a part of the shape stands behind the block. */
export function hasOwnPart(holder: object, shape: KeptShape): boolean {
  return isRecord(member(formOf(holder, shape), 'part'))
}

/** Members that this shape has beside those that an exporter writes by itself, of the names that it takes. */
export function keptMembers(holder: object, shape: KeptShape | undefined, names: readonly string[]): JsonObject {
  const members = member(formOf(holder, shape), 'members')
  const found = names.flatMap((name): [string, Json][] => {
    const value = member(members, name)
    return value === undefined || !isSound(value) ? [] : [[name, value as Json]]
  })
  return Object.fromEntries(found)
}

/**
 * The part of this shape that a block stands for, with its bytes where they are an attachment. `undefined` where there is
 * none, where its bytes are not there, and where it could not go back as it came.
 */
export function ownPart(
  holder: object,
  shape: KeptShape | undefined,
  bytesOf: (ref: AttachmentRef) => string,
): OwnPart | undefined {
  const form = formOf(holder, shape)
  const part = member(form, 'part')
  if (!isRecord(part) || typeof member(part, 'type') !== 'string' || !isSound(part)) return undefined
  const bytes = member(form, 'bytes')
  if (bytes === undefined) return { type: 'own', value: part as JsonObject }
  const ref = member(bytes, 'attachment') as AttachmentRef | undefined
  const data = ref === undefined ? '' : bytesOf(ref)
  if (ref === undefined || data === '') return undefined
  const text = member(bytes, 'as') === 'url' ? `data:${ref.mediaType};base64,${data}` : data
  return { type: 'own', value: withMember(part as JsonObject, elements(member(bytes, 'at')), text) }
}

function withMember(value: JsonObject, [name, ...rest]: readonly unknown[], text: string): JsonObject {
  if (typeof name !== 'string') return value
  const inner = member(value, name)
  return {
    ...value,
    [name]: rest.length === 0 ? text : withMember(isRecord(inner) ? (inner as JsonObject) : {}, rest, text),
  }
}

function isSound(value: unknown): boolean {
  let isWell = true
  walkStrings(value, '', (text) => (isWell &&= isWellFormed(text)))
  return isWell
}
