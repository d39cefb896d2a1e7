import { inlineOfUrl, isBase64 } from '../attachments.ts'
import type { InlineData } from '../attachments.ts'

/** The data where it is base64 of at least one byte. */
export function soundInline(mediaType: unknown, data: unknown): InlineData | undefined {
  if (typeof data !== 'string' || typeof mediaType !== 'string' || mediaType === '') return undefined
  return isBase64(data) ? { mediaType, data } : undefined
}

/** The bytes of a `data:` URL in base64; `undefined` for a URL of any other kind. */
export function inlineOfDataUrl(url: string): InlineData | undefined {
  const inline = inlineOfUrl(url)
  return inline && soundInline(inline.mediaType, inline.data)
}

/** Whether a URL can be fetched by whoever it is given to. */
export function isWebUrl(url: unknown): url is string {
  return typeof url === 'string' && /^https?:\/\/[^\s]+$/i.test(url)
}
