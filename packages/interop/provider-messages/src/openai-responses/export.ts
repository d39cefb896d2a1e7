import type { Message } from '@palimpsest/session'
import { OPENAI_IMAGE_TYPES } from '../openai-chat/limits.ts'
import { isReasoningModel } from '../openai-chat/models.ts'
import { dataUrl } from '../openai-chat/parts.ts'
import { refuseOverBytes } from '../shared/body.ts'
import { CallIds } from '../shared/call-ids.ts'
import { planConversation } from '../shared/conversation.ts'
import type { AssistantPart, Part, Turn } from '../shared/conversation.ts'
import { Images } from '../shared/images.ts'
import type { ImageLookup, TextPart } from '../shared/images.ts'
import { openAiItem } from '../shared/replay.ts'
import type { ExportReport } from '../shared/report.ts'
import { runs } from '../shared/runs.ts'
import { ToolNames } from '../shared/tool-names.ts'
import { OPENAI_RESPONSES_LIMITS } from './limits.ts'
import type { OpenAiResponsesLimits } from './limits.ts'
import { isOwn, reasoningItems, ReasoningItems } from './reasoning-items.ts'
import type { Reasoner } from './reasoning-items.ts'
import type { ResponsesInputImage, ResponsesInputText, ResponsesItem } from './wire.ts'

export interface OpenAiResponsesExportOptions {
  /** Model the request goes to. Without it no reasoning goes back, and none is asked for. */
  readonly model?: string
  /** The `source.provider` whose reasoning goes back, compared as a whole. Default `openai.responses`. */
  readonly provider?: string
  /** How many of the leading messages may send their reasoning back: what `intactThrough(session)` answers. Default 0. */
  readonly intactThrough?: number
  /** Names of the tools that the request offers, mapped before those of the history. */
  readonly tools?: readonly string[]
  /** Bytes of an attachment; without it every image is a placeholder. */
  readonly image?: ImageLookup
  readonly limits?: Partial<OpenAiResponsesLimits>
}

/** Members of a Responses request, and what was changed on the way. */
export interface OpenAiResponsesExport {
  readonly input: readonly ResponsesItem[]
  /** The log is the one store: nothing is kept at the provider, and no item refers to what might be there. */
  readonly store: false
  /** Asks for the bytes that reasoning goes back with; present for a model that reasons. */
  readonly include?: readonly ['reasoning.encrypted_content']
  readonly report: ExportReport
}

/**
 * Writes a derived list as the input of a Responses request. Pure: same input, same bytes; the input of a longer list
 * begins with the items of a shorter one. `isError` stays behind: the API has no place for it. Throws
 * `ProviderMessagesError` on a list that no session derives and on one that is over budget. SPEC 8.
 */
export function toOpenAiResponses(
  messages: readonly Message[],
  options: OpenAiResponsesExportOptions = {},
): OpenAiResponsesExport {
  const limits = { ...OPENAI_RESPONSES_LIMITS, ...options.limits }
  const toolNames = new ToolNames(64)
  for (const name of options.tools ?? []) toolNames.wire(name)
  const images = new Images(OPENAI_IMAGE_TYPES, limits, options.image)
  const reasoner = { provider: options.provider ?? 'openai.responses', model: options.model }
  const items = new ReasoningItems(reasoner)
  const through = options.intactThrough ?? 0
  const { head, turns, notes } = planConversation(messages, {
    callIds: new CallIds(64),
    toolNames,
    images,
    takesImages: (isError) => !isError,
    keepsReasoning: (message, index) => index < through && items.take(message),
  })
  images.refuseOverBudget()
  const system: ResponsesItem = { type: 'message', role: 'system', content: head.map(inputText) }
  const input = [...(head.length > 0 ? [system] : []), ...turns.flatMap((turn) => wireItems(turn, reasoner))]
  refuseOverBytes(input, limits.bytes, 'input')
  const isReasoning = options.model !== undefined && isReasoningModel(options.model)
  return {
    input,
    store: false,
    ...(isReasoning ? { include: ['reasoning.encrypted_content'] } : {}),
    report: { notes, toolNames: toolNames.entries(), thinkingOff: false },
  }
}

function wireItems(turn: Turn, reasoner: Reasoner): ResponsesItem[] {
  if (turn.role === 'assistant') return assistantItems(turn.parts, isOwn(turn.message, reasoner))
  if (turn.role === 'user') return [{ type: 'message', role: 'user', content: turn.parts.map(inputPart) }]
  return [{ type: 'function_call_output', call_id: turn.callId, output: output(turn.parts) }]
}

/** The items of one entry in their order; texts that follow each other are one message. */
function assistantItems(parts: readonly AssistantPart[], isOwnMessage: boolean): ResponsesItem[] {
  const phaseOf = (part: AssistantPart): 'commentary' | 'final_answer' | undefined => {
    return isOwnMessage ? openAiItem(part.replay)?.phase : undefined
  }
  const isOneMessage = (a: AssistantPart, b: AssistantPart): boolean => {
    return a.type === 'text' && b.type === 'text' && phaseOf(a) === phaseOf(b)
  }
  const reasoning = reasoningItems(parts.filter((part) => part.type === 'reasoning')) ?? []
  const sent = new Set<string>()
  return runs(parts, isOneMessage).flatMap((run): ResponsesItem[] => {
    const [first] = run
    if (first.type === 'call') {
      return [{ type: 'function_call', call_id: first.id, name: first.name, arguments: first.arguments.text }]
    }
    if (first.type === 'text') {
      const phase = phaseOf(first)
      const content = run.flatMap((part) => {
        return part.type === 'text' ? [{ type: 'output_text' as const, text: part.text }] : []
      })
      return [{ type: 'message', role: 'assistant', content, ...(phase === undefined ? {} : { phase }) }]
    }
    // The whole item stands where its first summary stood.
    const id = openAiItem(first.replay)?.itemId
    const item = reasoning.find((candidate) => candidate.id === id)
    if (item === undefined || sent.has(item.id)) return []
    sent.add(item.id)
    return [item]
  })
}

function output(parts: readonly Part[]): string | readonly (ResponsesInputText | ResponsesInputImage)[] {
  const [first] = parts
  return parts.length === 1 && first?.type === 'text' ? first.text : parts.map(inputPart)
}

function inputText({ text }: TextPart): ResponsesInputText {
  return { type: 'input_text', text }
}

function inputPart(part: Part): ResponsesInputText | ResponsesInputImage {
  return part.type === 'text' ? inputText(part) : { type: 'input_image', image_url: dataUrl(part) }
}
