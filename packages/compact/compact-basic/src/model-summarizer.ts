import type {
  LanguageModelV3,
  LanguageModelV3Prompt,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import type { Summarize, SummaryRequest } from '@palimpsest/compact'
import type {
  JsonObject,
  Message,
  MessageId,
  RequestConfig,
  RequestHeader,
  Session,
  SessionEvent,
  SessionSeq,
} from '@palimpsest/session'
import { CompactBasicError } from './errors.ts'
import { readAnswer } from './read-answer.ts'
import { renderTranscript } from './transcript.ts'

/** A model of any published `@ai-sdk/*` provider package. */
export type SummaryModel = LanguageModelV4 | LanguageModelV3

/** Writes messages as a prompt: the loop's `ModelAdapter` is one, such as `languageModelAdapter()` of `@palimpsest/provider-messages`. */
export interface PromptAdapter {
  toPrompt(request: {
    /** Log and surface: they say which signed reasoning may go back. */
    readonly session: {
      readonly length: number
      eventAt(seq: number): SessionEvent | undefined
      readonly events: readonly SessionEvent[]
      readonly surface: { readonly nodes: readonly SessionSeq[] }
    }
    readonly header: RequestHeader
    readonly messages: readonly Message[]
    /** The version of the model's interface, which the prompt is written in; `v4` unless given. */
    readonly specificationVersion?: SummaryModel['specificationVersion']
  }): PromptParts | Promise<PromptParts>
}
interface PromptParts {
  readonly prompt: LanguageModelV4Prompt | LanguageModelV3Prompt
  readonly providerOptions?: SharedV4ProviderOptions
  readonly toolNames?: ReadonlyMap<string, string>
}

interface CommonOptions {
  readonly model: SummaryModel
  /** What the model is asked for; `DEFAULT_INSTRUCTIONS` unless given. */
  readonly instructions?: string
  /** Tokens of the summary. The provider's own limit unless given; a summary that reaches it is a failure. */
  readonly maxTokens?: number
  /** By provider: laid over those of the request. */
  readonly providerOptions?: SharedV4ProviderOptions
}

/**
 * `replay`: the request that the session itself would send, cut at the end of the span, with the instructions as one more
 * user message: same system prompt, same tools, same messages, so that the provider's prompt cache is hit. For the model
 * that the session talks to.
 *
 * `plain`: the span as one text, with no tools and no calls on the wire. For any model.
 */
export type ModelSummarizerOptions = CommonOptions &
  ({ readonly prefix: 'replay'; readonly adapter: PromptAdapter } | { readonly prefix: 'plain' })

/** What a model is asked to write. */
export const DEFAULT_INSTRUCTIONS: string = `Write a summary of the conversation so far. It will stand in its place: whoever reads on sees only the summary and what comes after it. Do not call tools and do not go on with the task.

Keep: what the user asked for and every constraint they named; decisions and their reasons; what was done, with names of files, functions and commands as they were written; what failed and why; the state of the work now; the open steps. Where an earlier summary is part of the conversation, carry what it says. Write plain text, as short as that allows.`

/**
 * A summariser over a model. Throws what the model throws, and `CompactBasicError` `summary/failed` for an answer that broke
 * off; the compaction then fails with `summarizer-failed` and changes nothing. SPEC 7.1.
 */
export function modelSummarizer(options: ModelSummarizerOptions): Summarize {
  const { model } = options
  return async (request) => {
    const call = options.prefix === 'plain' ? plainCall(options, request) : await replayCall(options, request)
    const { stream } = await send(model, { ...call, abortSignal: request.signal })
    const { text, usage } = await readAnswer(stream)
    return { text, provider: model.provider, model: model.modelId, ...(usage === undefined ? {} : { usage }) }
  }
}

type Reasoning = NonNullable<LanguageModelV4CallOptions['reasoning']>

type SummaryCall = Omit<LanguageModelV4CallOptions, 'prompt'> & Pick<PromptParts, 'prompt'>

/** The adapter was told the version of this model, and the prompt is of it. A V3 model knows no `reasoning`. */
async function send(
  model: SummaryModel,
  { prompt, ...call }: SummaryCall,
): Promise<{ readonly stream: Parameters<typeof readAnswer>[0] }> {
  if (model.specificationVersion === 'v4') {
    return model.doStream({ ...call, prompt: prompt as LanguageModelV4Prompt })
  }
  const { reasoning: _, ...rest } = call
  return model.doStream({ ...rest, prompt: prompt as LanguageModelV3Prompt })
}

function plainCall(options: CommonOptions, { messages }: SummaryRequest): SummaryCall {
  const { instructions = DEFAULT_INSTRUCTIONS, maxTokens, providerOptions } = options
  const text = `${instructions}\n\n# The conversation\n\n${renderTranscript(messages)}`
  return {
    prompt: [{ role: 'user', content: [{ type: 'text', text }] }],
    ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
    ...(providerOptions === undefined ? {} : { providerOptions }),
  }
}

async function replayCall(
  options: CommonOptions & { readonly adapter: PromptAdapter },
  { session, prefix }: SummaryRequest,
): Promise<SummaryCall> {
  const { model, adapter, instructions = DEFAULT_INSTRUCTIONS, maxTokens, providerOptions } = options
  const header = headerInForce(session)
  if (header === undefined) {
    throw new CompactBasicError('summary/failed', `session ${session.id} has no request/header to replay: use 'plain'`)
  }
  const { provider, modelId, specificationVersion } = model
  const config: RequestConfig = { ...header.config, provider, model: modelId }
  const messages = [...prefix, closing(instructions)]
  const exported = await adapter.toPrompt({ session, header: { ...header, config }, messages, specificationVersion })
  const tools = toolsOf(header, exported.toolNames)
  const { temperature, reasoningEffort, maxTokens: answerTokens } = config
  const maxOutputTokens = maxTokens ?? answerTokens
  const settings = config['providerOptions'] as SharedV4ProviderOptions | undefined
  return {
    prompt: exported.prompt,
    // A prompt cache is keyed by tools and reasoning too.
    ...(tools === undefined ? {} : { tools, toolChoice: { type: 'none' } }),
    ...(reasoningEffort === undefined ? {} : { reasoning: reasoningEffort as Reasoning }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    providerOptions: merged(settings, exported.providerOptions, providerOptions),
  }
}

function headerInForce(session: Session): RequestHeader | undefined {
  for (let seq = session.length - 1; seq >= 0; seq -= 1) {
    const event = session.eventAt(seq)
    if (event?.type === 'request/header') return event.data.header
  }
  return undefined
}

function closing(instructions: string): Message {
  return {
    id: 'compaction-instructions' as MessageId,
    role: 'user',
    content: [{ type: 'text', text: instructions }],
    source: { kind: 'plugin', plugin: 'compact-basic' },
  }
}

function toolsOf(
  { tools }: RequestHeader,
  names: ReadonlyMap<string, string> | undefined,
): LanguageModelV4FunctionTool[] | undefined {
  return tools?.map((tool) => {
    const name = tool['name'] as string
    return { ...(tool as JsonObject & LanguageModelV4FunctionTool), name: names?.get(name) ?? name }
  })
}

/** Later ones over earlier ones, provider by provider. */
function merged(...layers: readonly (SharedV4ProviderOptions | undefined)[]): SharedV4ProviderOptions {
  const options: SharedV4ProviderOptions = {}
  for (const layer of layers) {
    for (const [provider, members] of Object.entries(layer ?? {})) {
      options[provider] = { ...options[provider], ...members }
    }
  }
  return options
}
