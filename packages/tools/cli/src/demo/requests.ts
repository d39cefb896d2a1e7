import { createHash } from 'node:crypto'
import { languageModelAdapter } from '@palimpsest/provider-messages'
import { type SessionEvent, reconstructRequest, surfaceAt } from '@palimpsest/session'
import type { AttachmentStore } from '@palimpsest/session-persistence'
import type { ModelCall } from './scripted-model.ts'

/** What a model is given, as one digest: the prompt and the tools. */
export function digestOfCall({ prompt, tools }: Pick<ModelCall, 'prompt'> & { readonly tools?: unknown }): string {
  return createHash('sha256').update(JSON.stringify({ prompt, tools })).digest('hex')
}

/** The same digests, in order, of the requests that a log has; from the log and its attachments alone. */
export async function digestsFromLog(
  events: readonly SessionEvent[],
  attachments: AttachmentStore,
): Promise<readonly string[]> {
  const adapter = languageModelAdapter({ attachments })
  const digests: string[] = []
  for (const event of events) {
    if (event.type !== 'request/start') continue
    const { header, messages } = reconstructRequest(events, event.seq)
    const { throughSeq } = event.data
    const log = { events: events.slice(0, throughSeq + 1), surface: { nodes: surfaceAt(events, throughSeq) } }
    const { prompt } = await adapter.toPrompt({ session: log, header, messages })
    digests.push(digestOfCall({ prompt, tools: header.tools }))
  }
  return digests
}
