import type { Json, JsonObject } from '@palimpsest/session'

/** What `toAnthropic` writes: a part of what the Messages API takes. */
export interface AnthropicTextBlock {
  readonly type: 'text'
  readonly text: string
  /** Of an assistant, as they came. */
  readonly citations?: Json
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
  readonly caller?: Json
}
export interface AnthropicToolResultBlock {
  readonly type: 'tool_result'
  readonly tool_use_id: string
  readonly content: readonly (AnthropicTextBlock | AnthropicImageBlock | AnthropicOwnBlock)[]
  readonly is_error?: true
}
/** A block of an imported message that no block of a session stands for, as it came. */
export interface AnthropicOwnBlock {
  readonly type:
    | 'document'
    | 'search_result'
    | 'tool_reference'
    | 'container_upload'
    | 'server_tool_use'
    | 'mcp_tool_use'
    | 'mcp_tool_result'
    | `${string}_tool_result`
  readonly [member: string]: Json
}
/** Signed reasoning, exactly as it came. */
export type AnthropicThinkingBlock =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }

export type AnthropicMessage =
  | {
      readonly role: 'user'
      readonly content: readonly (
        | AnthropicTextBlock
        | AnthropicImageBlock
        | AnthropicToolResultBlock
        | AnthropicOwnBlock
      )[]
    }
  | {
      readonly role: 'assistant'
      readonly content: readonly (
        | AnthropicTextBlock
        | AnthropicToolUseBlock
        | AnthropicThinkingBlock
        | AnthropicOwnBlock
      )[]
    }

/** Thinking configuration of a request. */
export type AnthropicThinking =
  | { readonly type: 'enabled'; readonly budget_tokens: number }
  | { readonly type: 'adaptive' }
  | { readonly type: 'disabled' }
