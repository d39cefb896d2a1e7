import type { AttachmentRef, SessionEvent } from '@palimpsest/session'
import type { AttachmentStore } from '@palimpsest/session-persistence'

function isRef(value: unknown): value is AttachmentRef {
  return (
    typeof value === 'object' && value !== null && typeof (value as Partial<AttachmentRef>).attachmentId === 'string'
  )
}

/** Every attachment that a log cites, once, with the first event that cites it. */
export function attachmentsOf(
  events: readonly SessionEvent[],
): Map<string, { readonly ref: AttachmentRef; readonly seq: number }> {
  const found = new Map<string, { ref: AttachmentRef; seq: number }>()
  for (const event of events) {
    const open: unknown[] = [event.data]
    for (let value = open.pop(); value !== undefined; value = open.pop()) {
      if (typeof value !== 'object' || value === null) continue
      const { attachment } = value as { attachment?: unknown }
      if (isRef(attachment) && !found.has(attachment.attachmentId)) {
        found.set(attachment.attachmentId, { ref: attachment, seq: event.seq })
      }
      for (const member of Object.values(value)) if (typeof member === 'object' && member !== null) open.push(member)
    }
  }
  return found
}

/** The bytes of all attachments of a log, for the exporters, which wait for nothing. */
export async function loadImages(
  events: readonly SessionEvent[],
  store: AttachmentStore,
): Promise<(ref: AttachmentRef) => Uint8Array | undefined> {
  const loaded = new Map<string, Uint8Array>()
  for (const [id, { ref }] of attachmentsOf(events)) {
    const bytes = await store.get(ref)
    if (bytes !== undefined) loaded.set(id, bytes)
  }
  return (ref) => loaded.get(ref.attachmentId)
}
