import type {
  LanguageModelV3,
  LanguageModelV3Prompt,
  LanguageModelV4,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import type { Message, RequestHeader, SessionEvent, SessionSeq } from '@palimpsest/session'

/** A model of any published `@ai-sdk/*` provider package. */
export type AgentModel = LanguageModelV4 | LanguageModelV3

/** What a prompt is made of; the log is as it stands when the request leaves. */
export interface PromptRequest {
  /** Log and surface of the session: they say which signed reasoning may go back. SPEC 8. `events` is a copy of the log. */
  readonly session: {
    readonly length: number
    eventAt(seq: number): SessionEvent | undefined
    readonly events: readonly SessionEvent[]
    readonly surface: { readonly nodes: readonly SessionSeq[] }
  }
  /**
   * The header in force. `config.provider` and `config.model` are `provider` and `modelId` of the model;
   * `config.instructions` is the system prompt where the messages have none at their head.
   */
  readonly header: RequestHeader
  /** The derived messages. */
  readonly messages: readonly Message[]
  /** The version of the model's interface, which the prompt is written in; `v4` unless given. */
  readonly specificationVersion?: AgentModel['specificationVersion']
}

/** A prompt in the model's form, and the provider options that it needs. */
export interface ExportedPrompt {
  /** Of the request's `specificationVersion`: it is sent as it is. Text and calls are the same in both. */
  readonly prompt: LanguageModelV4Prompt | LanguageModelV3Prompt
  /** Laid over those of the header, provider by provider. */
  readonly providerOptions?: SharedV4ProviderOptions
  /** Names that tool definitions take on this request's wire, by the name of the session; others keep theirs. */
  readonly toolNames?: ReadonlyMap<string, string>
}

/**
 * `overflow`: the request is larger than the context. `retryable`: the same request may succeed later. `fatal`: it will
 * not.
 */
export type FailureKind = 'overflow' | 'retryable' | 'fatal'

/**
 * Everything that the loop must know of a provider. `languageModelAdapter()` of `@palimpsest/provider-messages` is one for
 * all published packages.
 */
export interface ModelAdapter {
  /** Writes the request's messages. Pure but for reading attachments: same input, same prompt. */
  toPrompt(request: PromptRequest): ExportedPrompt | Promise<ExportedPrompt>
  /** What kind of failure a thrown error or an error part is; `undefined` leaves it to the loop. */
  classifyError?(error: unknown): FailureKind | undefined
}
