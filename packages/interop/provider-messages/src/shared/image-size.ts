/** Pixels. */
export interface ImageSize {
  readonly width: number
  readonly height: number
}

/** What is read of an image: enough to pass the metadata that cameras put before a JPEG's frame header. */
const HEAD_BYTES = 192 * 1024

/** Width and height from the head of a PNG, GIF, WebP or JPEG in base64; `undefined` where the bytes do not say. */
export function imageSize(base64: string): ImageSize | undefined {
  const head = decodeHead(base64)
  if (head === undefined) return undefined
  const size = png(head) ?? gif(head) ?? webp(head) ?? jpeg(head)
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined
}

function decodeHead(base64: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(base64.slice(0, (HEAD_BYTES / 3) * 4)), (char) => char.charCodeAt(0))
  } catch {
    return undefined
  }
}

function big(bytes: Uint8Array, at: number, length: number): number {
  return bytes.subarray(at, at + length).reduce((sum, byte) => sum * 256 + byte, 0)
}

function little(bytes: Uint8Array, at: number, length: number): number {
  return bytes.subarray(at, at + length).reduceRight((sum, byte) => sum * 256 + byte, 0)
}

function starts(bytes: Uint8Array, at: number, text: string): boolean {
  return bytes.length >= at + text.length && Array.from(text).every((char, i) => bytes[at + i] === char.charCodeAt(0))
}

function png(bytes: Uint8Array): ImageSize | undefined {
  if (!starts(bytes, 0, '\u0089PNG\r\n\u001a\n') || bytes.length < 24) return undefined
  return { width: big(bytes, 16, 4), height: big(bytes, 20, 4) }
}

function gif(bytes: Uint8Array): ImageSize | undefined {
  if (!starts(bytes, 0, 'GIF8') || bytes.length < 10) return undefined
  return { width: little(bytes, 6, 2), height: little(bytes, 8, 2) }
}

function webp(bytes: Uint8Array): ImageSize | undefined {
  if (!starts(bytes, 0, 'RIFF') || !starts(bytes, 8, 'WEBP') || bytes.length < 30) return undefined
  if (starts(bytes, 12, 'VP8X')) return { width: little(bytes, 24, 3) + 1, height: little(bytes, 27, 3) + 1 }
  if (starts(bytes, 12, 'VP8L')) {
    const bits = little(bytes, 21, 4)
    return { width: (bits % 16384) + 1, height: (Math.floor(bits / 16384) % 16384) + 1 }
  }
  return { width: little(bytes, 26, 2) % 16384, height: little(bytes, 28, 2) % 16384 }
}

function jpeg(bytes: Uint8Array): ImageSize | undefined {
  if (!starts(bytes, 0, '\u00ff\u00d8')) return undefined
  for (let at = 2; at + 9 < bytes.length && bytes[at] === 0xff; at += 2 + big(bytes, at + 2, 2)) {
    const marker = bytes[at + 1] ?? 0
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) return { width: big(bytes, at + 7, 2), height: big(bytes, at + 5, 2) }
  }
  return undefined
}
