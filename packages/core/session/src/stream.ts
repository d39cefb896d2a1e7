import type { ToolCallId } from './ids.ts'
import type { Json } from './json.ts'
import type { AssistantBlock } from './messages.ts'

/** Tokens, as the provider counted them. */
export interface TokenUsage {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly cacheReadTokens?: number
  readonly cacheWriteTokens?: number
  readonly reasoningTokens?: number
}

/** One normalised piece of a provider stream. `index` names the content block it belongs to. SPEC 2.5. */
export type StreamChunk =
  | { readonly type: 'block-start'; readonly index: number; readonly blockType: string }
  | { readonly type: 'text-delta'; readonly index: number; readonly text: string }
  | { readonly type: 'reasoning-delta'; readonly index: number; readonly text: string }
  | {
      readonly type: 'tool-call-delta'
      readonly index: number
      readonly id: ToolCallId
      readonly name?: string
      readonly argumentsDelta: string
    }
  | { readonly type: 'block-end'; readonly index: number; readonly block: AssistantBlock }
  | { readonly type: 'usage'; readonly usage: TokenUsage }
  | { readonly type: 'finish'; readonly reason: Json; readonly replayState?: Json }

/** A chunk and when it came, in epoch milliseconds. */
export interface TimedChunk {
  readonly time: number
  readonly chunk: StreamChunk
}

/**
 * A run of consecutive deltas of one block, or one other chunk. `dt` holds the millisecond gaps between the members
 * of a run: one fewer than `texts` or `args`. SPEC 2.5.
 */
export type AssistantStreamRecord =
  | {
      readonly type: 'text-chunks' | 'reasoning-chunks'
      readonly time0: number
      readonly index: number
      readonly dt: readonly number[]
      readonly texts: readonly string[]
    }
  | {
      readonly type: 'tool-call-chunks'
      readonly time0: number
      readonly index: number
      readonly dt: readonly number[]
      readonly id: ToolCallId
      readonly name?: string
      readonly args: readonly string[]
    }
  | { readonly type: 'chunk'; readonly time: number; readonly chunk: StreamChunk }
