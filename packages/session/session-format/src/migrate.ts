import { type Hash, createHash, randomUUID } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { deriveMessagesAt, stringifyEvent, stringifyHeader } from '@palimpsest/session'
import { SessionFormatError } from './errors.ts'
import { type MigrationFiles, nodeFiles } from './files.ts'
import type { FormatNote, FormatVersion } from './log.ts'
import { type OpenFormatOptions, type OpenedFormat, openAnyVersion } from './open.ts'

export interface MigrateOptions extends OpenFormatOptions {
  /** Directory of the successor; that of the source unless given. It must exist. */
  readonly out?: string
  /** The disk unless given. */
  readonly files?: MigrationFiles
}

/** A log that was written anew in the newest version, beside the old one. SPEC 6. */
export interface Migration {
  /** File name of the source. */
  readonly source: string
  /** Version of the source. */
  readonly from: FormatVersion
  /** Session id, the same in both. */
  readonly id: string
  /** Path of the new log, relative where `path` and `out` were. */
  readonly successor: string
  readonly events: number
  /** Messages that the model sees at its end. */
  readonly messages: number
  readonly notes: readonly FormatNote[]
  /** Digest of the source, before and after: 64 hex digits. */
  readonly sha256: string
}

/**
 * Migrates a log file. The source is read and never written; the successor is verified by a full replay of its own bytes
 * before it gets its name, which is never taken from another file. A crash leaves no successor or a whole one, and at
 * worst a `.tmp` file. Throws what `openAnyVersion` throws, `SessionFormatError` `format/ours`, `format/exists` or
 * `source/changed`, and the errors of the file system. SPEC 6.
 */
export async function migrateFile(path: string, options: MigrateOptions = {}): Promise<Migration> {
  const { out = dirname(path), files = nodeFiles } = options
  const source = basename(path)
  const successor = join(out, successorName(source))
  const digest = createHash('sha256')
  const opened = await openAnyVersion({ name: source, bytes: () => hashed(files.read(path), digest) }, options)
  if (opened.isOurs)
    throw new SessionFormatError(
      'format/ours',
      `${source}: a log of this library: open it, there is nothing to migrate`,
    )
  if (await files.isTaken(successor)) throw exists(successor)
  const sha256 = digest.digest('hex')
  // A name that is short, however long that of the successor is.
  const temporary = join(out, `.${randomUUID()}.tmp`)
  try {
    await write(files, temporary, opened)
    await requireSame(files, temporary, opened, options)
    if ((await digestOf(files.read(path))) !== sha256)
      throw new SessionFormatError(
        'source/changed',
        `${source}: it was written to meanwhile: migrate it when nobody writes`,
      )
    await publish(files, temporary, successor)
  } finally {
    // Its second name, or what a failure left: to be without it is only tidiness.
    await files.unlink(temporary).catch(() => undefined)
  }
  const { from, header, events, notes } = opened
  const messages = deriveMessagesAt(events, events.length - 1).length
  return { source, from, id: header.id, successor, events: events.length, messages, notes, sha256 }
}

/** `session.v2.jsonl` and `session.jsonl` become `session.palimpsest.v3.jsonl`. */
function successorName(source: string): string {
  return `${source.replace(/\.jsonl$/, '').replace(/\.v\d+$/, '')}.palimpsest.v3.jsonl`
}

const CHUNK = 1 << 20

/** One batch, so one commit mark: the space before the last newline. SPEC 5.2. */
async function write(files: MigrationFiles, path: string, { header, events }: OpenedFormat): Promise<void> {
  const file = await files.create(path)
  try {
    let text = `${stringifyHeader(header)}\n`
    for (const [at, event] of events.entries()) {
      text += `${stringifyEvent(event)}${at === events.length - 1 ? ' ' : ''}\n`
      if (text.length < CHUNK) continue
      await file.write(Buffer.from(text))
      text = ''
    }
    await file.write(Buffer.from(text))
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Replays the written bytes, and finds in them what was to be written, down to the messages that the model sees. */
async function requireSame(
  files: MigrationFiles,
  path: string,
  wanted: OpenedFormat,
  options: OpenFormatOptions,
): Promise<void> {
  const written = await openAnyVersion({ name: basename(path), bytes: () => files.read(path) }, options)
  const last = wanted.events.length - 1
  const isSame =
    isDeepStrictEqual(written.header, wanted.header) &&
    isDeepStrictEqual(written.events, wanted.events) &&
    isDeepStrictEqual(deriveMessagesAt(written.events, last), deriveMessagesAt(wanted.events, last))
  if (!isSame) throw new SessionFormatError('format/refused', 'the written log does not replay as it was migrated')
}

async function publish(files: MigrationFiles, temporary: string, successor: string): Promise<void> {
  try {
    await files.link(temporary, successor)
  } catch (error) {
    if (error instanceof Error && (error as NodeJS.ErrnoException).code === 'EEXIST') throw exists(successor)
    throw error
  }
  await files.syncDirectory(dirname(successor))
}

function exists(successor: string): SessionFormatError {
  return new SessionFormatError('format/exists', `${successor} is there already: it is left alone`)
}

async function* hashed(chunks: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    hash.update(chunk)
    yield chunk
  }
}

async function digestOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of chunks) hash.update(chunk)
  return hash.digest('hex')
}
