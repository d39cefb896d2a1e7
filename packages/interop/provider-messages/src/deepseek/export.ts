import type { Message } from '@palimpsest/session'
import { OPENAI_IMAGE_TYPES } from '../openai-chat/limits.ts'
import { textContent, texts, toolCalls, userContent } from '../openai-chat/parts.ts'
import { CallIds } from '../shared/call-ids.ts'
import { joinNeighbours, planConversation } from '../shared/conversation.ts'
import type { Turn } from '../shared/conversation.ts'
import { Images } from '../shared/images.ts'
import type { ImageLookup } from '../shared/images.ts'
import { providerFamily } from '../shared/replay.ts'
import type { ExportReport } from '../shared/report.ts'
import { ToolNames } from '../shared/tool-names.ts'
import { isWellFormed } from '../shared/unicode.ts'
import type { DeepSeekMessage, DeepSeekThinking, DeepSeekUserContent } from './wire.ts'

export interface DeepSeekExportOptions {
  /** The provider of `source.provider` whose reasoning goes back, compared up to the first dot. Default `deepseek`. */
  readonly provider?: string
  /** Thinking configuration that the request asks for. Off, no reasoning goes back; models before V4 want it off. */
  readonly thinking?: DeepSeekThinking
  /** Names of the tools that the request offers, mapped before those of the history. */
  readonly tools?: readonly string[]
  /** Whether the model takes images. Default `false`: every image is a placeholder. */
  readonly vision?: boolean
  /** Bytes of an attachment; without it every image is a placeholder. */
  readonly image?: ImageLookup
  /** Joins neighbouring users and neighbouring assistants into one message each. */
  readonly alternate?: boolean
}

/** The messages of a DeepSeek request, and what was changed on the way. */
export interface DeepSeekExport {
  readonly messages: readonly DeepSeekMessage[]
  /** What to send as `thinking`; present when the options ask for any. */
  readonly thinking?: DeepSeekThinking
  readonly report: ExportReport
}

/**
 * Writes a derived list as DeepSeek messages. Pure: same input, same bytes; a longer list begins with the messages of a
 * shorter one. Unless thinking is off every assistant carries `reasoning_content`: what DeepSeek made, as it came, and
 * an empty text for what others made. `isError` stays behind. Throws `ProviderMessagesError` on a list that no session
 * derives. SPEC 8, PROVIDERS 4.
 */
export function toDeepSeek(messages: readonly Message[], options: DeepSeekExportOptions = {}): DeepSeekExport {
  const { provider = 'deepseek', thinking } = options
  const isThinking = thinking?.type !== 'disabled'
  const toolNames = new ToolNames(64)
  for (const name of options.tools ?? []) toolNames.wire(name)
  const types = options.vision === true ? OPENAI_IMAGE_TYPES : new Set<string>()
  const { head, turns, notes } = planConversation(messages, {
    callIds: new CallIds(40),
    toolNames,
    images: new Images(types, { images: Infinity }, options.image),
    takesImages: () => false,
    keepsReasoning: (message) => isThinking && isReasoningOf(message, provider),
  })
  const wire = (options.alternate === true ? joinNeighbours(turns) : turns).map((turn) => wireMessage(turn, isThinking))
  return {
    messages: head.length > 0 ? [{ role: 'system', content: textContent(head) }, ...wire] : wire,
    ...(thinking === undefined ? {} : { thinking }),
    report: { notes, toolNames: toolNames.entries(), thinkingOff: false },
  }
}

/** Whether the provider made a message, and its reasoning can go back as it came. */
function isReasoningOf({ source, content }: Message, provider: string): boolean {
  if (source.kind !== 'model' || providerFamily(source.provider) !== providerFamily(provider)) return false
  return content.every((block) => block.type !== 'reasoning' || isWellFormed(block.text))
}

function wireMessage(turn: Turn, isThinking: boolean): DeepSeekMessage {
  // Nothing is kept in a form of its own for DeepSeek, so there are texts and images only.
  if (turn.role === 'user') return { role: 'user', content: userContent(turn.parts) as DeepSeekUserContent }
  if (turn.role === 'result')
    return { role: 'tool', tool_call_id: turn.callId, content: textContent(texts(turn.parts)) }
  const said = texts(turn.parts)
  const calls = toolCalls(turn.parts)
  const thoughts = turn.parts.flatMap((part) => (part.type === 'reasoning' ? [part.block.text] : []))
  return {
    role: 'assistant',
    content: said.length === 0 ? '' : textContent(said),
    ...(isThinking ? { reasoning_content: thoughts.join('') } : {}),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
}
