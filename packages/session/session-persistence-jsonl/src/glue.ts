/**
 * A part of a damaged line: NUL bytes, a byte order mark, one complete JSON text, or anything else. Offsets in bytes of
 * the line, `end` exclusive.
 */
export interface Piece {
  readonly kind: 'nul' | 'bom' | 'whole' | 'stub'
  readonly start: number
  readonly end: number
}

type Expect = 'value' | 'value or ]' | 'key or }' | 'key' | ':' | ', or end' | 'nothing'

interface Lexed {
  /** First byte that no JSON text has here; the end of the line without one. */
  readonly at: number
  readonly state: 'complete' | 'open' | 'illegal'
  /** Closing quote of the string right before `at`, else -1. */
  readonly quote: number
}

const quote = 0x22
const backslash = 0x5c
const openBrace = 0x7b
const openBracket = 0x5b

const literals = ['true', 'false', 'null'].map((text) => Buffer.from(text))
const escapes = Buffer.from('"\\/bfnrt')
/** Envelope members that never hold an object: a `{` there begins another record. */
const flat = new Set(['type', 'seq', 'time', 'sourceEventSeqs', 'ignorable'])
/** UTF-8 byte order mark, which foreign writers put first: also inside a file that was made of several. */
export const bom: Buffer = Buffer.from([0xef, 0xbb, 0xbf])
const nextRecord = Buffer.from('{"type"')

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0d || byte === 0x09
}

function isNumeric(byte: number | undefined): boolean {
  return (
    byte !== undefined &&
    ((byte >= 0x30 && byte <= 0x39) ||
      byte === 0x2d ||
      byte === 0x2b ||
      byte === 0x2e ||
      byte === 0x65 ||
      byte === 0x45)
  )
}

function isHex(byte: number | undefined): boolean {
  return byte !== undefined && /[0-9a-fA-F]/.test(String.fromCharCode(byte))
}

function startsWith(bytes: Buffer, at: number, what: Buffer): boolean {
  return bytes.subarray(at, at + what.length).equals(what)
}

interface Token {
  readonly end: number
  readonly state: 'done' | 'open' | 'illegal'
}

function lexString(bytes: Buffer, from: number): Token {
  for (let at = from + 1; at < bytes.length; at += 1) {
    const byte = bytes[at] as number
    if (byte === quote) return { end: at + 1, state: 'done' }
    if (byte < 0x20) return { end: at, state: 'illegal' }
    if (byte !== backslash) continue
    at += 1
    if (at >= bytes.length) break
    if (escapes.includes(bytes[at] as number)) continue
    if (bytes[at] !== 0x75) return { end: at, state: 'illegal' }
    for (let digit = 1; digit <= 4; digit += 1) {
      if (at + digit >= bytes.length) return { end: bytes.length, state: 'open' }
      if (!isHex(bytes[at + digit])) return { end: at + digit, state: 'illegal' }
    }
    at += 4
  }
  return { end: bytes.length, state: 'open' }
}

function lexScalar(bytes: Buffer, from: number): Token {
  let at = from
  while (isNumeric(bytes[at])) at += 1
  if (at > from) return { end: at, state: 'done' }
  const literal = literals.find((text) => text[0] === bytes[from])
  if (literal === undefined) return { end: from, state: 'illegal' }
  for (let index = 0; index < literal.length; index += 1) {
    if (from + index >= bytes.length) return { end: bytes.length, state: 'open' }
    if (bytes[from + index] !== literal[index]) return { end: from + index, state: 'illegal' }
  }
  return { end: from + literal.length, state: 'done' }
}

/** Whether a `{` at `at` may be a value of the member `key` of a record. */
function mayNest(bytes: Buffer, at: number, key: string): boolean {
  return key === 'surfaceOp' ? !startsWith(bytes, at, nextRecord) : !flat.has(key)
}

/** Reads one JSON text from `from` as far as it goes. Numbers are taken loosely. */
function lex(bytes: Buffer, from: number): Lexed {
  const containers: number[] = []
  let expect: Expect = 'value'
  let key = ''
  let lastQuote = -1
  let at = from
  const afterValue = (): Expect => (containers.length === 0 ? 'nothing' : ', or end')
  const illegal = (where: number): Lexed => ({ at: where, state: 'illegal', quote: lastQuote })
  while (at < bytes.length) {
    const byte = bytes[at] as number
    if (isSpace(byte)) {
      at += 1
      continue
    }
    const isKey: boolean = expect === 'key' || expect === 'key or }'
    const isValue: boolean = expect === 'value' || expect === 'value or ]'
    if (byte === quote && (isKey || isValue)) {
      const token = lexString(bytes, at)
      if (token.state === 'open') return { at: token.end, state: 'open', quote: -1 }
      lastQuote = -1
      if (token.state === 'illegal') return illegal(token.end)
      if (isKey && containers.length === 1) key = bytes.toString('latin1', at + 1, token.end - 1)
      lastQuote = token.end - 1
      expect = isKey ? ':' : afterValue()
      at = token.end
      continue
    }
    const top = containers.at(-1)
    const closes =
      (byte === 0x7d && top === openBrace && (expect === 'key or }' || expect === ', or end')) ||
      (byte === 0x5d && top === openBracket && (expect === 'value or ]' || expect === ', or end'))
    if (
      isValue &&
      (byte === openBracket || (byte === openBrace && (containers.length === 0 || mayNest(bytes, at, key))))
    ) {
      containers.push(byte)
      expect = byte === openBrace ? 'key or }' : 'value or ]'
    } else if (closes) {
      containers.pop()
      expect = afterValue()
    } else if (byte === 0x3a && expect === ':') {
      expect = 'value'
    } else if (byte === 0x2c && expect === ', or end') {
      expect = top === openBrace ? 'key' : 'value'
    } else if (isValue && byte !== openBrace) {
      const token = lexScalar(bytes, at)
      lastQuote = -1
      if (token.state === 'open') return { at: token.end, state: 'open', quote: -1 }
      if (token.state === 'illegal') return illegal(token.end)
      expect = afterValue()
      at = token.end
      continue
    } else {
      return expect === 'nothing' ? { at, state: 'complete', quote: -1 } : illegal(at)
    }
    lastQuote = -1
    at += 1
  }
  return { at, state: expect === 'nothing' ? 'complete' : 'open', quote: -1 }
}

function nulEnd(bytes: Buffer, from: number): number {
  let at = from
  while (bytes[at] === 0) at += 1
  return at
}

/** Where the next piece begins after an unfinished record that `lexed` stopped in; the end of the line when nowhere. */
function nextPiece(bytes: Buffer, from: number, lexed: Lexed): number {
  if (bytes[lexed.at] === 0) return lexed.at
  if (bytes[lexed.at] === openBrace && lexed.at > from) return lexed.at
  if (lexed.quote >= 0) {
    // The stub ends inside a string, so that the next record's brace lies in it and its first quote closes it.
    let brace = lexed.quote - 1
    while (isSpace(bytes[brace])) brace -= 1
    if (bytes[brace] === openBrace && brace > from) return brace
  }
  const nul = bytes.indexOf(0, lexed.at)
  return nul === -1 ? bytes.length : nul
}

/**
 * Takes a damaged line apart. A record begins at the start of the line, after NUL bytes or a byte order mark, or where what stands before it
 * cannot go on as JSON: so a record torn inside its payload never yields what its payload quotes. Where a `{` could be
 * either, it belongs to what stands before it. SPEC 5.2.
 */
export function splitLine(bytes: Buffer): Piece[] {
  const pieces: Piece[] = []
  let start = 0
  while (start < bytes.length) {
    if (bytes[start] === 0) {
      const end = nulEnd(bytes, start)
      pieces.push({ kind: 'nul', start, end })
      start = end
      continue
    }
    if (startsWith(bytes, start, bom)) {
      pieces.push({ kind: 'bom', start, end: start + bom.length })
      start += bom.length
      continue
    }
    const lexed = lex(bytes, start)
    const isWhole = lexed.state === 'complete' && lexed.at > start
    const end = lexed.state === 'illegal' ? nextPiece(bytes, start, lexed) : lexed.at
    pieces.push({ kind: isWhole ? 'whole' : 'stub', start, end: end > start ? end : bytes.length })
    start = end > start ? end : bytes.length
  }
  return pieces
}
