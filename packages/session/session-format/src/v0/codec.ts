import { isSessionSeq } from '@palimpsest/session'
import type { Row } from '../framing.ts'
import { parseHeader } from '../header.ts'
import type { FormatLog, ReadOptions } from '../log.ts'
import { readEvents } from '../rows.ts'

/** Reads a log of version 0: chunks are events of their own, a run of them may be packed in one row. SPEC 6. */
export function readV0(header: Row, rows: AsyncIterable<Row>, options: ReadOptions): FormatLog {
  const parsed = parseHeader(header, options, { seedLength: isSessionSeq })
  return { header: parsed, events: readEvents(rows, parsed, { isPacked: true }, options) }
}
