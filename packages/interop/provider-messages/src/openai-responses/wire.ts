import type { Json } from '@palimpsest/session'

/** What `toOpenAiResponses` writes: a part of what the Responses API takes. */
export interface ResponsesInputText {
  readonly type: 'input_text'
  readonly text: string
}
export interface ResponsesInputImage {
  readonly type: 'input_image'
  readonly image_url?: string
  readonly file_id?: Json
  readonly detail?: Json
}
/** A file or a sound of an imported message, as it came. */
export interface ResponsesInputFile {
  readonly type: 'input_file' | 'input_audio'
  readonly [member: string]: Json
}
export type ResponsesInputPart = ResponsesInputText | ResponsesInputImage | ResponsesInputFile
export interface ResponsesOutputText {
  readonly type: 'output_text'
  readonly text: string
}
export interface ResponsesRefusal {
  readonly type: 'refusal'
  readonly refusal: string
}
/** Something that the provider ran itself, or the answer to it, as it came. */
export interface ResponsesOwnItem {
  readonly type:
    | `${'web_search' | 'file_search' | 'computer' | 'code_interpreter' | 'image_generation'}_call`
    | `${'local_shell' | 'shell' | 'apply_patch' | 'computer' | 'tool_search'}_call${'' | '_output'}`
    | `mcp_${'list_tools' | 'approval_request' | 'approval_response' | 'call'}`
  readonly [member: string]: Json
}
/** A reasoning item, exactly as it came. */
export interface ResponsesReasoning {
  readonly type: 'reasoning'
  readonly id: string
  readonly summary: readonly { readonly type: 'summary_text'; readonly text: string }[]
  readonly encrypted_content: string
}

export type ResponsesItem =
  | {
      readonly type: 'message'
      readonly role: 'system' | 'developer'
      readonly content: readonly ResponsesInputText[]
    }
  | { readonly type: 'message'; readonly role: 'user'; readonly content: readonly ResponsesInputPart[] }
  | {
      readonly type: 'message'
      readonly role: 'assistant'
      readonly content: readonly (ResponsesOutputText | ResponsesRefusal)[]
      readonly phase?: 'commentary' | 'final_answer'
    }
  | ResponsesReasoning
  | { readonly type: 'function_call'; readonly call_id: string; readonly name: string; readonly arguments: string }
  | { readonly type: 'custom_tool_call'; readonly call_id: string; readonly name: string; readonly input: string }
  | {
      readonly type: 'function_call_output' | 'custom_tool_call_output'
      readonly call_id: string
      readonly output: string | readonly ResponsesInputPart[]
    }
  | ResponsesOwnItem
