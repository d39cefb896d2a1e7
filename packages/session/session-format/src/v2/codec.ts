import { SessionFormatError } from '../errors.ts'
import type { Row } from '../framing.ts'
import { parseHeader } from '../header.ts'
import type { FormatLog, ReadOptions } from '../log.ts'
import { readEvents } from '../rows.ts'

/** Reads a log of version 2: one event per row, streams inside their messages, `isSeeded` in the header. SPEC 6. */
export function readV2(header: Row, rows: AsyncIterable<Row>, options: ReadOptions): FormatLog {
  const parsed = parseHeader(header, options)
  if (typeof parsed['isSeeded'] !== 'boolean') {
    const { line } = header
    throw new SessionFormatError('format/not-a-log', `line ${line}: the header's isSeeded is missing or invalid`, {
      line,
    })
  }
  return { header: parsed, events: readEvents(rows, parsed, { isPacked: false }, options) }
}
