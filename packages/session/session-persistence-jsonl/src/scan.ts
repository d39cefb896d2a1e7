import { constants, isUtf8 } from 'node:buffer'
import type { SessionEvent } from '@palimpsest/session'
import { hasEnvelope } from '@palimpsest/session-persistence'
import type { OpenFile } from './file-system.ts'
import { bom, splitLine } from './glue.ts'

const CHUNK = 1024 * 1024
const newline = 0x0a

/** A byte range of the log, `end` exclusive. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** A part of a damaged line; `event` where a whole record stands in it. */
export interface ScannedPiece extends Range {
  readonly kind: 'nul' | 'bom' | 'stub' | 'record' | 'repeat'
  readonly event: SessionEvent | undefined
  /** A whole JSON text that is no record. */
  readonly value?: unknown
}

/** One line behind the header, its newline included. */
export interface ScannedLine extends Range {
  readonly isTerminated: boolean
  /** Ends in the commit mark: the last record of a batch. */
  readonly isMarked: boolean
  /** The record, where the line is one. */
  readonly event: SessionEvent | undefined
  /** The record held `-0`, read as 0. */
  readonly hasNegativeZero: boolean
  /** Parts of a line that is no record, or the NUL bytes before its record; empty for a blank one. */
  readonly pieces: readonly ScannedPiece[]
}

/** All that stands in a log. Line `n` of the file is `lines[n - 2]`; line 1 is the header. */
export interface LogScan {
  /** Bytes. */
  readonly size: number
  readonly header: Range & {
    readonly isTerminated: boolean
    readonly isMarked: boolean
    /** What the header line holds; undefined where it is no JSON. */
    readonly value: unknown
  }
  readonly lines: readonly ScannedLine[]
}

/** Writes 0 over every `-0` inside a parsed value. Returns whether there was one. */
function clearNegativeZero(root: object): boolean {
  let found = false
  const open: object[] = [root]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const [key, value] of Object.entries(node)) {
      if (typeof value === 'object' && value !== null) open.push(value as object)
      else if (Object.is(value, -0)) {
        // defineProperty, since a member may be named __proto__.
        Object.defineProperty(node, key, { value: 0, writable: true, enumerable: true, configurable: true })
        found = true
      }
    }
  }
  return found
}

/** Texts that `JSON.parse` may read as `-0`; few others match. */
const negativeZero = /-(?:0|[0-9.]+[eE]-)/

/** The text as UTF-8; undefined where it is none: `toString` alone would let a changed record pass for a good one. */
function textOf(bytes: Buffer): string | undefined {
  // A longer text fits no string.
  return bytes.length <= constants.MAX_STRING_LENGTH && isUtf8(bytes) ? bytes.toString('utf8') : undefined
}

function parseJson(text: string | undefined): unknown {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

interface ReadRecord {
  readonly event: SessionEvent
  readonly hasNegativeZero: boolean
}

/** A record with a valid envelope; undefined for anything else. What the payload holds is not looked at. SPEC 2.1. */
export function parseRecord(bytes: Buffer): ReadRecord | undefined {
  const text = textOf(bytes)
  const value = parseJson(text)
  if (text === undefined || typeof value !== 'object' || value === null) return undefined
  const hasNegativeZero = negativeZero.test(text) && clearNegativeZero(value)
  return hasEnvelope(value) ? { event: value, hasNegativeZero } : undefined
}

/** Calls `visit` with every line of the file, newline left out. Lines end at byte 0x0A and nowhere else. */
export async function eachLine(
  file: OpenFile,
  size: number,
  visit: (bytes: Buffer, start: number, isTerminated: boolean) => void,
): Promise<void> {
  let parts: Buffer[] = []
  let start = 0
  let position = 0
  while (position < size) {
    // A fresh buffer when a line's beginning still lives in the last one.
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK, size - position))
    const length = await file.read(chunk, 0, chunk.length, position)
    if (length === 0) break
    const bytes = chunk.subarray(0, length)
    let from = 0
    for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, from)) {
      const rest = bytes.subarray(from, end)
      visit(parts.length === 0 ? rest : Buffer.concat([...parts, rest]), start, true)
      parts = []
      from = end + 1
      start = position + from
    }
    if (from < length) parts.push(bytes.subarray(from))
    position += length
  }
  if (parts.length > 0) visit(Buffer.concat(parts), start, false)
}

const none: readonly ScannedPiece[] = []

function trimEnd(bytes: Buffer): Buffer {
  let end = bytes.length
  while (end > 0 && (bytes[end - 1] === 0x20 || bytes[end - 1] === 0x0d)) end -= 1
  return bytes.subarray(0, end)
}

/** The bytes behind a UTF-8 byte order mark, which foreign writers put first. */
export function stripBom(bytes: Buffer): Buffer {
  return bytes.subarray(0, bom.length).equals(bom) ? bytes.subarray(bom.length) : bytes
}

/** Takes a line that is no record apart; `start` is added to each offset. */
export function scanPieces(bytes: Buffer, start = 0): ScannedPiece[] {
  return splitLine(bytes).map((piece) => {
    const range = { start: start + piece.start, end: start + piece.end }
    if (piece.kind !== 'whole') return { kind: piece.kind, ...range, event: undefined }
    const text = bytes.subarray(piece.start, piece.end)
    const event = parseRecord(text)?.event
    if (event !== undefined) return { kind: 'record', ...range, event }
    return { kind: 'stub', ...range, event, value: parseJson(textOf(text)) }
  })
}

/** Reads a log from its first byte to `size` and says what stands where; judges nothing. */
export async function scanLog(file: OpenFile, size: number): Promise<LogScan> {
  let header: LogScan['header'] = { start: 0, end: 0, isTerminated: false, isMarked: false, value: undefined }
  let headerBytes: Buffer = Buffer.alloc(0)
  const lines: ScannedLine[] = []
  await eachLine(file, size, (bytes, start, isTerminated) => {
    const end = start + bytes.length + (isTerminated ? 1 : 0)
    const isMarked = isTerminated && bytes.at(-1) === 0x20
    if (start === 0) {
      headerBytes = Buffer.from(trimEnd(stripBom(bytes)))
      header = { start, end, isTerminated, isMarked, value: parseJson(textOf(headerBytes)) }
      return
    }
    const record = parseRecord(bytes)
    const isBlank = record === undefined && isTerminated && trimEnd(bytes).length === 0
    const isHeader = record === undefined && !isBlank && trimEnd(bytes).equals(headerBytes)
    const pieces =
      record !== undefined || isBlank
        ? none
        : isHeader
          ? [{ kind: 'repeat' as const, start, end, event: undefined }]
          : scanPieces(bytes, start)
    // NUL bytes are no stub: a record that fills the rest of the line needs no witness.
    const [nul, behind] = pieces
    const isBehindNul = isTerminated && pieces.length === 2 && nul?.kind === 'nul' && behind?.kind === 'record'
    const found = isBehindNul ? parseRecord(bytes.subarray(behind.start - start)) : record
    lines.push({
      start,
      end,
      isTerminated,
      isMarked: isMarked && !isBlank,
      event: found?.event,
      hasNegativeZero: found?.hasNegativeZero ?? false,
      pieces: isBehindNul ? [nul] : pieces,
    })
  })
  return { size, header, lines }
}
