import type { MessageId } from '@palimpsest/session'
import type { ToolName } from './tool-names.ts'

/**
 * What an exporter did to an entry.
 *
 * - `opening/added`: a fixed user text was put before an assistant that would have come first
 * - `system/framed`: a later system entry became user text
 * - `user/placeholder`, `result/placeholder`: nothing in it could be sent, a fixed text stands for it
 * - `assistant/left-out`: nothing in it could be sent
 * - `block/left-out`: a block of a type that the exporter does not know; `detail` is the type
 * - `reasoning/dropped`: its reasoning stayed behind
 * - `thinking/off`: the open tool turn has no usable signature, so this request goes out with thinking off
 * - `thinking/kept`: as above, but the model cannot turn thinking off
 * - `arguments/marked`: call arguments were no JSON object; `detail` is the call id
 * - `call-id/rewritten`: `detail` is the new id
 * - `image/missing`, `image/unsupported`: a fixed text stands for the image; `detail` is the attachment id
 * - `image/moved`: the image went to a user message of its own; `detail` is the attachment id
 * - `text/well-formed`: lone surrogates were replaced by U+FFFD
 */
export type ExportNoteCode =
  | 'opening/added'
  | 'system/framed'
  | 'user/placeholder'
  | 'result/placeholder'
  | 'assistant/left-out'
  | 'block/left-out'
  | 'reasoning/dropped'
  | 'thinking/off'
  | 'thinking/kept'
  | 'arguments/marked'
  | 'call-id/rewritten'
  | 'image/missing'
  | 'image/unsupported'
  | 'image/moved'
  | 'text/well-formed'

export interface ExportNote {
  readonly code: ExportNoteCode
  readonly messageId: MessageId
  readonly detail?: string
}

/** What an exporter changed on the way out. Nothing is dropped that is not named here. SPEC 8. */
export interface ExportReport {
  readonly notes: readonly ExportNote[]
  /** Every tool name of the options and of the history. Rename tool definitions by it, and calls that come back. */
  readonly toolNames: readonly ToolName[]
  /** Whether this request must go out with thinking off although the options ask for it. */
  readonly thinkingOff: boolean
}
