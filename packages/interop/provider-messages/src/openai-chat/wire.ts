/** What `toOpenAiChat` writes: a part of what Chat Completions takes. */
export interface OpenAiTextPart {
  readonly type: 'text'
  readonly text: string
}
export interface OpenAiImagePart {
  readonly type: 'image_url'
  readonly image_url: { readonly url: string }
}
export interface OpenAiToolCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}
/** One text is a string; several are parts, so that the boundaries of the log survive. */
export type OpenAiText = string | readonly OpenAiTextPart[]

export type OpenAiChatMessage =
  | { readonly role: 'system'; readonly content: OpenAiText }
  | { readonly role: 'user'; readonly content: string | readonly (OpenAiTextPart | OpenAiImagePart)[] }
  | { readonly role: 'assistant'; readonly content: OpenAiText | null; readonly tool_calls?: readonly OpenAiToolCall[] }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: OpenAiText }
