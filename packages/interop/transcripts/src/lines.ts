/** One line of a source, without its newline. */
export interface SourceLine {
  /** Counts from 1. */
  readonly line: number
  /** Byte offset of its first byte in the file. */
  readonly offset: number
  readonly bytes: Uint8Array
  /** Whether a newline ended it; false only for a last line that was cut or is still being written. */
  readonly terminated: boolean
}

/**
 * Splits a byte stream into lines on `0x0A` and on nothing else: U+2028 and a bare CR are legal inside a record.
 * Holds one line at a time. SPEC 5.2.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<SourceLine> {
  let line = 1
  let offset = 0
  let pieces: Uint8Array[] = []
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      pieces.push(chunk.subarray(start, end))
      const bytes = joined(pieces)
      yield { line, offset, bytes, terminated: true }
      line += 1
      offset += bytes.length + 1
      pieces = []
      start = end + 1
    }
    // A reader may reuse its buffer for the next chunk, so what outlives this one is copied.
    if (start < chunk.length) pieces.push(chunk.slice(start))
  }
  const bytes = joined(pieces)
  if (bytes.length > 0) yield { line, offset, bytes, terminated: false }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces
  if (only !== undefined && pieces.length === 1) return only
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of a line exactly as it stands, or `undefined` where it is not UTF-8. */
export function lineText(bytes: Uint8Array): string | undefined {
  try {
    return strictUtf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** The JSON value of a line; `undefined` where it is none. A byte order mark and a trailing CR are tolerated. */
export function parseLine(text: string): unknown {
  try {
    return JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text)
  } catch {
    return undefined
  }
}
