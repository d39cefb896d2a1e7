import type { Finding, SessionEvent } from '@palimpsest/session'
import type { AttachmentStore } from '@palimpsest/session-persistence'
import { attachmentsOf } from '../attachments.ts'
import { argument } from '../render/text.ts'

/** Attachments that are not there, or are no longer what the log says. SPEC 2.4. */
export async function checkAttachments(
  events: readonly SessionEvent[],
  store: AttachmentStore,
  importedFrom: string | undefined,
): Promise<Finding[]> {
  const fix =
    importedFrom === undefined
      ? 'put the file back; until then it is exported as a placeholder'
      : `palimpsest import ${argument(importedFrom)}: importing the source again puts its attachments back`
  const findings: Finding[] = []
  for (const { ref, seq } of attachmentsOf(events).values()) {
    if ((await store.get(ref)) !== undefined) continue
    const isThere = await store.has(ref)
    findings.push({
      code: isThere ? 'attachment/wrong' : 'attachment/missing',
      severity: 'warning',
      seq: seq as SessionEvent['seq'],
      message: `event ${seq} cites ${ref.attachmentId} (${ref.mediaType}), ${isThere ? 'whose bytes are no longer what they were' : 'which is not there'}`,
      fix,
    })
  }
  return findings
}
