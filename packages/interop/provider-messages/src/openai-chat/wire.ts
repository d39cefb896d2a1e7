import type { Json, JsonObject } from '@palimpsest/session'

/** What `toOpenAiChat` writes: a part of what Chat Completions takes. */
export interface OpenAiTextPart {
  readonly type: 'text'
  readonly text: string
}
export interface OpenAiImagePart {
  readonly type: 'image_url'
  readonly image_url: { readonly url: string; readonly detail?: Json }
}
/** A part of an imported message that no block of a session stands for, as it came. */
export type OpenAiOwnPart =
  | { readonly type: 'file'; readonly file: JsonObject }
  | { readonly type: 'input_audio'; readonly input_audio: JsonObject }
export interface OpenAiRefusalPart {
  readonly type: 'refusal'
  readonly refusal: string
}
export type OpenAiToolCall =
  | {
      readonly id: string
      readonly type: 'function'
      readonly function: { readonly name: string; readonly arguments: string }
    }
  | { readonly id: string; readonly type: 'custom'; readonly custom: { readonly name: string; readonly input: string } }
/** One text is a string; several are parts, so that the boundaries of the log survive. */
export type OpenAiText = string | readonly OpenAiTextPart[]

export type OpenAiChatMessage =
  | { readonly role: 'system' | 'developer'; readonly content: OpenAiText; readonly name?: Json }
  | {
      readonly role: 'user'
      readonly content: string | readonly (OpenAiTextPart | OpenAiImagePart | OpenAiOwnPart)[]
      readonly name?: Json
    }
  | {
      readonly role: 'assistant'
      readonly content: string | readonly (OpenAiTextPart | OpenAiRefusalPart)[] | null
      readonly tool_calls?: readonly OpenAiToolCall[]
      readonly name?: Json
      readonly refusal?: Json
      readonly audio?: Json
    }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: OpenAiText; readonly name?: Json }
