import { createHash } from 'node:crypto'
import type { AttachmentRef, SessionId } from '@palimpsest/session'
import type { AttachmentMeta, AttachmentStore } from '@palimpsest/session-persistence'

/**
 * Keeps the attachments of an import until its sessions exist. An importer names the bytes before it hands over the
 * header that a session is created with.
 */
export class AttachmentSpool {
  readonly #kept = new Map<SessionId, Map<string, { readonly bytes: Uint8Array; readonly meta: AttachmentMeta }>>()

  sink(id: SessionId): Pick<AttachmentStore, 'put'> {
    const kept = this.#kept.get(id) ?? new Map<string, { bytes: Uint8Array; meta: AttachmentMeta }>()
    this.#kept.set(id, kept)
    return {
      put: async (bytes: Uint8Array, meta: AttachmentMeta): Promise<AttachmentRef> => {
        const attachmentId = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
        kept.set(attachmentId, { bytes, meta })
        return { ...meta, attachmentId, bytes: bytes.length }
      },
    }
  }

  /** Makes the attachments of one session durable and forgets them. */
  async moveTo(store: AttachmentStore, id: SessionId): Promise<void> {
    for (const { bytes, meta } of this.#kept.get(id)?.values() ?? []) await store.put(bytes, meta)
    this.#kept.delete(id)
  }
}
