/** Bytes of the code point at `index`: 1 to 4. A lone surrogate counts 3, as the U+FFFD that goes out for it. */
function bytesAt(text: string, index: number): number {
  const unit = text.charCodeAt(index)
  if (unit < 0x80) return 1
  if (unit < 0x800) return 2
  return isPair(text, index) ? 4 : 3
}

function isPair(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00
}

/** UTF-8 bytes of a text. */
export function utf8Length(text: string): number {
  let bytes = 0
  for (let index = 0; index < text.length;) {
    const width = bytesAt(text, index)
    bytes += width
    index += width === 4 ? 2 : 1
  }
  return bytes
}

/** Where the longest head of at most `budget` bytes ends, between two code points. */
export function headEnd(text: string, budget: number): number {
  let left = budget
  let index = 0
  while (index < text.length) {
    const width = bytesAt(text, index)
    if (width > left) break
    left -= width
    index += width === 4 ? 2 : 1
  }
  return index
}

/** Where the longest tail of at most `budget` bytes starts, between two code points. */
export function tailStart(text: string, budget: number): number {
  let left = budget
  let index = text.length
  while (index > 0) {
    const start = index > 1 && isPair(text, index - 2) ? index - 2 : index - 1
    const width = bytesAt(text, start)
    if (width > left) break
    left -= width
    index = start
  }
  return index
}
