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
import type {
  ResponsesInputFile,
  ResponsesInputPart,
  ResponsesInputText,
  ResponsesItem,
  ResponsesOutputText,
  ResponsesOwnItem,
  ResponsesRefusal,
} from './wire.ts'

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
  const { head, headKept, turns, notes } = planConversation(messages, {
    callIds: new CallIds(64),
    toolNames,
    images,
    kept: { shape: 'openai-responses', ofMessages: ['role'], ofParts: ['detail', 'phase'] },
    takesImages: (isError) => !isError,
    keepsReasoning: (message, index) => index < through && items.take(message),
  })
  images.refuseOverBudget()
  const customCalls = new Set(turns.flatMap(customCallIds))
  const role = headKept?.['role'] === 'developer' ? 'developer' : 'system'
  const system: ResponsesItem = { type: 'message', role, content: head.map(inputText) }
  const input = [
    ...(head.length > 0 ? [system] : []),
    ...onlyOnce(turns.flatMap((turn) => wireItems(turn, reasoner, customCalls))),
  ]
  refuseOverBytes(input, limits.bytes, 'input')
  const isReasoning = options.model !== undefined && isReasoningModel(options.model)
  return {
    input,
    store: false,
    ...(isReasoning ? { include: ['reasoning.encrypted_content'] } : {}),
    report: { notes, toolNames: toolNames.entries(), thinkingOff: false },
  }
}

function wireItems(turn: Turn, reasoner: Reasoner, customCalls: ReadonlySet<string>): ResponsesItem[] {
  if (turn.role === 'assistant') return assistantItems(turn.parts, isOwn(turn.message, reasoner))
  if (turn.role === 'user') return userItems(turn.parts)
  const type = customCalls.has(turn.callId) ? 'custom_tool_call_output' : 'function_call_output'
  return [{ type, call_id: turn.callId, output: output(turn.parts) }]
}

/** Calls that want an output of their own type. */
function customCallIds(turn: Turn): string[] {
  if (turn.role !== 'assistant') return []
  return turn.parts.flatMap((part) => (part.type === 'call' && part.own !== undefined ? [part.id] : []))
}

/** A message, but for items that no message holds: what answers something that the provider ran. */
function userItems(parts: readonly Part[]): ResponsesItem[] {
  return runs(parts, (first, next) => !isItem(first) && !isItem(next)).map((run): ResponsesItem => {
    const [first] = run
    if (isItem(first)) return first.value as ResponsesOwnItem
    return { type: 'message', role: 'user', content: run.map(inputPart) }
  })
}

/** Whether a part stands beside messages, not in one. */
function isItem(part: Part | AssistantPart): part is Extract<Part | AssistantPart, { type: 'own' }> {
  if (part.type !== 'own') return false
  const { type } = part.value
  return typeof type !== 'string' || !/^(?:input_|refusal$)/.test(type)
}

/** No item with an id goes out twice. PROVIDERS OR9. */
function onlyOnce(items: readonly ResponsesItem[]): ResponsesItem[] {
  const sent = new Set<unknown>()
  return items.filter((item) => {
    const id = 'id' in item ? item.id : undefined
    const isNew = id === undefined || !sent.has(id)
    sent.add(id)
    return isNew
  })
}

/** The items of one entry in their order; texts that follow each other are one message. */
function assistantItems(parts: readonly AssistantPart[], isOwnMessage: boolean): ResponsesItem[] {
  const phaseOf = (part: AssistantPart): 'commentary' | 'final_answer' | undefined => {
    const kept = part.type === 'reasoning' ? undefined : part.kept?.['phase']
    if (kept === 'commentary' || kept === 'final_answer') return kept
    return isOwnMessage ? openAiItem(part.replay)?.phase : undefined
  }
  const isOneMessage = (a: AssistantPart, b: AssistantPart): boolean => {
    return isSaid(a) && isSaid(b) && phaseOf(a) === phaseOf(b)
  }
  const reasoning = reasoningItems(parts.filter((part) => part.type === 'reasoning')) ?? []
  const sent = new Set<string>()
  return runs(parts, isOneMessage).flatMap((run): ResponsesItem[] => {
    const [first] = run
    if (isItem(first)) return [first.value as ResponsesOwnItem]
    if (first.type === 'call') {
      const input = first.own?.['input']
      if (typeof input === 'string') {
        return [{ type: 'custom_tool_call', call_id: first.id, name: first.name, input }]
      }
      return [{ type: 'function_call', call_id: first.id, name: first.name, arguments: first.arguments.text }]
    }
    if (first.type !== 'reasoning') {
      const phase = phaseOf(first)
      const content = run.flatMap((part): (ResponsesOutputText | ResponsesRefusal)[] => {
        if (part.type === 'own') return [part.value as unknown as ResponsesRefusal]
        return part.type === 'text' ? [{ type: 'output_text', text: part.text }] : []
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

function isSaid(part: AssistantPart): boolean {
  return part.type === 'text' || (part.type === 'own' && !isItem(part))
}

function output(parts: readonly Part[]): string | readonly ResponsesInputPart[] {
  const [first] = parts
  return parts.length === 1 && first?.type === 'text' ? first.text : parts.map(inputPart)
}

function inputText({ text }: TextPart): ResponsesInputText {
  return { type: 'input_text', text }
}

function inputPart(part: Part): ResponsesInputPart {
  if (part.type === 'own') return part.value as unknown as ResponsesInputFile
  return part.type === 'text' ? inputText(part) : { type: 'input_image', image_url: dataUrl(part), ...part.kept }
}
