import { appendFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { AttachmentRef, SessionEvent } from '@palimpsest/session'
import type { SessionPersistence } from '@palimpsest/session-persistence'
import type { Fault, FaultFileSystem } from '@palimpsest/testkit'
import type { FileSystem } from '../../src/index.ts'
import { called, headerOf, id, logOf, openStore, said, saidAll, sha256, writeSession } from './support.ts'

/** What the user was told: so many events are durable, this attachment is, the session is gone. */
export type Promised = { readonly length: number } | { readonly attachment: AttachmentRef } | { readonly deleted: true }

interface Stage {
  /** The store's root. */
  readonly root: string
  readonly fileSystem: FileSystem
  readonly faults: FaultFileSystem<FileSystem>
  promise(promised: Promised): void
}

/** A piece of a session's life during which the power may fail. */
export interface Scenario {
  readonly name: string
  /** What is on disk, durably, before it begins. */
  readonly before?: (root: string) => Promise<void>
  readonly run: (stage: Stage) => Promise<void>
  /** Every event that may ever be stored, in order; closers are taken as they come. */
  readonly events: readonly SessionEvent[]
  /** What may be stored instead: the events of a batch that failed and gave way to another one. */
  readonly otherwise?: readonly SessionEvent[]
  /** Bytes that recovery may move but never lose. */
  readonly kept?: Buffer
}

/** Longer than a page, so that one record spans several. */
const long = 'x'.repeat(9000)
/** Of another length in pages and of other content. */
const other = 'y'.repeat(5000)
const tornBytes = Buffer.from(`{"type":"user/message","seq":2,"time":17,"data":{"id":"half`)

/** What a writer leaves that was killed between its write and its sync: bytes that every reader sees and no disk holds yet. */
async function leaveUnsynced({ fileSystem, root }: Stage, text: string): Promise<void> {
  const file = await fileSystem.open(logOf(root), 'update')
  await file.write(Buffer.from(text), 0, Buffer.byteLength(text), (await file.stat()).size)
  await file.close()
}

function refOf(bytes: Buffer): AttachmentRef {
  return { attachmentId: `sha256:${sha256(bytes)}`, mediaType: 'text/plain', bytes: bytes.length }
}

/** Named, so that a recording can tell who asked for a sync. */
async function putAttachment(store: SessionPersistence, bytes: Buffer): Promise<AttachmentRef> {
  const ref = await store.attachments(id).put(bytes, { mediaType: 'text/plain' })
  return ref
}

async function deleteSession(store: SessionPersistence): Promise<void> {
  await store.delete(id)
}

/** A batch fails, and another one takes its place: what is left of the first must not meet the second. */
async function replaceBatch({ fileSystem, root, faults, promise }: Stage, fault: Fault): Promise<void> {
  const store = openStore(root, fileSystem)
  const handle = await store.open(id, 'write')
  const active = faults.inject({ ...fault, path: (path) => basename(path) === 'session.v3.jsonl', times: 1 })
  await handle.append([said(2, long)]).catch(() => undefined)
  if (active.struck !== 1) throw new Error('the fault did not strike')
  await handle.append([said(2, other)])
  promise({ length: 3 })
  await handle.append([said(3)])
  promise({ length: 4 })
  await handle.close()
  await store.close()
}

async function appendAll(
  { fileSystem, root, promise }: Stage,
  batches: readonly (readonly SessionEvent[])[],
): Promise<void> {
  const store = openStore(root, fileSystem)
  const handle = await store.open(id, 'write')
  promise({ length: handle.stored.events.length })
  for (const batch of batches) {
    await handle.append(batch)
    promise({ length: (batch.at(-1)?.seq ?? 0) + 1 })
  }
  await handle.close()
  await store.close()
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'a session is created and appended to',
    events: [said(0), said(1, long), said(2), said(3), said(4)],
    run: async ({ fileSystem, root, promise }) => {
      const store = openStore(root, fileSystem)
      const handle = await store.create(headerOf())
      await handle.append([said(0), said(1, long)])
      promise({ length: 2 })
      await handle.append([said(2)])
      promise({ length: 3 })
      await handle.append([said(3), said(4)])
      promise({ length: 5 })
      await handle.close()
      await store.close()
    },
  },
  {
    name: 'a session is created in a root that another one has just made',
    events: saidAll(0, 1),
    run: async ({ fileSystem, root, promise }) => {
      const store = openStore(root, fileSystem)
      const first = await store.create(headerOf('first'))
      const handle = await store.create(headerOf())
      await handle.append([said(0)])
      promise({ length: 1 })
      await first.close()
      await handle.close()
      await store.close()
    },
  },
  {
    name: 'a session without events is made durable',
    events: [said(0)],
    run: async ({ fileSystem, root, promise }) => {
      const store = openStore(root, fileSystem)
      const handle = await store.create(headerOf())
      await handle.flush()
      promise({ length: 0 })
      await handle.append([said(0)])
      promise({ length: 1 })
      await handle.close()
      await store.close()
    },
  },
  {
    name: 'a stored session is opened and appended to',
    before: (root) => writeSession(root, [saidAll(0, 2)]),
    events: [said(0), said(1), said(2, long), said(3), said(4)],
    run: (stage) => appendAll(stage, [[said(2, long)], [said(3), said(4)]]),
  },
  {
    name: 'a torn tail is recovered',
    before: async (root) => {
      await writeSession(root, [saidAll(0, 2)])
      appendFileSync(logOf(root), tornBytes)
    },
    kept: tornBytes,
    events: [said(0), said(1), said(2, long), said(3)],
    run: (stage) => appendAll(stage, [[said(2, long)], [said(3)]]),
  },
  {
    name: 'a last record gets its newline',
    before: (root) => writeSession(root, [saidAll(0, 2)]),
    events: saidAll(0, 5),
    run: async (stage) => {
      await leaveUnsynced(stage, JSON.stringify(said(2)))
      await appendAll(stage, [[said(3)], [said(4)]])
    },
  },
  {
    name: 'whole records that were never acknowledged are kept',
    before: (root) => writeSession(root, [saidAll(0, 2)]),
    events: saidAll(0, 6),
    run: async (stage) => {
      await leaveUnsynced(stage, `${JSON.stringify(said(2))}\n${JSON.stringify(said(3))}\n`)
      await appendAll(stage, [[said(4)], [said(5)]])
    },
  },
  {
    name: 'an open call is closed',
    before: (root) => writeSession(root, [[said(0), called(1)]]),
    events: [said(0), called(1)],
    run: (stage) => appendAll(stage, []),
  },
  {
    name: 'an attachment is put and cited',
    before: (root) => writeSession(root, [saidAll(0, 1)]),
    events: saidAll(0, 2),
    run: async (stage) => {
      const store = openStore(stage.root, stage.fileSystem)
      for (const bytes of [Buffer.alloc(5000, 'a'), Buffer.from('b')]) {
        stage.promise({ attachment: await putAttachment(store, bytes) })
      }
      await store.close()
      await appendAll(stage, [[said(1)]])
    },
  },
  {
    name: 'an attachment is put before the first event',
    events: saidAll(0, 1),
    run: async ({ fileSystem, root, promise }) => {
      const store = openStore(root, fileSystem)
      const handle = await store.create(headerOf())
      promise({ attachment: await putAttachment(store, Buffer.from('early')) })
      await handle.append([said(0)])
      promise({ length: 1 })
      await handle.close()
      await store.close()
    },
  },
  {
    name: 'a batch is written halfway and gives way to another',
    before: (root) => writeSession(root, [saidAll(0, 2)]),
    events: [said(0), said(1), said(2, other), said(3)],
    otherwise: [said(0), said(1), said(2, long)],
    run: (stage) => replaceBatch(stage, { operation: 'write', bytes: 9100, code: 'ENOSPC' }),
  },
  {
    name: 'a batch is written, its sync fails, and it gives way to another',
    before: (root) => writeSession(root, [saidAll(0, 2)]),
    events: [said(0), said(1), said(2, other), said(3)],
    otherwise: [said(0), said(1), said(2, long)],
    run: (stage) => replaceBatch(stage, { operation: 'datasync', code: 'EIO' }),
  },
  {
    name: 'a sync fails and drops its pages, and the batch is written again',
    before: (root) => writeSession(root, [saidAll(0, 2)]),
    events: [said(0), said(1), said(2, long), said(3)],
    run: async ({ fileSystem, root, faults, promise }) => {
      const store = openStore(root, fileSystem)
      const handle = await store.open(id, 'write')
      faults.inject({
        operation: 'datasync',
        path: (path) => basename(path) === 'session.v3.jsonl',
        code: 'EIO',
        times: 1,
      })
      await handle.append([said(2, long)]).catch(() => undefined)
      await handle.append([said(2, long)])
      promise({ length: 3 })
      await handle.append([said(3)])
      promise({ length: 4 })
      await handle.close()
      await store.close()
    },
  },
  {
    name: 'a session is deleted',
    before: async (root) => {
      await writeSession(root, [saidAll(0, 2)])
      const store = openStore(root)
      await putAttachment(store, Buffer.from('a'))
      await store.close()
    },
    events: saidAll(0, 2),
    run: async ({ fileSystem, root, promise }) => {
      // As long as the session is there, its attachments are.
      promise({ attachment: refOf(Buffer.from('a')) })
      const store = openStore(root, fileSystem)
      await deleteSession(store)
      promise({ deleted: true })
      await store.close()
    },
  },
]
