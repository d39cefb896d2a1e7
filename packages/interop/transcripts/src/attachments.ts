import type { AttachmentRef, ImageBlock } from '@palimpsest/session'
import type { AttachmentSink } from './source.ts'

/** A document that a user put into a prompt: block type of imported user messages. */
export interface DocumentBlock {
  readonly type: 'document'
  readonly attachment: ImageBlock['attachment']
}
declare module '@palimpsest/session' {
  interface ContentBlockMap {
    document: DocumentBlock
  }
}

/** Bytes that a source holds inline, still in base64. */
export interface InlineData {
  readonly data: string
  readonly mediaType: string
}

/** Puts inline bytes into the sink: durable when it returns. */
export function keepInline(sink: AttachmentSink, { data, mediaType }: InlineData): Promise<AttachmentRef> {
  return sink.put(Buffer.from(data, 'base64'), { mediaType })
}

/** Whether a text is bytes in base64, at least one of them; padding may be missing. */
export function isBase64(data: string): boolean {
  // Two flat scans, not one pattern of groups: the text may be many megabytes.
  const body = data.replace(/={1,2}$/, '')
  return body !== '' && body.length % 4 !== 1 && !/[^A-Za-z0-9+/]/.test(body)
}

const dataUrl = /^data:([^;,]+)(?:;[^,;]*)*;base64,/

/** The bytes of a `data:` URL in base64, or `undefined` for a URL of any other kind. */
export function inlineOfUrl(url: string): InlineData | undefined {
  const head = dataUrl.exec(url.slice(0, 300))
  const mediaType = head?.[1]
  return head === null || mediaType === undefined ? undefined : { mediaType, data: url.slice(head[0].length) }
}
