import { viewOpenAiChat } from '../openai-chat/view.ts'
import type { OpenAiChatView } from '../openai-chat/view.ts'
import { member } from '../shared/json-reader.ts'
import type { CheckConfig } from '../shared/rule.ts'

/** Configuration of `validateDeepSeek`. */
export interface DeepSeekCheckConfig extends CheckConfig {
  /** Thinking configuration; default: the request's own `thinking`, and what the model does by itself without one. */
  readonly thinking?: unknown
  /** Whether the model takes images. Default: whether its name says `vision`. */
  readonly vision?: boolean
}

/** A request as the rules read it: the reading of a chat, and what a DeepSeek model makes of it. */
export interface DeepSeekView extends OpenAiChatView {
  readonly isThinking: boolean
  readonly takesImages: boolean
}

// The ids before V4, which take no reasoning back.
const BEFORE_V4 = /deepseek-(?:chat|reasoner|coder|r1|v[1-3])/

/** Reads a parsed request body of any shape. Never throws. */
export function viewDeepSeek(request: unknown, config: DeepSeekCheckConfig): DeepSeekView {
  const view = viewOpenAiChat(request, config)
  const model = view.model ?? ''
  const type = member(config.thinking ?? member(request, 'thinking'), 'type')
  return {
    ...view,
    isThinking: type !== 'disabled' && !BEFORE_V4.test(model),
    takesImages: config.vision ?? model.includes('vision'),
  }
}
