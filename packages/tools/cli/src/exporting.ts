import { type AttachmentRef, type Message, type Session, deriveMessagesAt } from '@palimpsest/session'
import { type ExportReport, intactThrough, toAnthropic, toOpenAiChat } from '@palimpsest/provider-messages'

export const providerFormats = ['anthropic', 'openai-chat'] as const
export type ProviderFormat = (typeof providerFormats)[number]

export interface ProviderExport {
  /** Members of a request body. */
  readonly body: object
  readonly report: ExportReport
}

export interface ProviderExportOptions {
  readonly image: (ref: AttachmentRef) => Uint8Array | undefined
  /** What the model saw right after this event; now unless given. */
  readonly at?: number
  /** Model the request goes to: without it no signed reasoning goes back. */
  readonly model?: string
}

/** The derived messages in the form of a provider. Throws `ProviderMessagesError`. SPEC 8. */
export function exportTo(
  format: ProviderFormat,
  session: Session,
  { image, at, model }: ProviderExportOptions,
): ProviderExport {
  const messages: readonly Message[] =
    at === undefined ? session.deriveMessages() : deriveMessagesAt(session.events, at)
  if (format === 'openai-chat') {
    const { report, ...body } = toOpenAiChat(messages, { image })
    return { body, report }
  }
  const signed = model === undefined || at !== undefined ? {} : { model, intactThrough: intactThrough(session) }
  const { report, ...body } = toAnthropic(messages, { image, ...signed })
  return { body: model === undefined ? body : { model, ...body }, report }
}
