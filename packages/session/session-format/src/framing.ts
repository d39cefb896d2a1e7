import type { Json, JsonObject } from '@palimpsest/session'
import { SessionFormatError } from './errors.ts'
import type { TakeNote } from './log.ts'
import { isObject } from './members.ts'

/** One line of a log that holds a JSON object. */
export interface Row {
  /** Counts from 1; the header is line 1. */
  readonly line: number
  readonly value: JsonObject
}

interface Line {
  readonly line: number
  /** Byte offset of its first byte. */
  readonly offset: number
  readonly bytes: Uint8Array
  readonly isTerminated: boolean
}

const newline = 0x0a
const mark = 0xfeff
/** What a `-0` looks like: a zero, or a negative number too small to be told from one. */
const mayHoldZero = /-(?:0|[\d.]+[eE]-)/
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The rows of a log. Lines end at byte 0x0A and nowhere else; a byte order mark and CRLF are tolerated. Bytes behind the
 * last newline that are no whole row are a torn tail and a note; any other line that is no row is damage. Holds one
 * line at a time. Throws `SessionFormatError` `format/row`, or `format/not-a-log` for the first line. SPEC 5.2.
 */
export async function* readRows(chunks: AsyncIterable<Uint8Array>, note: TakeNote): AsyncGenerator<Row, void, void> {
  let blank: Lines | undefined
  for await (const line of readLines(chunks)) {
    if (line.line === 1 && isCompressed(line.bytes)) {
      throw notALog('the file is compressed with Zstandard: decompress it first, such as with `zstd -d`')
    }
    const text = textOf(line)
    const isBlank = text?.trim() === ''
    if (isBlank && line.isTerminated) {
      blank = { first: blank?.first ?? line.line, last: line.line }
      continue
    }
    blank = noteBlank(blank, note)
    const value = text === undefined || isBlank ? undefined : parsed(text)
    if (text !== undefined && mayHoldZero.test(text) && settleZeros(value)) {
      note({ code: 'number/negative-zero', line: line.line, message: 'a -0, which no log can hold, was read as 0' })
    }
    if (isObject(value)) {
      yield { line: line.line, value }
    } else if (!line.isTerminated) {
      const { length } = line.bytes
      note({
        code: 'tail/torn',
        line: line.line,
        message: `the last ${length} bytes, from offset ${line.offset}, are no whole row: they were left out`,
      })
    } else if (line.line === 1) {
      throw notALog('line 1 is no JSON object in UTF-8')
    } else {
      throw new SessionFormatError('format/row', `line ${line.line} is no JSON object in UTF-8`, { line: line.line })
    }
  }
  noteBlank(blank, note)
}

/** Neighbouring lines, both ends inclusive. */
interface Lines {
  readonly first: number
  readonly last: number
}

/** One note for neighbours: a small file of newlines must not ask for a million notes. */
function noteBlank(blank: Lines | undefined, note: TakeNote): undefined {
  if (blank === undefined) return
  const { first: line, last: lastLine } = blank
  if (line === lastLine) note({ code: 'line/blank', line, message: 'the line is empty' })
  else note({ code: 'line/blank', line, lastLine, message: `lines ${line} to ${lastLine} are empty` })
}

async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Line, void, void> {
  let line = 1
  let offset = 0
  let pieces: Uint8Array[] = []
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      pieces.push(chunk.subarray(start, end))
      const bytes = Buffer.concat(pieces)
      yield { line, offset, bytes, isTerminated: true }
      line += 1
      offset += bytes.length + 1
      pieces = []
      start = end + 1
    }
    // A reader may reuse its buffer for the next chunk, so what outlives this one is copied.
    if (start < chunk.length) pieces.push(chunk.slice(start))
  }
  if (pieces.length > 0) yield { line, offset, bytes: Buffer.concat(pieces), isTerminated: false }
}

/** Whether these are the first bytes of a Zstandard frame, in which deepseek-harness may keep its logs. */
function isCompressed([a, b, c, d]: Uint8Array): boolean {
  return a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd
}

function notALog(message: string): SessionFormatError {
  return new SessionFormatError('format/not-a-log', message, { line: 1 })
}

function textOf({ line, bytes }: Line): string | undefined {
  try {
    const text = utf8.decode(bytes)
    return line === 1 && text.charCodeAt(0) === mark ? text.slice(1) : text
  } catch {
    return undefined
  }
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** Makes every `-0` below a value 0, in place; whether there was one. Iterative: hostile depth must not exhaust the stack. */
function settleZeros(value: unknown): boolean {
  let isSettled = false
  const pending = [value]
  for (let each = pending.pop(); each !== undefined; each = pending.pop()) {
    if (typeof each !== 'object' || each === null) continue
    const members = each as Record<string, unknown>
    for (const [name, member] of Object.entries(members)) {
      if (typeof member === 'object') pending.push(member)
      if (!Object.is(member, -0)) continue
      Object.defineProperty(members, name, { value: 0, writable: true, enumerable: true, configurable: true })
      isSettled = true
    }
  }
  return isSettled
}
