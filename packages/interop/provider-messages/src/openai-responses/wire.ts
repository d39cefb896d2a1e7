/** What `toOpenAiResponses` writes: a part of what the Responses API takes. */
export interface ResponsesInputText {
  readonly type: 'input_text'
  readonly text: string
}
export interface ResponsesInputImage {
  readonly type: 'input_image'
  readonly image_url: string
}
export interface ResponsesOutputText {
  readonly type: 'output_text'
  readonly text: string
}
/** A reasoning item, exactly as it came. */
export interface ResponsesReasoning {
  readonly type: 'reasoning'
  readonly id: string
  readonly summary: readonly { readonly type: 'summary_text'; readonly text: string }[]
  readonly encrypted_content: string
}

export type ResponsesItem =
  | { readonly type: 'message'; readonly role: 'system'; readonly content: readonly ResponsesInputText[] }
  | {
      readonly type: 'message'
      readonly role: 'user'
      readonly content: readonly (ResponsesInputText | ResponsesInputImage)[]
    }
  | {
      readonly type: 'message'
      readonly role: 'assistant'
      readonly content: readonly ResponsesOutputText[]
      readonly phase?: 'commentary' | 'final_answer'
    }
  | ResponsesReasoning
  | { readonly type: 'function_call'; readonly call_id: string; readonly name: string; readonly arguments: string }
  | {
      readonly type: 'function_call_output'
      readonly call_id: string
      readonly output: string | readonly (ResponsesInputText | ResponsesInputImage)[]
    }
