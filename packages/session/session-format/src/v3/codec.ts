import type { Row } from '../framing.ts'
import type { FormatLog, ReadOptions } from '../log.ts'
import { readV2 } from '../v2/codec.ts'

/** Reads a log of version 3 that is not ours: its rows and header are those of version 2. SPEC 6. */
export function readV3(header: Row, rows: AsyncIterable<Row>, options: ReadOptions): FormatLog {
  return readV2(header, rows, options)
}
