import type { JsonObject } from '@palimpsest/session'

/** What `toAnthropic` writes: a part of what the Messages API takes. */
export interface AnthropicTextBlock {
  readonly type: 'text'
  readonly text: string
}
export interface AnthropicImageBlock {
  readonly type: 'image'
  readonly source: { readonly type: 'base64'; readonly media_type: string; readonly data: string }
}
export interface AnthropicToolUseBlock {
  readonly type: 'tool_use'
  readonly id: string
  readonly name: string
  readonly input: JsonObject
}
export interface AnthropicToolResultBlock {
  readonly type: 'tool_result'
  readonly tool_use_id: string
  readonly content: readonly (AnthropicTextBlock | AnthropicImageBlock)[]
  readonly is_error?: true
}
/** Signed reasoning, exactly as it came. */
export type AnthropicThinkingBlock =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }

export type AnthropicMessage =
  | {
      readonly role: 'user'
      readonly content: readonly (AnthropicTextBlock | AnthropicImageBlock | AnthropicToolResultBlock)[]
    }
  | {
      readonly role: 'assistant'
      readonly content: readonly (AnthropicTextBlock | AnthropicToolUseBlock | AnthropicThinkingBlock)[]
    }

/** Thinking configuration of a request. */
export type AnthropicThinking =
  | { readonly type: 'enabled'; readonly budget_tokens: number }
  | { readonly type: 'adaptive' }
  | { readonly type: 'disabled' }
