import {
  type AttachmentRef,
  type Message,
  type Session,
  type StoredSession,
  deriveMessagesAt,
} from '@palimpsest/session'
import {
  type ExportReport,
  intactThrough,
  toAnthropic,
  toDeepSeek,
  toOpenAiChat,
  toOpenAiResponses,
  toUiMessages,
} from '@palimpsest/provider-messages'
import {
  type TranscriptExport,
  type TranscriptExportOptions,
  exportClaudeCode,
  exportCodex,
  exportPi,
} from '@palimpsest/transcripts'

export const providerFormats = ['anthropic', 'openai-chat', 'openai-responses', 'deepseek', 'ui-messages'] as const
export type ProviderFormat = (typeof providerFormats)[number]

export interface ProviderExport {
  /** Members of a request body. */
  readonly body: object
  readonly report: Pick<ExportReport, 'notes'>
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
  const intact = model === undefined || at !== undefined ? {} : { intactThrough: intactThrough(session) }
  const options = { image, ...(model === undefined ? {} : { model }), ...intact }
  const { report, ...body } = writers[format](messages, options)
  return { body: model === undefined ? body : { model, ...body }, report }
}

interface WriterOptions {
  readonly image: ProviderExportOptions['image']
  readonly model?: string
  readonly intactThrough?: number
}

const writers = {
  anthropic: toAnthropic,
  'openai-chat': (messages, { image }) => toOpenAiChat(messages, { image }),
  'openai-responses': (messages, options) => {
    return toOpenAiResponses(messages, { ...options, provider: responsesProvider(messages) })
  },
  deepseek: (messages, { image }) => toDeepSeek(messages, { image }),
  'ui-messages': (messages, { image }) => toUiMessages(messages, { image }),
} satisfies Record<
  ProviderFormat,
  (messages: readonly Message[], options: WriterOptions) => { readonly report: Pick<ExportReport, 'notes'> }
>

/** The provider of Responses that spoke last: its reasoning goes back to it alone. */
export function responsesProvider(messages: readonly Message[]): string {
  const own = messages.flatMap(({ source }) => (source.kind === 'model' ? [source.provider] : []))
  return own.findLast((provider) => provider.endsWith('.responses')) ?? 'openai.responses'
}

/** Agents whose session files can be written. */
export const agentFormats = ['claude-code', 'codex', 'pi'] as const
export type AgentFormat = (typeof agentFormats)[number]

const files = { 'claude-code': exportClaudeCode, codex: exportCodex, pi: exportPi } satisfies Record<
  AgentFormat,
  (session: StoredSession, options: TranscriptExportOptions) => TranscriptExport
>

/** What is on the surface as a session file of another agent. SPEC 8. */
export function exportFile(
  format: AgentFormat,
  { header, events, inheritedEventCount }: Session,
  options: TranscriptExportOptions,
): TranscriptExport {
  return files[format]({ header, events, inheritedEventCount }, options)
}
