import type { MessageId, ToolCallId } from './ids.ts'
import type { Json } from './json.ts'

/** Content-addressed reference to bytes that live outside the log. SPEC 2.4. */
export interface AttachmentRef {
  /** `sha256:` and 64 lower-case hex digits of the bytes. */
  readonly attachmentId: string
  /** IANA media type, such as `image/png`. */
  readonly mediaType: string
  /** Length of the content in bytes. */
  readonly bytes: number
  /** Pixels. */
  readonly width?: number
  /** Pixels. */
  readonly height?: number
  /** A file name for people, never a path. */
  readonly name?: string
}

/** Content blocks by `type`. Extend by declaration merging; blocks declared elsewhere stand only in `user/message`. SPEC 2.4. */
export interface ContentBlockMap {
  text: { readonly type: 'text'; readonly text: string }
  reasoning: { readonly type: 'reasoning'; readonly text: string }
  image: { readonly type: 'image'; readonly attachment: AttachmentRef }
  'tool-call': {
    readonly type: 'tool-call'
    readonly id: ToolCallId
    readonly name: string
    /** The raw JSON text that the model wrote, valid or not. */
    readonly arguments: string
  }
  'tool-result': {
    readonly type: 'tool-result'
    readonly toolCallId: ToolCallId
    readonly content: readonly ContentBlock[]
    readonly isError?: boolean
  }
}
export type ContentBlock = ContentBlockMap[keyof ContentBlockMap]
export type TextBlock = ContentBlockMap['text']
export type ReasoningBlock = ContentBlockMap['reasoning']
export type ImageBlock = ContentBlockMap['image']
export type ToolCallBlock = ContentBlockMap['tool-call']
export type ToolResultBlock = ContentBlockMap['tool-result']
/** What a user message may hold: text, images, and every block type declared by merging. */
export type UserBlock = Exclude<ContentBlock, ReasoningBlock | ToolCallBlock | ToolResultBlock>
/** What the answer of a tool may hold. */
export type ResultContentBlock = TextBlock | ImageBlock
export type AssistantBlock = TextBlock | ReasoningBlock | ImageBlock | ToolCallBlock

/**
 * Provider-private data that one message needs to be sent back: signatures, encrypted reasoning, response ids.
 * Handed back only to the provider and model family that made it. SPEC 2.4.
 */
export interface ReplayState {
  readonly response?: Json
  /** One entry per content block of the message, `null` where a block has none. */
  readonly blocks?: readonly Json[]
}

/** Where a message came from, by `kind`. Extend by declaration merging. SPEC 2.4. */
export interface MessageSourceMap {
  user: { readonly kind: 'user' }
  plugin: { readonly kind: 'plugin'; readonly plugin: string; readonly [member: string]: Json | undefined }
  model: { readonly kind: 'model'; readonly provider: string; readonly model: string; readonly replayState?: Json }
  tool: { readonly kind: 'tool'; readonly callId: ToolCallId }
}
export type MessageSource = MessageSourceMap[keyof MessageSourceMap]

/** One message as the model sees it, before a provider's own form. SPEC 2.4. */
export interface Message {
  readonly id: MessageId
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: readonly ContentBlock[]
  readonly source: MessageSource
}

export interface SystemMessage extends Message {
  readonly role: 'system'
  readonly content: readonly TextBlock[]
  readonly source: MessageSourceMap['plugin']
}

export interface UserMessage extends Message {
  readonly role: 'user'
  readonly content: readonly UserBlock[]
  readonly source: Exclude<MessageSource, MessageSourceMap['model'] | MessageSourceMap['tool']>
}

export interface AssistantMessage extends Message {
  readonly role: 'assistant'
  readonly content: readonly AssistantBlock[]
  readonly source: MessageSourceMap['model']
}

/** The answer to one tool call: exactly one `tool-result` block, whose own content is text and images. */
export interface ToolResultMessage extends Message {
  readonly role: 'user'
  readonly content: readonly [Omit<ToolResultBlock, 'content'> & { readonly content: readonly ResultContentBlock[] }]
  readonly source: MessageSourceMap['tool']
}
