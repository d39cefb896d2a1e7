import type {
  JSONObject,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4ToolChoice,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import type { JsonObject, RequestHeader } from '@palimpsest/session'
import type { AgentModel, ExportedPrompt } from './adapter.ts'
import type { RequestSettings } from './options.ts'

interface HeaderParts {
  readonly model: AgentModel
  readonly settings: RequestSettings
  /** The system prompt, where the surface has no head to hold it. */
  readonly instructions: string
  readonly tools: readonly JsonObject[]
}

/** The header of the loop's own requests. Undefined settings are left out. */
export function buildHeader({ model, settings, instructions, tools }: HeaderParts): RequestHeader {
  const { temperature, maxTokens, stop, reasoningEffort, toolChoice, providerOptions } = settings
  return {
    config: {
      provider: model.provider,
      model: model.modelId,
      ...(temperature === undefined ? {} : { temperature }),
      ...(maxTokens === undefined ? {} : { maxTokens }),
      ...(stop === undefined ? {} : { stop: [...stop] }),
      ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
      ...(toolChoice === undefined ? {} : { toolChoice }),
      ...(providerOptions === undefined ? {} : { providerOptions }),
      ...(instructions === '' ? {} : { instructions }),
    },
    ...(tools.length === 0 ? {} : { tools }),
  }
}

/** The options of a call, with a prompt of either version. */
export type CallOptions<Prompt = ExportedPrompt['prompt']> = Omit<LanguageModelV4CallOptions, 'prompt'> & {
  readonly prompt: Prompt
}

/** The options of the call, from the header and the exported prompt alone. The signal is added where it is sent. */
export function callOptions<Prompt extends ExportedPrompt['prompt']>(
  { config, tools }: RequestHeader,
  { prompt, providerOptions, toolNames }: ExportedPrompt & { readonly prompt: Prompt },
): CallOptions<Prompt> {
  const { temperature, maxTokens, stop, reasoningEffort } = config
  const wireName = (name: string): string => toolNames?.get(name) ?? name
  const toolChoice = toolChoiceOf(config['toolChoice'], wireName)
  const options = mergeOptions(config['providerOptions'], providerOptions)
  return {
    prompt,
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
    ...(stop === undefined ? {} : { stopSequences: [...stop] }),
    ...(reasoningEffort === undefined
      ? {}
      : { reasoning: reasoningEffort as NonNullable<LanguageModelV4CallOptions['reasoning']> }),
    ...(tools === undefined ? {} : { tools: tools.map((tool) => toolOf(tool, wireName)) }),
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(options === undefined ? {} : { providerOptions: options }),
  }
}

function toolOf(tool: JsonObject, wireName: (name: string) => string): LanguageModelV4FunctionTool {
  const definition = tool as unknown as LanguageModelV4FunctionTool
  return { ...definition, name: wireName(definition.name) }
}

function toolChoiceOf(choice: unknown, wireName: (name: string) => string): LanguageModelV4ToolChoice | undefined {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { type: choice }
  if (typeof choice !== 'object' || choice === null || !('tool' in choice)) return undefined
  return { type: 'tool', toolName: wireName(String(choice.tool)) }
}

function mergeOptions(
  settings: unknown,
  exported: SharedV4ProviderOptions | undefined,
): SharedV4ProviderOptions | undefined {
  if (settings === undefined) return exported
  const merged: Record<string, JSONObject> = { ...(settings as SharedV4ProviderOptions) }
  for (const [provider, options] of Object.entries(exported ?? {})) {
    merged[provider] = { ...merged[provider], ...options }
  }
  return merged
}
