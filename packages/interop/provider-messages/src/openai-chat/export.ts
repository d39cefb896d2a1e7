import type { JsonObject, Message } from '@palimpsest/session'
import { ProviderMessagesError } from '../errors.ts'
import { CallIds } from '../shared/call-ids.ts'
import { joinNeighbours, planConversation } from '../shared/conversation.ts'
import type { Turn } from '../shared/conversation.ts'
import { Images } from '../shared/images.ts'
import type { ImageLookup, TextPart } from '../shared/images.ts'
import { refuseOverBytes } from '../shared/body.ts'
import type { ExportReport } from '../shared/report.ts'
import { ToolNames } from '../shared/tool-names.ts'
import { OPENAI_CHAT_LIMITS, OPENAI_IMAGE_TYPES } from './limits.ts'
import type { OpenAiChatLimits } from './limits.ts'
import { assistantContent, ownMembers, textContent, texts, toolCalls, userContent } from './parts.ts'
import type { OpenAiChatMessage } from './wire.ts'

export interface OpenAiChatExportOptions {
  /** Names of the tools that the request offers, mapped before those of the history. */
  readonly tools?: readonly string[]
  /** Bytes of an attachment; without it every image is a placeholder. */
  readonly image?: ImageLookup
  /** Joins neighbouring users and neighbouring assistants, for servers that want them to alternate. */
  readonly alternate?: boolean
  readonly limits?: Partial<OpenAiChatLimits>
}

/** The messages of a Chat Completions request, and what was changed on the way. */
export interface OpenAiChatExport {
  readonly messages: readonly OpenAiChatMessage[]
  readonly report: ExportReport
}

/**
 * Writes a derived list as Chat Completions messages. Pure: same input, same bytes; a longer list begins with the
 * messages of a shorter one. Reasoning stays behind, and so does `isError`: the API has a place for neither. Throws
 * `ProviderMessagesError` on a list that no session derives and on one that is over budget. SPEC 8.
 */
export function toOpenAiChat(messages: readonly Message[], options: OpenAiChatExportOptions = {}): OpenAiChatExport {
  const limits = { ...OPENAI_CHAT_LIMITS, ...options.limits }
  const toolNames = new ToolNames(64)
  for (const name of options.tools ?? []) toolNames.wire(name)
  const images = new Images(OPENAI_IMAGE_TYPES, { images: limits.images }, options.image)
  const { head, headKept, turns, notes } = planConversation(messages, {
    callIds: new CallIds(40),
    toolNames,
    images,
    kept: { shape: 'openai-chat', ofMessages: ['role', 'name', 'refusal'], ofParts: ['detail'] },
    takesImages: () => false,
    keepsReasoning: () => false,
  })
  images.refuseOverBudget()
  const wire = (options.alternate === true ? joinNeighbours(turns) : turns).map((turn) => wireMessage(turn, limits))
  const all = head.length > 0 ? [systemMessage(head, headKept), ...wire] : wire
  refuseOverBytes(all, limits.bytes, 'messages')
  return { messages: all, report: { notes, toolNames: toolNames.entries(), thinkingOff: false } }
}

function systemMessage(head: readonly TextPart[], { role, ...kept }: JsonObject = {}): OpenAiChatMessage {
  return { role: role === 'developer' ? role : 'system', content: textContent(head), ...kept }
}

function wireMessage(turn: Turn, limits: OpenAiChatLimits): OpenAiChatMessage {
  const { role: _, ...kept } = turn.kept ?? {}
  if (turn.role === 'user') return { role: 'user', content: userContent(turn.parts), ...kept }
  if (turn.role === 'result') {
    return { role: 'tool', tool_call_id: turn.callId, content: textContent(texts(turn.parts)), ...kept }
  }
  const calls = toolCalls(turn.parts)
  if (calls.length > limits.toolCalls) {
    const what = `an assistant message has ${calls.length} calls, over ${limits.toolCalls}`
    throw new ProviderMessagesError('budget/tool-calls', `${what}: compact that turn`)
  }
  return {
    role: 'assistant',
    content: assistantContent(turn.parts),
    ...kept,
    ...ownMembers(turn.parts),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
}
