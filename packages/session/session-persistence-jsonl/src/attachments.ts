import { createHash } from 'node:crypto'
import type { AttachmentRef } from '@palimpsest/session'
import { PersistenceError, type AttachmentMeta, type AttachmentStore } from '@palimpsest/session-persistence'
import type { FileSystem } from './file-system.ts'
import {
  attempt,
  codeOf,
  ensureDirectory,
  readRange,
  requireDirectory,
  statIfAny,
  temporaryName,
  tidy,
  withFile,
  writeWhole,
} from './io.ts'
import { ATTACHMENTS_NAME, within } from './paths.ts'

/** Finds the session's directory, relative to the root. Throws `session/not-found`. */
export type Locate = () => Promise<string>

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The digest of a reference. Throws `attachment/invalid`. */
function digestIn(ref: AttachmentRef): string {
  const digest = /^sha256:([0-9a-f]{64})$/.exec(ref.attachmentId)?.[1]
  if (digest === undefined)
    throw new PersistenceError(
      'attachment/invalid',
      `${JSON.stringify(ref.attachmentId)} is no attachment id: expected sha256: and 64 hex digits`,
    )
  return digest
}

/** Attachments of one session, in `attachments/sha256/<first two digits>/<digest>`. SPEC 2.4, 5.2. */
export function attachmentFiles(fs: FileSystem, root: string, locate: Locate): AttachmentStore {
  const folders = (directory: string, digest: string): string[] =>
    [[], ['sha256'], ['sha256', digest.slice(0, 2)]].map((rest) => within(root, directory, ATTACHMENTS_NAME, ...rest))

  const read = async (directory: string, digest: string): Promise<Buffer | undefined> => {
    for (const folder of folders(directory, digest)) {
      const stat = await statIfAny(fs, folder)
      if (stat === undefined) return undefined
      requireDirectory(stat, ATTACHMENTS_NAME)
    }
    try {
      const path = within(root, directory, ATTACHMENTS_NAME, 'sha256', digest.slice(0, 2), digest)
      const bytes = await withFile(await fs.open(path, 'read'), async (file) =>
        readRange(file, 0, (await file.stat()).size),
      )
      return digestOf(bytes) === digest ? bytes : undefined
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    }
  }

  const write = async (directory: string, digest: string, bytes: Uint8Array): Promise<void> => {
    const path = within(root, directory, ATTACHMENTS_NAME, 'sha256', digest.slice(0, 2), digest)
    const aside = temporaryName(path)
    try {
      await withFile(await fs.open(aside, 'create'), async (file) => {
        await writeWhole(file, bytes, 0)
        await file.sync()
      })
      // What has this name already is the same bytes, or a wreck that gives way.
      await fs.rename(aside, path)
    } catch (error) {
      await tidy(fs, aside)
      throw error
    }
  }

  return {
    put: (bytes: Uint8Array, meta: AttachmentMeta) =>
      attempt('io/write', 'an attachment was not stored', async () => {
        if (typeof meta.mediaType !== 'string' || meta.mediaType === '')
          throw new PersistenceError('attachment/invalid', 'an attachment needs a media type, such as image/png')
        const digest = digestOf(bytes)
        const directory = await locate()
        const made = folders(directory, digest)
        for (const folder of made) await ensureDirectory(fs, folder, ATTACHMENTS_NAME)
        if ((await read(directory, digest)) === undefined) await write(directory, digest, bytes)
        // Also for bytes that were there: whoever put them may have died before the names were durable.
        for (const folder of [...made].reverse()) await fs.syncDirectory(folder)
        await fs.syncDirectory(within(root, directory))
        return { ...meta, attachmentId: `sha256:${digest}`, bytes: bytes.length }
      }),
    get: (ref) =>
      attempt('io/read', 'an attachment was not read', async () => {
        const bytes = await read(await locate(), digestIn(ref))
        return bytes?.length === ref.bytes ? bytes : undefined
      }),
    has: (ref) =>
      attempt('io/read', 'an attachment was not read', async () => {
        const digest = digestIn(ref)
        const stat = await statIfAny(
          fs,
          within(root, await locate(), ATTACHMENTS_NAME, 'sha256', digest.slice(0, 2), digest),
        )
        return stat?.kind === 'file' && stat.size === ref.bytes
      }),
  }
}
