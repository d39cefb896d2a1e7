/**
 * Why an export was refused.
 *
 * | code | meaning | way out |
 * |---|---|---|
 * | `messages/open-calls` | the list ends, or goes on, while tool calls are unanswered | append `interruptedTurnClosers` first |
 * | `messages/unknown-call` | a tool result answers no outstanding call | derive the list from a session; do not cut it by hand |
 * | `messages/duplicate-call` | a call id is open twice | as above |
 * | `messages/invalid` | a block stands where SPEC 2.4 does not let it | as above |
 * | `options/invalid` | an option has a value that cannot be used | correct the option |
 * | `budget/bytes` | the messages are larger than the provider's request limit | prune or compact the session |
 * | `budget/messages` | too many messages | compact the session |
 * | `budget/images` | too many images | prune images from the session |
 * | `budget/image-bytes` | one image is too large | replace it by a smaller one |
 * | `budget/image-side` | one image is too wide or too high | replace it by a smaller one |
 * | `budget/tool-calls` | one assistant message has too many calls | compact that turn |
 */
export type ProviderMessagesErrorCode =
  | 'messages/open-calls'
  | 'messages/unknown-call'
  | 'messages/duplicate-call'
  | 'messages/invalid'
  | 'options/invalid'
  | 'budget/bytes'
  | 'budget/messages'
  | 'budget/images'
  | 'budget/image-bytes'
  | 'budget/image-side'
  | 'budget/tool-calls'

/** The one error of this package. Switch on `code`; the message is for people. */
export class ProviderMessagesError extends Error {
  override readonly name = 'ProviderMessagesError'
  readonly code: ProviderMessagesErrorCode

  constructor(code: ProviderMessagesErrorCode, message: string) {
    super(message)
    this.code = code
  }
}
