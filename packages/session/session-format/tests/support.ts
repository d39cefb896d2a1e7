import { SessionFormatError } from '../src/errors.ts'
import type { EdgeContext, FormatEvent, FormatHeader, FormatLog, FormatNote, ReadOptions } from '../src/log.ts'
import { edgeFrom0 } from '../src/edges/from-0.ts'
import { edgeFrom1 } from '../src/edges/from-1.ts'
import { type Row, readRows } from '../src/framing.ts'
import { deepSeekHarnessPack } from '../src/packs/deepseek-harness.ts'
import { readV0 } from '../src/v0/codec.ts'
import { type OldLog, type WrittenAs, bytesOf } from './fixtures.ts'

/** A log with its events at hand, and what was noted on the way. */
export interface ReadLog {
  readonly header: FormatHeader
  readonly events: readonly FormatEvent[]
  readonly notes: readonly FormatNote[]
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

/** The log of version 0 or 1 in these bytes. */
export async function read(bytes: AsyncIterable<Uint8Array>, options: ReadOptions = {}): Promise<ReadLog> {
  const notes: FormatNote[] = []
  const note = (found: FormatNote): void => void notes.push(found)
  const rows = readRows(bytes, note)
  const first = await rows.next()
  const { header, events } = readV0(first.value as Row, rows, { ...options, note })
  return { header, events: await collect(events), notes }
}

export async function readOld(log: OldLog, as: WrittenAs = {}): Promise<ReadLog> {
  return read(bytesOf(log.rows(as)), { normalised: as.bare === true })
}

/** The log as one of version 2. */
export async function migrateOld(log: OldLog, as: WrittenAs = {}): Promise<ReadLog> {
  const source = await readOld(log, as)
  const notes = [...source.notes]
  const context: EdgeContext = { packs: [deepSeekHarnessPack], note: (note) => void notes.push(note) }
  const v1 = edgeFrom0.migrate(logOf(source), context)
  const { header, events } = edgeFrom1.migrate(v1, context)
  return { header, events: await collect(events), notes }
}

export function logOf({ header, events }: Pick<ReadLog, 'header' | 'events'>): FormatLog {
  return {
    header,
    events: (async function* () {
      yield* events
    })(),
  }
}

/** The error that the work ends with. Fails where it ends well, or with one of another class. */
export async function refusal(work: Promise<unknown>): Promise<SessionFormatError> {
  try {
    await work
  } catch (error) {
    if (error instanceof SessionFormatError) return error
    throw error
  }
  throw new Error('nothing was refused')
}
