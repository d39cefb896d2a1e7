import type { OpenAiImagePart, OpenAiText, OpenAiTextPart, OpenAiToolCall } from '../openai-chat/wire.ts'

/** What `toDeepSeek` writes: a part of what DeepSeek's Chat Completions take. */
export type DeepSeekMessage =
  | { readonly role: 'system'; readonly content: OpenAiText }
  | { readonly role: 'user'; readonly content: DeepSeekUserContent }
  | {
      readonly role: 'assistant'
      readonly content: OpenAiText
      /** Present unless thinking is off; empty where DeepSeek did not make it. */
      readonly reasoning_content?: string
      readonly tool_calls?: readonly OpenAiToolCall[]
    }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: OpenAiText }

export type DeepSeekUserContent = string | readonly (OpenAiTextPart | OpenAiImagePart)[]

/** Thinking configuration of a request. Not said, models of V4 think. */
export interface DeepSeekThinking {
  readonly type: 'enabled' | 'disabled'
}
