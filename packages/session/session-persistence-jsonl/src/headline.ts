import { createHash } from 'node:crypto'
import { parseSessionHeader, type SessionHeader } from '@palimpsest/session'
import { promptLine, type SessionStat } from '@palimpsest/session-persistence'
import type { OpenFile } from './file-system.ts'
import { readRange } from './io.ts'
import { parseRecord, scanPieces, stripBom } from './scan.ts'

const CHUNK = 64 * 1024
/** Longer lines are not kept whole. Bytes. */
const MAX_LINE = 1024 * 1024
/** Lines and long lines in which the first prompt is looked for. */
const PROMPT_LINES = 64
const PROMPT_LONG_LINES = 8
/** How far back the last record is looked for. Bytes. */
const TAIL_BYTES = 256 * 1024 * 1024
const newline = 0x0a

interface HeadLine {
  /** The line, or its first bytes when it is longer than `MAX_LINE`. */
  readonly bytes: Buffer
  readonly isWhole: boolean
}

/** The first lines of a log. However long a line is, little of it is held. */
async function* headLines(file: OpenFile, size: number): AsyncIterable<HeadLine> {
  let kept: Buffer[] = []
  let length = 0
  for (let position = 0; position < size;) {
    const bytes = await readRange(file, position, Math.min(position + CHUNK, size))
    if (bytes.length === 0) break
    position += bytes.length
    let from = 0
    for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, from)) {
      if (length <= MAX_LINE) kept.push(bytes.subarray(from, end))
      length += end - from
      yield { bytes: Buffer.concat(kept), isWhole: length <= MAX_LINE }
      kept = []
      length = 0
      from = end + 1
    }
    if (length <= MAX_LINE) kept.push(bytes.subarray(from))
    length += bytes.length - from
  }
  if (length > 0) yield { bytes: Buffer.concat(kept), isWhole: length <= MAX_LINE }
}

function promptOf(line: HeadLine): string | undefined {
  if (!line.isWhole) {
    // Too long to parse: the writer's key order lets the text be read from the line's beginning.
    const head = line.bytes.toString('utf8', 0, CHUNK)
    const text = head.startsWith('{"type":"user/message"')
      ? /"text":"((?:[^"\\]|\\.){1,2000})/u.exec(head)?.[1]
      : undefined
    try {
      return text === undefined ? undefined : promptLine(JSON.parse(`"${text}"`) as string)
    } catch {
      return undefined
    }
  }
  const event = parseRecord(line.bytes)?.event
  if (event?.type !== 'user/message') return undefined
  const { source, content } = event.data as { source?: { kind?: unknown }; content?: unknown }
  if (source?.kind !== 'user' || !Array.isArray(content)) return undefined
  const text: unknown = (content as { type?: unknown; text?: unknown }[]).find((block) => block?.type === 'text')?.text
  return typeof text === 'string' ? promptLine(text) : undefined
}

interface Head {
  readonly header: SessionHeader
  /** End of the header line in bytes, newline included. */
  readonly end: number
  readonly firstPrompt: string | undefined
}

/** Throws `SessionError` when the header is none; undefined when its line is torn. */
async function readHead(file: OpenFile, size: number): Promise<Head | undefined> {
  let header: SessionHeader | undefined
  let end = 0
  let lines = 0
  let long = 0
  for await (const line of headLines(file, size)) {
    if (header === undefined) {
      const text = stripBom(line.bytes).toString('utf8')
      let value: unknown
      try {
        value = line.isWhole ? JSON.parse(text) : undefined
      } catch {
        return undefined
      }
      header = parseSessionHeader(value)
      end = Math.min(size, line.bytes.length + 1)
      continue
    }
    const firstPrompt = promptOf(line)
    if (firstPrompt !== undefined) return { header, end, firstPrompt }
    lines += 1
    if (!line.isWhole) long += 1
    if (lines >= PROMPT_LINES || long >= PROMPT_LONG_LINES) break
  }
  return header === undefined ? undefined : { header, end, firstPrompt: undefined }
}

interface LastRecord {
  readonly seq: number
  readonly time: number
}

const canonicalHead = /^\{"type":"(?:[^"\\]|\\.)+","seq":(\d+),"time":(-?\d+),/

async function recordOf(
  file: OpenFile,
  start: number,
  end: number,
  isTerminated: boolean,
): Promise<LastRecord | undefined> {
  if (end - start <= MAX_LINE) {
    const bytes = await readRange(file, start, end)
    const event =
      parseRecord(bytes)?.event ??
      (isTerminated ? scanPieces(bytes).findLast((piece) => piece.event !== undefined)?.event : undefined)
    return event === undefined ? undefined : { seq: event.seq, time: event.time }
  }
  const found = canonicalHead.exec((await readRange(file, start, start + 1024)).toString('utf8'))
  const last = (await readRange(file, end - 2, end)).toString('latin1').trimEnd()
  if (found === null || !isTerminated || !last.endsWith('}')) return undefined
  return { seq: Number(found[1]), time: Number(found[2]) }
}

/** Where the line that ends at `end` begins. */
async function lineStart(file: OpenFile, first: number, end: number): Promise<number> {
  for (let stop = end; stop > first; stop -= CHUNK) {
    const from = Math.max(first, stop - CHUNK)
    const at = (await readRange(file, from, stop)).lastIndexOf(newline)
    if (at !== -1) return from + at + 1
  }
  return first
}

/** The last whole record, looked for from the end backwards. */
async function readTail(file: OpenFile, first: number, size: number): Promise<LastRecord | undefined> {
  let end = size
  while (end > first && size - end <= TAIL_BYTES) {
    const isTerminated = (await readRange(file, end - 1, end))[0] === newline
    const stop = isTerminated ? end - 1 : end
    const start = await lineStart(file, first, stop)
    const record = await recordOf(file, start, stop, isTerminated)
    if (record !== undefined) return record
    end = start
  }
  return undefined
}

async function revisionOf(file: OpenFile, size: number): Promise<string> {
  const tail = await readRange(file, Math.max(0, size - 4096), size)
  return createHash('sha256').update(`${size}\n`).update(tail).digest('hex').slice(0, 32)
}

/**
 * What a listing shows of a log, from its head and tail: events are counted by the last seq. Undefined for an empty
 * log. Throws `SessionError` when the header is none of ours. SPEC 5.2.
 */
export async function readHeadline(file: OpenFile, size: number): Promise<SessionStat | undefined> {
  const head = await readHead(file, size)
  if (head === undefined) return undefined
  const last = await readTail(file, head.end, size)
  return {
    header: head.header,
    eventCount: last === undefined ? 0 : last.seq + 1,
    byteLength: size,
    updatedAt: last?.time ?? head.header.createdAt,
    revision: await revisionOf(file, size),
    ...(head.firstPrompt === undefined ? {} : { firstPrompt: head.firstPrompt }),
  }
}
