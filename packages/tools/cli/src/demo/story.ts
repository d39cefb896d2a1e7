import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Message, Session, type SessionEvent, type SessionId, explain } from '@palimpsest/session'
import { SessionLockedError, type SessionPersistence } from '@palimpsest/session-persistence'
import { type ImportReport, fileSource, importTranscript } from '@palimpsest/transcripts'
import { checkSession } from '../checks/session.ts'
import { CliError } from '../exit.ts'
import { keepImported } from '../import/keep.ts'
import { AttachmentSpool } from '../import/spool.ts'
import type { Io } from '../io.ts'
import { readStored } from '../store.ts'
import { allEvents } from '../vocabulary.ts'
import { SecondProcess } from './child.ts'
import { compactByHand } from './compact.ts'
import { demoFileName, demoTranscript } from './transcript.ts'
import { writerCommandName } from './writer.ts'

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
  /** What the second process said was durable before it was killed. */
  readonly acknowledged: readonly { readonly seq: number; readonly type: string }[]
  /** What a writer was told that came while it ran. */
  readonly refusal: string
  /** What is on the disk after the kill, and what a repair would add. */
  readonly events: readonly SessionEvent[]
  readonly pendingClosers: readonly SessionEvent[]
}

/** Starts a writer, waits until it is inside a tool call, tries to write beside it, and kills it. */
export async function crashDemo(
  { io, store, root }: Stage,
  id: SessionId,
  hear: (line: Crash['acknowledged'][number]) => void,
): Promise<Crash> {
  const writer = new SecondProcess(io, [writerCommandName, '--root', root, id])
  const acknowledged: Crash['acknowledged'][number][] = []
  try {
    for await (const line of writer.lines()) {
      const event = JSON.parse(line) as { seq: number; type: string }
      acknowledged.push(event)
      hear(event)
      if (event.type === 'tool/call') break
    }
    if (acknowledged.at(-1)?.type !== 'tool/call') throw writer.failed('did not get as far as its tool call')
    const refusal = await refusalOf(store, id)
    await writer.kill()
    const { events, pendingClosers } = await readStored(store, id)
    return { pid: writer.pid, acknowledged, refusal, events, pendingClosers }
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

export interface Ending {
  readonly closers: readonly SessionEvent[]
  readonly replacement: SessionEvent
  readonly covers: number
  readonly origins: number
  readonly events: readonly SessionEvent[]
  /** SHA-256 of the derived messages, here and in a process that read them from disk. */
  readonly live: string
  readonly replayed: string
  readonly isSound: boolean
}

/** Recovers the session, compacts it, and has a second process derive the messages from disk. */
export async function endDemo(
  { io, store, root }: Stage,
  id: SessionId,
  summary: string,
  hear: (closers: readonly SessionEvent[]) => void,
): Promise<Ending> {
  const handle = await store.open(id, 'write')
  try {
    const closers = handle.stored.recovered.closers.flatMap((seq) => handle.stored.events[seq] ?? [])
    hear(closers)
    const session = Session.restore(handle.stored, { vocabulary: allEvents, unknown: 'keep' })
    const replacement = compactByHand(session, summary)
    await handle.append([replacement])
    const output = await new SecondProcess(io, ['messages', id, '--json', '--root', root]).output()
    const { messages } = JSON.parse(output) as { messages: readonly Message[] }
    const { shadows, origins } = explain(session.events, replacement.seq)
    return {
      closers,
      replacement,
      covers: shadows.length,
      origins: origins.length,
      events: session.events,
      live: digestOf(session.deriveMessages()),
      replayed: digestOf(messages),
      isSound: (await checkSession(store, id)).every(({ severity }) => severity === 'info'),
    }
  } finally {
    await handle.close()
  }
}

function digestOf(messages: readonly Message[]): string {
  return createHash('sha256').update(JSON.stringify(messages)).digest('hex')
}
