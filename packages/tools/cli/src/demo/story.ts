import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SessionEvent, SessionId } from '@palimpsest/session'
import { SessionLockedError, type SessionPersistence } from '@palimpsest/session-persistence'
import { type ImportReport, fileSource, importTranscript } from '@palimpsest/transcripts'
import { CliError } from '../exit.ts'
import { keepImported } from '../import/keep.ts'
import { AttachmentSpool } from '../import/spool.ts'
import type { Io } from '../io.ts'
import { readStored } from '../store.ts'
import { SecondProcess } from './child.ts'
import { demoFileName, demoTranscript } from './transcript.ts'
import { type WriterLine, writerCommandName } from './writer.ts'

/** Where the demonstration plays. */
export interface Stage {
  readonly io: Io
  readonly store: SessionPersistence
  /** Directories that are gone afterwards. */
  readonly root: string
  readonly scratch: string
}

export interface Imported {
  readonly id: SessionId
  readonly report: ImportReport
  readonly events: readonly SessionEvent[]
}

/** Writes the made-up transcript to a file and imports it as `palimpsest import` would. */
export async function importDemo({ store, scratch }: Stage): Promise<Imported> {
  const path = join(scratch, demoFileName)
  await writeFile(path, demoTranscript())
  const spool = new AttachmentSpool()
  for await (const { session, report } of importTranscript(fileSource(path), { attachments: (id) => spool.sink(id) })) {
    const { id } = await keepImported(store, session, spool, { isAgain: false, renamed: new Map() })
    return { id, report, events: (await readStored(store, id)).events }
  }
  throw new CliError('demo/failed', 'the importer found no session in the transcript')
}

export interface Crash {
  readonly pid: number
  /** What the second process said before it was killed. */
  readonly said: readonly WriterLine[]
  /** What a writer was told that came while it ran. */
  readonly refusal: string
  /** What is on the disk after the kill, and what a repair would add. */
  readonly events: readonly SessionEvent[]
  readonly pendingClosers: readonly SessionEvent[]
}

/** Starts an agent, waits until it is inside a tool, tries to write beside it, and kills it. */
export async function crashDemo(
  { io, store, root }: Stage,
  id: SessionId,
  hear: (line: WriterLine) => void,
): Promise<Crash> {
  const writer = new SecondProcess(io, [writerCommandName, '--root', root, id])
  const said: WriterLine[] = []
  try {
    for await (const text of writer.lines()) {
      const line = JSON.parse(text) as WriterLine
      said.push(line)
      hear(line)
      if ('running' in line) break
    }
    const last = said.at(-1)
    if (last === undefined || !('running' in last)) throw writer.failed('did not get as far as its tool')
    const refusal = await refusalOf(store, id)
    await writer.kill()
    const { events, pendingClosers } = await readStored(store, id)
    return { pid: writer.pid, said, refusal, events, pendingClosers }
  } finally {
    await writer.kill()
  }
}

async function refusalOf(store: SessionPersistence, id: SessionId): Promise<string> {
  try {
    await (await store.open(id, 'write')).close()
  } catch (error) {
    if (error instanceof SessionLockedError) return error.message
    throw error
  }
  throw new CliError('demo/failed', 'two writers had one session at the same time')
}
