import type { Row } from '../framing.ts'
import type { FormatLog, ReadOptions } from '../log.ts'
import { readV0 } from '../v0/codec.ts'

/** Reads a log of version 1, whose rows and header are those of version 0. SPEC 6. */
export function readV1(header: Row, rows: AsyncIterable<Row>, options: ReadOptions): FormatLog {
  return readV0(header, rows, options)
}
