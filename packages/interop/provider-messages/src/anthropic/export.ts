import type { Message } from '@palimpsest/session'
import { ProviderMessagesError } from '../errors.ts'
import { CallIds } from '../shared/call-ids.ts'
import { planConversation } from '../shared/conversation.ts'
import type { AssistantPart, Conversation, Part, Turn } from '../shared/conversation.ts'
import { Images } from '../shared/images.ts'
import type { ImageLookup } from '../shared/images.ts'
import { refuseOverBytes } from '../shared/body.ts'
import type { ExportNote, ExportReport } from '../shared/report.ts'
import { runs } from '../shared/runs.ts'
import { ToolNames } from '../shared/tool-names.ts'
import { ANTHROPIC_IMAGE_TYPES, ANTHROPIC_LIMITS } from './limits.ts'
import type { AnthropicLimits } from './limits.ts'
import { isReplayable, thinkingBlock } from './signed-reasoning.ts'
import { judgeThinking } from './thinking.ts'
import type {
  AnthropicImageBlock,
  AnthropicMessage,
  AnthropicOwnBlock,
  AnthropicTextBlock,
  AnthropicThinking,
} from './wire.ts'

export interface AnthropicExportOptions {
  /** Model the request goes to. Without it no signed reasoning goes back. */
  readonly model?: string
  /** The provider of `source.provider` whose reasoning goes back, compared up to the first dot. Default `anthropic`. */
  readonly provider?: string
  /** Thinking configuration that the request asks for. */
  readonly thinking?: AnthropicThinking
  /**
   * How many of the leading messages may send their signed reasoning back: what `intactThrough(session)` answers.
   * Default 0, none.
   */
  readonly intactThrough?: number
  /** Names of the tools that the request offers, mapped before those of the history. */
  readonly tools?: readonly string[]
  /** Bytes of an attachment; without it every image is a placeholder. */
  readonly image?: ImageLookup
  /** Joins neighbours of one role into one message. */
  readonly alternate?: boolean
  readonly limits?: Partial<AnthropicLimits>
}

/** Members of a Messages request, and what was changed on the way. */
export interface AnthropicExport {
  readonly system?: readonly AnthropicTextBlock[]
  readonly messages: readonly AnthropicMessage[]
  /** What to send as `thinking`; present when the options ask for any. */
  readonly thinking?: AnthropicThinking
  readonly report: ExportReport
}

/**
 * Writes a derived list as an Anthropic Messages request. Pure: same input, same bytes; a longer list begins with the
 * messages of a shorter one, signed reasoning apart where a request goes out with thinking off. Throws
 * `ProviderMessagesError` on a list that no session derives and on one that is over budget. SPEC 8.
 */
export function toAnthropic(messages: readonly Message[], options: AnthropicExportOptions = {}): AnthropicExport {
  const limits = { ...ANTHROPIC_LIMITS, ...options.limits }
  const signer = { provider: options.provider ?? 'anthropic', model: options.model }
  const through = options.thinking?.type === 'disabled' ? 0 : (options.intactThrough ?? 0)
  const first = plan(messages, options, limits, (message, index) => index < through && isReplayable(message, signer))
  const verdict = judgeThinking(first.conversation.turns, options)
  const { conversation, toolNames } = verdict === 'thinking/off' ? plan(messages, options, limits, () => false) : first
  const notes: ExportNote[] = [...conversation.notes]
  const last = messages.at(-1)
  if (verdict !== undefined && last !== undefined) notes.push({ code: verdict, messageId: last.id })

  const wire = conversation.turns.map(wireMessage)
  const result = {
    ...(conversation.head.length > 0 ? { system: conversation.head.map(({ type, text }) => ({ type, text })) } : {}),
    messages: options.alternate === true ? joinByRole(wire) : wire,
  }
  refuseOverBudget(result, limits)
  const thinkingOff = verdict === 'thinking/off'
  return {
    ...result,
    ...(options.thinking === undefined ? {} : { thinking: thinkingOff ? { type: 'disabled' } : options.thinking }),
    report: { notes, toolNames: toolNames.entries(), thinkingOff },
  }
}

function plan(
  messages: readonly Message[],
  options: AnthropicExportOptions,
  limits: AnthropicLimits,
  keepsReasoning: (message: Message, index: number) => boolean,
): { conversation: Conversation; toolNames: ToolNames } {
  const toolNames = new ToolNames(128)
  for (const name of options.tools ?? []) toolNames.wire(name)
  const images = new Images(ANTHROPIC_IMAGE_TYPES, limits, options.image)
  const conversation = planConversation(messages, {
    callIds: new CallIds(Infinity),
    toolNames,
    images,
    kept: { shape: 'anthropic', ofParts: ['citations', 'caller'] },
    takesImages: (isError) => !isError,
    keepsReasoning,
  })
  images.refuseOverBudget()
  return { conversation, toolNames }
}

function wireMessage(turn: Turn): AnthropicMessage {
  if (turn.role === 'user') return { role: 'user', content: turn.parts.map(userBlock) }
  if (turn.role === 'assistant') return { role: 'assistant', content: turn.parts.flatMap(assistantBlocks) }
  const result = { type: 'tool_result' as const, tool_use_id: turn.callId, content: turn.parts.map(userBlock) }
  return { role: 'user', content: [turn.isError ? { ...result, is_error: true } : result] }
}

function userBlock(part: Part): AnthropicTextBlock | AnthropicImageBlock | AnthropicOwnBlock {
  if (part.type === 'text') return { type: part.type, text: part.text }
  if (part.type === 'own') return part.value as AnthropicOwnBlock
  return { type: 'image', source: { type: 'base64', media_type: part.mediaType, data: part.data } }
}

function assistantBlocks(part: AssistantPart): Extract<AnthropicMessage, { role: 'assistant' }>['content'] {
  if (part.type === 'text') return [{ type: part.type, text: part.text, ...part.kept }]
  if (part.type === 'own') return [part.value as AnthropicOwnBlock]
  if (part.type === 'call') {
    return [{ type: 'tool_use', id: part.id, name: part.name, input: part.arguments.value, ...part.kept }]
  }
  const thinking = thinkingBlock(part.block.text, part.replay)
  return thinking === undefined ? [] : [thinking]
}

function joinByRole(messages: readonly AnthropicMessage[]): AnthropicMessage[] {
  return runs(messages, (first, next) => first.role === next.role).map((run): AnthropicMessage => {
    if (run[0].role === 'user') {
      return { role: 'user', content: run.flatMap((message) => (message.role === 'user' ? message.content : [])) }
    }
    return {
      role: 'assistant',
      content: run.flatMap((message) => (message.role === 'assistant' ? message.content : [])),
    }
  })
}

function refuseOverBudget(body: { readonly messages: readonly AnthropicMessage[] }, limits: AnthropicLimits): void {
  const count = body.messages.length
  if (count > limits.messages) {
    throw new ProviderMessagesError(
      'budget/messages',
      `${count} messages, over ${limits.messages}: compact the session`,
    )
  }
  refuseOverBytes(body, limits.bytes, 'messages')
}
