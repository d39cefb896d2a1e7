import type { Json, JsonObject } from '@palimpsest/session'

/** What `toUiMessages` writes: a part of what `UIMessage` of the package `ai` takes, version 5. */
export interface UiMessage {
  readonly id: string
  readonly role: 'system' | 'user' | 'assistant'
  /** Of an imported message, as it came. */
  readonly metadata?: Json
  readonly parts: readonly UiPart[]
}

export type UiPart =
  | { readonly type: 'text' | 'reasoning'; readonly text: string; readonly providerMetadata?: Json }
  | {
      readonly type: 'file'
      readonly mediaType: string
      readonly url: string
      readonly filename?: string
      readonly providerMetadata?: Json
    }
  | { readonly type: 'step-start' }
  | UiToolPart
  | UiOwnPart

/** A call of a tool, and what became of it. */
export type UiToolPart = {
  readonly toolCallId: string
  readonly state: 'input-available' | 'output-available' | 'output-error' | 'output-denied'
  readonly input: Json
  /** With `output-available`. */
  readonly output?: Json
  /** With `output-error`. */
  readonly errorText?: string
  readonly title?: Json
  /** With `output-denied`. */
  readonly approval?: Json
  readonly callProviderMetadata?: JsonObject
} & ({ readonly type: `tool-${string}` } | { readonly type: 'dynamic-tool'; readonly toolName: string })

/** A part of an imported message that only a page has a place for, as it came. */
export interface UiOwnPart {
  readonly type: 'source-url' | 'source-document' | 'reasoning-file' | 'custom' | `data-${string}`
  readonly [member: string]: Json
}
