import type { LanguageModelV3Prompt, LanguageModelV4Prompt, SharedV4ProviderOptions } from '@ai-sdk/provider'
import type { AttachmentRef, ContentBlock, Json, Message, RequestHeader } from '@palimpsest/session'
import type { ImageLookup } from '../shared/images.ts'
import { intactThrough } from '../shared/intact-prefix.ts'
import type { SurfacedLog } from '../shared/intact-prefix.ts'
import { isRecord, member } from '../shared/json-reader.ts'
import { toWellFormed } from '../shared/unicode.ts'
import { classifyError } from './classify-error.ts'
import type { FailureKind } from './classify-error.ts'
import { toLanguageModelPrompt } from './export.ts'
import type { RequestProviderOptions } from './request-options.ts'
import type { LanguageModelLimits } from './target.ts'
import { toV3Prompt } from './v3-prompt.ts'

export interface LanguageModelAdapterOptions {
  /** Where the bytes of images are; an attachment store of a persistence is one. */
  readonly attachments?: { get(ref: AttachmentRef): Promise<Uint8Array | undefined> } | undefined
  /** Bytes at hand, asked before `attachments`. */
  readonly image?: ImageLookup | undefined
  /** Whether models of DeepSeek take images. By their names unless given. */
  readonly vision?: boolean | undefined
  /** Sizes other than those of the model's provider. */
  readonly limits?: Partial<LanguageModelLimits> | undefined
}

/** What a request is made of. `PromptRequest` of `@palimpsest/agent-loop` is one. */
export interface LanguageModelRequest {
  readonly session: SurfacedLog
  readonly header: RequestHeader
  readonly messages: readonly Message[]
  /** `specificationVersion` of the model: the interface that the prompt is written for. `v4` unless given. */
  readonly specificationVersion?: 'v3' | 'v4'
}

/** A prompt of one version of the interface, with what it needs of the options beside it. */
interface WrittenPrompt<Prompt> {
  readonly prompt: Prompt
  readonly providerOptions?: SharedV4ProviderOptions
  readonly toolNames: ReadonlyMap<string, string>
}

/** What a loop must know of a provider. It fits `ModelAdapter` of `@palimpsest/agent-loop`. */
export interface LanguageModelAdapter {
  /**
   * Writes the request's messages for the model that the header names, in its version of the interface. Rejects with `ProviderMessagesError` on a list
   * that no session derives and on one that is over budget, and with whatever reading an attachment throws.
   */
  toPrompt(
    request: LanguageModelRequest & { readonly specificationVersion?: 'v4' },
  ): Promise<WrittenPrompt<LanguageModelV4Prompt>>
  toPrompt(request: LanguageModelRequest): Promise<WrittenPrompt<LanguageModelV4Prompt | LanguageModelV3Prompt>>
  classifyError(error: unknown): FailureKind | undefined
}

/** The adapter between sessions and the published `@ai-sdk/*` packages. SPEC 7.4, 8. */
export function languageModelAdapter(options: LanguageModelAdapterOptions = {}): LanguageModelAdapter {
  type V4Request = LanguageModelRequest & { readonly specificationVersion?: 'v4' }
  function toPrompt(request: V4Request): Promise<WrittenPrompt<LanguageModelV4Prompt>>
  function toPrompt(
    request: LanguageModelRequest,
  ): Promise<WrittenPrompt<LanguageModelV4Prompt | LanguageModelV3Prompt>>
  async function toPrompt(
    request: LanguageModelRequest,
  ): Promise<WrittenPrompt<LanguageModelV4Prompt | LanguageModelV3Prompt>> {
    const written = await v4Prompt(request, options)
    return request.specificationVersion === 'v3' ? { ...written, prompt: toV3Prompt(written.prompt) } : written
  }
  return { toPrompt, classifyError }
}

async function v4Prompt(
  { session, header, messages }: LanguageModelRequest,
  options: LanguageModelAdapterOptions,
): Promise<WrittenPrompt<LanguageModelV4Prompt>> {
  // Before the first wait: the log may go on while attachments are read.
  const through = intactThrough(session)
  const image = await imageLookup(messages, options)
  const { config, tools = [] } = header
  const { prompt, providerOptions, toolNames } = toLanguageModelPrompt(messages, {
    provider: config.provider,
    model: config.model,
    providerOptions: asProviderOptions(config['providerOptions']),
    reasoningEffort: config.reasoningEffort,
    intactThrough: through,
    tools: tools.flatMap(nameOf),
    image,
    vision: options.vision,
    limits: options.limits,
  })
  return {
    prompt: instructed(prompt, config['instructions']),
    toolNames,
    ...(providerOptions === undefined ? {} : { providerOptions }),
  }
}

/** The prompt under the system prompt of a session whose surface has no head to hold it: its header does. SPEC 3.4. */
function instructed(prompt: LanguageModelV4Prompt, instructions: unknown): LanguageModelV4Prompt {
  if (typeof instructions !== 'string' || instructions === '') return prompt
  const [first, ...rest] = prompt
  const text = toWellFormed(instructions)
  if (first?.role !== 'system') return [{ role: 'system', content: text }, ...prompt]
  return [{ ...first, content: `${text}\n\n${first.content}` }, ...rest]
}

/** A lookup of everything that the messages cite, with the bytes read. */
async function imageLookup(
  messages: readonly Message[],
  { attachments, image }: LanguageModelAdapterOptions,
): Promise<ImageLookup | undefined> {
  if (attachments === undefined) return image
  const found = new Map<string, Uint8Array | string | undefined>()
  const missing: AttachmentRef[] = []
  for (const ref of messages.flatMap((message) => message.content.flatMap(citedBy))) {
    if (found.has(ref.attachmentId)) continue
    const bytes = image?.(ref)
    found.set(ref.attachmentId, bytes)
    if (bytes === undefined) missing.push(ref)
  }
  await Promise.all(missing.map(async (ref) => found.set(ref.attachmentId, await attachments.get(ref))))
  return (ref) => found.get(ref.attachmentId)
}

function citedBy(block: ContentBlock): AttachmentRef[] {
  if (block.type === 'image') return [block.attachment]
  return block.type === 'tool-result' ? block.content.flatMap(citedBy) : []
}

function nameOf(tool: Json): string[] {
  const name = member(tool, 'name')
  return typeof name === 'string' ? [name] : []
}

function asProviderOptions(value: Json | undefined): RequestProviderOptions | undefined {
  return isRecord(value) ? (value as RequestProviderOptions) : undefined
}
