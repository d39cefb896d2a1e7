import type { Fields } from './json.ts'

export interface ServedText {
  readonly type: 'text'
  readonly text: string
}

/** Thinking (Anthropic), a reasoning item (OpenAI Responses) or `reasoning_content` (DeepSeek, compatible). */
export interface ServedThinking {
  readonly type: 'thinking'
  /** An array: one summary each (OpenAI Responses); joined elsewhere. */
  readonly text: string | readonly string[]
  /** Anthropic: `redacted_thinking`, of which only `data` is shown. */
  readonly redacted?: boolean
}

export interface ServedToolCall {
  readonly type: 'tool-call'
  readonly name: string
  /** Serialised as JSON; `inputText` overrides it, for arguments that are no JSON. */
  readonly input?: unknown
  readonly inputText?: string
  /** One in the provider's form is made up when absent. */
  readonly id?: string
}

/** Anthropic: a block sent whole in its start event, such as `server_tool_use`. A `compaction` block is signed. */
export interface ServedRaw {
  readonly type: 'raw'
  readonly block: Fields
}

export type ServedBlock = ServedText | ServedThinking | ServedToolCall | ServedRaw

/** Tokens. Absent members are counted crudely; `input` includes what was read from or written to a cache. */
export interface ServedUsage {
  readonly input?: number
  readonly output?: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
  /** Part of `output`. */
  readonly reasoning?: number
}

/** Members of the provider's error object. */
export interface ServedError {
  readonly message?: string
  readonly type?: string
  readonly code?: string
  readonly param?: string
}

/** Where a stream breaks. With `after: 0` a `cut` or a `hang` comes before the response headers. */
export interface ServedBreak {
  /** Events that are sent whole before. */
  readonly after: number
  /** An error event, a body that just ends, a destroyed socket, or silence until the client goes away. */
  readonly how: 'error' | 'end' | 'cut' | 'hang'
  readonly error?: ServedError
  /** OpenAI Responses: the error inside `error`, and `response.failed` behind it. */
  readonly nested?: boolean
}

export interface ServedReply {
  readonly blocks: readonly ServedBlock[]
  /** By default as the blocks say. Names that are not listed go out verbatim (`pause_turn`). */
  readonly stop?: 'stop' | 'length' | 'tool-calls' | 'content-filter' | (string & {})
  readonly usage?: ServedUsage
  /** Milliseconds until the first byte. */
  readonly delayMs?: number
  /** Anthropic: a ping after every second event. DeepSeek: keep-alive comments first. */
  readonly pings?: boolean
  /** A request that streams only. */
  readonly break?: ServedBreak
}

/** A response that is no answer: whatever status, or one of the usual failures in the provider's form. */
export interface ServedFailure {
  readonly failure?: 'overloaded' | 'rate-limit' | 'quota' | 'server-error' | 'unauthorized'
  readonly status?: number
  /** Milliseconds; sent in the headers that the provider has for it. */
  readonly retryAfterMs?: number
  readonly error?: ServedError
  readonly delayMs?: number
}

export type ServedAnswer = ServedReply | ServedFailure

export function isReply(answer: ServedAnswer): answer is ServedReply {
  return 'blocks' in answer
}

/** The whole text of a thinking block. */
export function thinkingText({ text }: ServedThinking): string {
  return typeof text === 'string' ? text : text.join('\n\n')
}

/** The arguments of a call as they go over the wire. */
export function argumentsText({ input, inputText }: ServedToolCall): string {
  return inputText ?? JSON.stringify(input ?? {})
}
