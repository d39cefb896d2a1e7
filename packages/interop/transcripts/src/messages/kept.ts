import { plainJson } from '../json.ts'
import type { AttachmentRef, JsonObject } from '@palimpsest/session'
import type { LooseObject } from '../json.ts'

/** A shape of message arrays. FORMATS 8. */
export type MessageShape = 'openai-chat' | 'openai-responses' | 'anthropic' | 'ui-messages' | 'model-messages'

/**
 * What a block or a message was in the shape that it came from, as far as blocks have no place for it. The exporter of
 * that shape gives it back, no other one looks at it.
 */
export interface KeptForm {
  /** Stands in the block's place. */
  readonly part?: JsonObject
  /** Where in `part` the bytes of an attachment go, as base64 or as a data URL. */
  readonly bytes?: { readonly attachment: AttachmentRef; readonly at: readonly string[]; readonly as: 'base64' | 'url' }
  /** Members beside those that the exporter writes by itself. */
  readonly members?: JsonObject
}

/** The block, or members of a source, with what it was in its shape. */
export function withForm<const Holder extends object>(holder: Holder, shape: MessageShape, form: KeptForm): Holder {
  if (Object.keys(form).length === 0) return holder
  return { ...holder, wire: { [shape]: form } }
}

/** A copy of the members of these names, where there are any. */
export function membersOf(value: LooseObject, names: readonly string[]): { members?: JsonObject } {
  const found = names.filter((name) => Object.hasOwn(value, name))
  return found.length === 0
    ? {}
    : { members: plainJson(Object.fromEntries(found.map((name) => [name, value[name]]))) as JsonObject }
}

/** Names of the members that nobody reads. */
export function namesBeyond(value: LooseObject, names: readonly string[]): string[] {
  return Object.keys(value).filter((name) => !names.includes(name))
}
