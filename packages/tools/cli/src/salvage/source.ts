import { createHash } from 'node:crypto'
import { lstat, open, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type SessionId, sessionId } from '@palimpsest/session'
import { type AttachmentStore, PersistenceError, type SessionPersistence } from '@palimpsest/session-persistence'
import { type DamagedLog, jsonlPersistence, readDamagedLog } from '@palimpsest/session-persistence-jsonl'
import { CliError } from '../exit.ts'
import { argument } from '../render/text.ts'
import { resolveSession } from '../store.ts'

const LOG_NAME = 'session.v3.jsonl'

/** A damaged log, and where what belongs to it is. */
export interface SalvageSource {
  /** Of the session that its place or its header names; of a file without a header, the file's name. */
  readonly id: SessionId
  /** Absolute. */
  readonly path: string
  readonly log: DamagedLog
  readonly attachments: Pick<AttachmentStore, 'get'>
  /** Whether the log is that of a session of the store, which may open as it is. */
  readonly isStored: boolean
}

/**
 * What a name or a path means: a whole id of the store, else a file, else the begin of an id. Throws `CliError`
 * `source/unreadable` and the codes of `resolveSession`; `PersistenceError` `header/invalid` for a file of another
 * program, and the codes of `readDamagedLog`.
 */
export async function findSource(store: SessionPersistence, root: string, name: string): Promise<SalvageSource> {
  if (name !== 'last' && name !== '') {
    try {
      return await storedSource(store, root, sessionId(name))
    } catch (error) {
      if (!(error instanceof PersistenceError) || error.code !== 'session/not-found') throw error
    }
    if (/[/\\]|\.jsonl$/.test(name) || (await stat(name).catch(() => undefined))?.isFile() === true)
      return fileSource(name)
  }
  return storedSource(store, root, await resolveSession(store, name))
}

/** A session whose header cannot be read is in no list: so a whole id is tried as it is. */
async function storedSource(store: SessionPersistence, root: string, id: SessionId): Promise<SalvageSource> {
  const log = await readDamagedLog({ root, id })
  return { id, path: join(root, log.path), log, attachments: lenient(store.attachments(id)), isStored: true }
}

async function fileSource(name: string): Promise<SalvageSource> {
  const found = await stat(name).catch((cause: unknown) => {
    const { code } = cause as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'there is no such file' : `the system answered ${code}`
    throw new CliError('source/unreadable', `${name}: ${why}`, { cause })
  })
  if (!found.isFile()) throw new CliError('source/unreadable', `${name}: it is no regular file`)
  // A link is followed here, since the user named it; the store follows none.
  const path = await realpath(name)
  const log = await readDamagedLog({ file: (await lstat(name)).isSymbolicLink() ? path : name })
  const [first] = log.parts
  if (first?.kind === 'header' && first.fault === 'no-format') {
    const file = argument(name)
    throw new PersistenceError(
      'header/invalid',
      `${name} is a log of another program: \`palimpsest migrate ${file}\` reads those of deepseek-harness, \`palimpsest import ${file}\` those of other agents`,
    )
  }
  const id = sessionId(log.header?.id ?? basename(path, '.jsonl'))
  const file = { id, path, log, isStored: false }
  if (basename(path) !== LOG_NAME) return { ...file, attachments: { get: () => Promise.resolve(undefined) } }
  // A log in a store of its own has its attachments beside it.
  const store = jsonlPersistence({ root: dirname(dirname(dirname(path))) })
  return { ...file, attachments: lenient(store.attachments(id)) }
}

/** What a damaged log cites may be no attachment, or not be there. */
function lenient(store: AttachmentStore): Pick<AttachmentStore, 'get'> {
  return {
    get: async (ref) => {
      try {
        return await store.get(ref)
      } catch (error) {
        if (
          error instanceof PersistenceError &&
          (error.code === 'attachment/invalid' || error.code === 'session/not-found')
        )
          return undefined
        throw error
      }
    },
  }
}

/** SHA-256 of the first `size` bytes, in hex. */
export async function digestOf(path: string, size: number): Promise<string> {
  const hash = createHash('sha256')
  const file = await open(path, 'r')
  try {
    const buffer = Buffer.alloc(1 << 20)
    for (let at = 0; at < size;) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, size - at), at)
      if (bytesRead === 0) break
      hash.update(buffer.subarray(0, bytesRead))
      at += bytesRead
    }
  } finally {
    await file.close()
  }
  return hash.digest('hex')
}
