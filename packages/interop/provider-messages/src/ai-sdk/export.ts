import type { LanguageModelV4Prompt, SharedV4ProviderOptions } from '@ai-sdk/provider'
import type { Message } from '@palimpsest/session'
import { judgeThinking } from '../anthropic/thinking.ts'
import { ProviderMessagesError } from '../errors.ts'
import { isOwn as isOfModel } from '../openai-responses/reasoning-items.ts'
import { refuseOverBytes } from '../shared/body.ts'
import { CallIds } from '../shared/call-ids.ts'
import { planConversation } from '../shared/conversation.ts'
import type { Conversation, KeptNames } from '../shared/conversation.ts'
import { Images } from '../shared/images.ts'
import type { ImageLookup } from '../shared/images.ts'
import type { ExportNote, ExportReport } from '../shared/report.ts'
import { ToolNames } from '../shared/tool-names.ts'
import { isOwn, reasoningKeeper } from './kept-reasoning.ts'
import { promptMessages } from './prompt-messages.ts'
import { askedThinking, isStored, responsesKey } from './request-options.ts'
import type { RequestProviderOptions } from './request-options.ts'
import { targetOf } from './target.ts'
import type { LanguageModelLimits, Target } from './target.ts'

export interface LanguageModelExportOptions {
  /** `provider` of the model that the request goes to, such as `anthropic.messages`. It decides the rules. */
  readonly provider: string
  /** `modelId` of that model. */
  readonly model: string
  /** Provider options that the request asks for: thinking of Anthropic, storing of OpenAI. */
  readonly providerOptions?: RequestProviderOptions | undefined
  /** The `reasoning` option that the request asks for: `none`, `low`, `high` and others. */
  readonly reasoningEffort?: string | undefined
  /**
   * How many of the leading messages may send their signed reasoning back: what `intactThrough(session)` answers.
   * Default 0, none.
   */
  readonly intactThrough?: number
  /** Names of the tools that the request offers, mapped before those of the history. */
  readonly tools?: readonly string[]
  /** Bytes of an attachment; without it every image is a placeholder. */
  readonly image?: ImageLookup | undefined
  /** Whether a model of DeepSeek takes images; otherwise every image for one is a placeholder. By its name unless given. */
  readonly vision?: boolean | undefined
  readonly limits?: Partial<LanguageModelLimits> | undefined
}

/** A prompt for a `LanguageModelV4`, and what goes with it. */
export interface LanguageModelExport {
  readonly prompt: LanguageModelV4Prompt
  /** To be laid over those of the request, provider by provider; absent when the prompt needs none. */
  readonly providerOptions?: SharedV4ProviderOptions
  /** The names that tools take on the wire, by their own. Rename tool definitions by it, and calls that come back. */
  readonly toolNames: ReadonlyMap<string, string>
  readonly report: ExportReport
}

/**
 * Writes a derived list as the prompt of a language model of the AI SDK, such that the request which its published
 * package makes of it breaks none of the provider's rules. Pure: same input, same prompt; a longer list begins with the
 * content of a shorter one, signed reasoning apart where a request goes out with thinking off. Throws
 * `ProviderMessagesError` on a list that no session derives and on one that is over budget. SPEC 8.
 */
export function toLanguageModelPrompt(
  messages: readonly Message[],
  options: LanguageModelExportOptions,
): LanguageModelExport {
  return writePrompt(messages, options)
}

/** As `toLanguageModelPrompt`, with what goes back in a form of its own. */
export function writePrompt(
  messages: readonly Message[],
  options: LanguageModelExportOptions,
  kept?: KeptNames,
): LanguageModelExport {
  const target = targetOf(options.provider)
  const limits = { ...target.limits, ...options.limits }
  const openAiKey = responsesKey(options.provider, options.providerOptions)
  const keepsItems = target.kind === 'openai-responses' && !isStored(options.providerOptions, openAiKey)
  const { conversation, toolNames, verdict } = plan(messages, { ...options, kept }, target, limits, keepsItems)
  const notes: ExportNote[] = [...conversation.notes]
  const last = messages.at(-1)
  if (verdict !== undefined && last !== undefined) notes.push({ code: verdict, messageId: last.id })
  const thinkingOff = verdict === 'thinking/off'

  const prompt = promptMessages(conversation, {
    kind: target.kind,
    openAiKey,
    isOwn: (message) => {
      return target.kind === 'openai-responses' ? isOfModel(message, options) : isOwn(message, options)
    },
  })
  refuseOverBudget(prompt, limits)
  const report = { notes, toolNames: toolNames.entries(), thinkingOff }
  return {
    prompt,
    ...(thinkingOff ? { providerOptions: { anthropic: { thinking: { type: 'disabled' } } } } : {}),
    ...(keepsItems ? { providerOptions: { [openAiKey]: { store: false } } } : {}),
    toolNames: new Map(report.toolNames.map(({ name, wire }) => [name, wire])),
    report,
  }
}

interface Plan {
  readonly conversation: Conversation
  readonly toolNames: ToolNames
  /** What becomes of Anthropic's thinking, when that is not what the request asks for. */
  readonly verdict: 'thinking/off' | 'thinking/kept' | undefined
}

function plan(
  messages: readonly Message[],
  options: LanguageModelExportOptions & { readonly kept: KeptNames | undefined },
  target: Target,
  limits: LanguageModelLimits,
  keepsItems: boolean,
): Plan {
  const { provider, model, providerOptions, vision = model.includes('vision') } = options
  const imageTypes = target.kind === 'deepseek' && !vision ? new Set<string>() : target.imageTypes
  const write = (intactThrough: number): Omit<Plan, 'verdict'> => {
    const toolNames = new ToolNames(target.toolNameLength, isMemberOfObject)
    for (const name of options.tools ?? []) toolNames.wire(name)
    const images = new Images(imageTypes, limits, options.image)
    const conversation = planConversation(messages, {
      callIds: new CallIds(target.callIdLength),
      toolNames,
      images,
      ...(options.kept === undefined ? {} : { kept: options.kept }),
      takesImages: (isError) => target.takesResultImages && !isError,
      keepsReasoning: reasoningKeeper({ kind: target.kind, provider, model, providerOptions, intactThrough }),
    })
    images.refuseOverBudget()
    return { conversation, toolNames }
  }
  const intactThrough = options.intactThrough ?? 0
  if (target.kind !== 'anthropic') {
    const isSealed = target.kind === 'openai-responses'
    return { ...write(isSealed && !keepsItems ? 0 : intactThrough), verdict: undefined }
  }
  const thinking = askedThinking(options)
  const first = write(thinking?.type === 'disabled' ? 0 : intactThrough)
  const verdict = judgeThinking(first.conversation.turns, { model, ...(thinking === undefined ? {} : { thinking }) })
  return verdict === 'thinking/off' ? { ...write(0), verdict } : { ...first, verdict }
}

/** The packages look names up in plain objects: a tool called `toString` or `constructor` would find a function there. */
function isMemberOfObject(name: string): boolean {
  return name in Object.prototype
}

function refuseOverBudget(prompt: LanguageModelV4Prompt, limits: LanguageModelLimits): void {
  const { messages = Infinity, toolCalls = Infinity, bytes } = limits
  if (prompt.length > messages) {
    throw new ProviderMessagesError(
      'budget/messages',
      `${prompt.length} messages, over ${messages}: compact the session`,
    )
  }
  for (const message of prompt) {
    const count = message.role === 'assistant' ? message.content.filter((part) => part.type === 'tool-call').length : 0
    if (count <= toolCalls) continue
    const what = `an assistant message has ${count} calls, over ${toolCalls}`
    throw new ProviderMessagesError('budget/tool-calls', `${what}: compact that turn`)
  }
  refuseOverBytes(prompt, bytes, 'messages')
}
