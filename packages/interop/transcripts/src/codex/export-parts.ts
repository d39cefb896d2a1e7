import type { AttachmentRef, ContentBlock, Json, SessionSeq, ToolResultMessage } from '@palimpsest/session'
import { inlineOfUrl } from '../attachments.ts'
import type { Losses, TranscriptExportOptions } from '../export.ts'
import { readsAsError } from './output.ts'

/** A JSON object that goes into a rollout file. */
export type CodexRecord = Readonly<Record<string, unknown>>

export type CodexPart =
  | { readonly type: 'input_text'; readonly text: string }
  | { readonly type: 'input_image'; readonly image_url: string }

/** The event that is being written, and where its losses go. */
export interface ExportPlace extends TranscriptExportOptions {
  readonly seq: SessionSeq
  readonly losses: Losses
}

/** Blocks as input parts, one for each. */
export function exportParts(content: readonly ContentBlock[], place: ExportPlace): CodexPart[] {
  return content.map((block): CodexPart => {
    if (block.type === 'text') return inputText(block.text)
    if (block.type === 'image') {
      const url = dataUrl(block.attachment, place)
      return url === undefined
        ? inputText(placeholder(block.attachment, place))
        : { type: 'input_image', image_url: url }
    }
    place.losses.add('block/unsupported', 'blocks that are neither text nor image stand as JSON text', place.seq)
    return inputText(JSON.stringify(block))
  })
}

const inputText = (text: string): CodexPart => ({ type: 'input_text', text })

/** The bytes of an image in base64, where they are there. */
export function base64Of(ref: AttachmentRef, { attachment }: ExportPlace): string | undefined {
  const bytes = attachment?.(ref)
  return bytes === undefined || bytes.length === 0 ? undefined : Buffer.from(bytes).toString('base64')
}

function dataUrl(ref: AttachmentRef, place: ExportPlace): string | undefined {
  const data = base64Of(ref, place)
  const url = data === undefined ? undefined : `data:${ref.mediaType};base64,${data}`
  return url !== undefined && inlineOfUrl(url)?.mediaType === ref.mediaType ? url : undefined
}

/** What stands for an image that cannot be written. */
export function placeholder({ attachmentId, mediaType, bytes }: AttachmentRef, { losses, seq }: ExportPlace): string {
  losses.add('attachment/missing', 'images whose bytes are not at hand stand as text', seq)
  return `[${mediaType}, ${bytes} bytes, ${attachmentId}]`
}

/** A result: its text, or its parts where it is not one text, or where the text alone would read as another outcome. */
export function exportResult(message: ToolResultMessage, isCustom: boolean, place: ExportPlace): CodexRecord {
  const [{ toolCallId, content, isError = false }] = message.content
  const parts = exportParts(content, place)
  const [first] = parts
  const only = parts.length === 1 && first?.type === 'input_text' ? first.text : undefined
  const output: Json | readonly CodexPart[] = only !== undefined && (isError || !readsAsError(only)) ? only : parts
  if (isError && !readsAsError(output)) {
    place.losses.add('result/error-flag', 'a rollout has no flag for failed calls: only the text tells', place.seq)
  }
  return { type: isCustom ? 'custom_tool_call_output' : 'function_call_output', call_id: toolCallId, output }
}
