import type {
  JsonObject,
  Message,
  ReasoningBlock,
  TextBlock,
  ToolCallBlock,
  ToolResultBlock,
} from '@palimpsest/session'
import { ProviderMessagesError } from '../errors.ts'
import { callArguments } from './call-arguments.ts'
import type { CallArguments } from './call-arguments.ts'
import type { CallIds } from './call-ids.ts'
import {
  EMPTY_RESULT_TEXT,
  EMPTY_USER_TEXT,
  framedSystemText,
  MOVED_IMAGES_TEXT,
  movedImageText,
  OPENING_TEXT,
} from './fixed-texts.ts'
import type { ImagePart, Images, TextPart } from './images.ts'
import { keptMembers, keptType, ownPart } from './kept-form.ts'
import type { KeptShape, OwnPart } from './kept-form.ts'
import { replayBlocks } from './replay.ts'
import type { ReplayEntry } from './replay.ts'
import type { ExportNote, ExportNoteCode } from './report.ts'
import { runs } from './runs.ts'
import type { ToolNames } from './tool-names.ts'
import { isBlank, isWellFormed, toWellFormed } from './unicode.ts'

export type Part = TextPart | ImagePart | OwnPart
export type AssistantPart =
  | ((TextPart | OwnPart) & { readonly replay: ReplayEntry })
  | { readonly type: 'reasoning'; readonly block: ReasoningBlock; readonly replay: ReplayEntry }
  | {
      readonly type: 'call'
      readonly id: string
      readonly name: string
      readonly arguments: CallArguments
      readonly replay: ReplayEntry
      /** As of a text. */
      readonly kept?: JsonObject
      /** The call in a form that only the target's own shape has. */
      readonly own?: JsonObject
    }
type CallPart = Extract<AssistantPart, { type: 'call' }>

/** One entry in a form that every provider could take: never empty, calls and results paired by ids of this request. */
export type Turn =
  | { readonly role: 'user'; readonly parts: readonly Part[]; readonly kept?: JsonObject }
  | {
      readonly role: 'assistant'
      readonly message: Message
      readonly parts: readonly AssistantPart[]
      readonly isReasoningDropped: boolean
      readonly kept?: JsonObject
    }
  | {
      readonly role: 'result'
      readonly callId: string
      readonly isError: boolean
      readonly parts: readonly Part[]
      readonly kept?: JsonObject
    }

export interface Conversation {
  /** Texts of the system slot. */
  readonly head: readonly TextPart[]
  /** Members of the system message beside its texts. */
  readonly headKept?: JsonObject
  readonly turns: readonly Turn[]
  readonly notes: readonly ExportNote[]
}

/** What goes back in the form that it came in: all parts of the shape, and members of these names. */
export interface KeptNames {
  readonly shape: KeptShape
  readonly ofMessages?: readonly string[]
  readonly ofParts?: readonly string[]
}

/** What differs between providers before the wire form. */
export interface ExportTarget {
  readonly callIds: CallIds
  readonly toolNames: ToolNames
  readonly images: Images
  /** The shape whose own forms of things go back. */
  readonly kept?: KeptNames
  /** Whether a tool result takes images. */
  takesImages(isError: boolean): boolean
  /** Whether the reasoning of this entry goes back. */
  keepsReasoning(message: Message, index: number): boolean
}

/**
 * Applies the rules that all providers share to a derived list: system slot and frame, opening text, placeholders,
 * entries left out, ids and names, moved images, well-formed text. Throws `messages/*` on a list that no session
 * derives. SPEC 8.
 */
export function planConversation(messages: readonly Message[], target: ExportTarget): Conversation {
  const planner = new Planner(target)
  for (const [index, message] of messages.entries()) planner.add(message, index)
  return planner.finish()
}

class Planner {
  readonly #target: ExportTarget
  readonly #head: TextPart[] = []
  #headKept: JsonObject = {}
  readonly #turns: Turn[] = []
  readonly #notes: ExportNote[] = []
  /** Outstanding calls: the session's id and the request's. */
  readonly #open = new Map<string, string>()
  /** Images that wait for the end of the batch. */
  #moved: ImagePart[] = []

  constructor(target: ExportTarget) {
    this.#target = target
  }

  add(message: Message, index: number): void {
    const [first] = message.content
    if (message.role === 'user' && first?.type === 'tool-result') this.#result(message, first)
    else {
      this.#refuseOpenCalls(`message ${message.id} comes`)
      if (message.role === 'system') this.#system(message, index)
      else if (message.role === 'assistant') this.#assistant(message, index)
      else this.#user(message)
    }
    if (this.#open.size === 0) this.#flushImages()
  }

  finish(): Conversation {
    this.#refuseOpenCalls('the list ends')
    return { head: this.#head, headKept: this.#headKept, turns: this.#turns, notes: this.#notes }
  }

  #system(message: Message, index: number): void {
    const parts = message.content.flatMap((block) => {
      return block.type === 'text' ? this.#text(block, message) : this.#leaveOut(block.type, message)
    })
    if (index === 0) {
      this.#head.push(...parts)
      this.#headKept = this.#membersOf(message)
      return
    }
    const text = framedSystemText(parts.map((part) => part.text).join('\n\n'))
    this.#turns.push({ role: 'user', parts: [{ type: 'text', text }] })
    this.#note('system/framed', message)
  }

  #user(message: Message): void {
    const parts: Part[] = []
    for (const block of message.content) {
      const own = this.#own(block)
      if (own !== undefined) parts.push(own)
      else if (block.type === 'text') parts.push(...this.#text(block, message))
      else if (block.type === 'image') parts.push({ ...this.#image(block.attachment, message), ...this.#kept(block) })
      else this.#leaveOut(block.type, message)
    }
    if (parts.length === 0) {
      parts.push({ type: 'text', text: EMPTY_USER_TEXT })
      this.#note('user/placeholder', message)
    }
    this.#turns.push({ role: 'user', parts, kept: this.#membersOf(message) })
  }

  #assistant(message: Message, index: number): void {
    const keepsReasoning = this.#target.keepsReasoning(message, index)
    const replay = replayBlocks(message)
    const parts: AssistantPart[] = []
    for (const [position, block] of message.content.entries()) {
      const entry = replay[position]
      const own = block.type === 'tool-call' ? undefined : this.#own(block)
      if (own !== undefined) parts.push({ ...own, ...this.#kept(block), replay: entry })
      else if (block.type === 'text')
        parts.push(...this.#text(block, message).map((part) => ({ ...part, replay: entry })))
      else if (block.type === 'tool-call') parts.push({ ...this.#call(block, message), replay: entry })
      else if (block.type === 'image') this.#moveImage(this.#image(block.attachment, message), message)
      else if (block.type !== 'reasoning') this.#leaveOut(block.type, message)
      else if (keepsReasoning) parts.push({ type: 'reasoning', block, replay: entry })
    }
    const isReasoningDropped = !keepsReasoning && message.content.some((block) => block.type === 'reasoning')
    if (isReasoningDropped) this.#note('reasoning/dropped', message)
    if (parts.every((part) => part.type === 'reasoning')) {
      this.#note('assistant/left-out', message)
      return
    }
    if (this.#turns.length === 0) {
      this.#turns.push({ role: 'user', parts: [{ type: 'text', text: OPENING_TEXT }] })
      this.#note('opening/added', message)
    }
    this.#turns.push({ role: 'assistant', message, parts, isReasoningDropped, kept: this.#membersOf(message) })
  }

  #call(block: ToolCallBlock, message: Message): Omit<CallPart, 'replay'> {
    const { id, name, arguments: raw } = block
    if (this.#open.has(id)) {
      throw new ProviderMessagesError(
        'messages/duplicate-call',
        `message ${message.id} opens call ${id}, which is open already`,
      )
    }
    const wire = this.#target.callIds.take(id)
    this.#open.set(id, wire)
    if (wire !== id) this.#note('call-id/rewritten', message, wire)
    const args = callArguments(raw)
    if (args.isMarked) this.#note('arguments/marked', message, wire)
    if (args.isMended) this.#note('text/well-formed', message)
    const own = this.#own(block)
    return {
      type: 'call',
      id: wire,
      name: this.#target.toolNames.wire(name),
      arguments: args,
      ...this.#kept(block),
      ...(own === undefined ? {} : { own: own.value }),
    }
  }

  #result(message: Message, block: ToolResultBlock): void {
    if (message.content.length > 1) {
      throw new ProviderMessagesError(
        'messages/invalid',
        `message ${message.id} has more than its one tool-result block`,
      )
    }
    const callId = this.#open.get(block.toolCallId)
    if (callId === undefined) {
      const what = `message ${message.id} answers call ${block.toolCallId}, which is not open`
      throw new ProviderMessagesError('messages/unknown-call', `${what}: export the list that a session derives`)
    }
    this.#open.delete(block.toolCallId)
    const isError = block.isError === true
    const parts: Part[] = []
    for (const inner of block.content) {
      // What is no text would make an error that providers refuse.
      const own = isError ? undefined : this.#own(inner)
      if (own !== undefined) parts.push(own)
      else if (inner.type === 'text') parts.push(...this.#text(inner, message))
      else if (inner.type !== 'image') this.#leaveOut(inner.type, message)
      else {
        const part = this.#image(inner.attachment, message)
        if (this.#target.takesImages(isError)) parts.push({ ...part, ...this.#kept(inner) })
        else parts.push(this.#moveImage(part, message))
      }
    }
    if (parts.length === 0) {
      parts.push({ type: 'text', text: EMPTY_RESULT_TEXT })
      this.#note('result/placeholder', message)
    }
    this.#turns.push({ role: 'result', callId, isError, parts, kept: this.#membersOf(message) })
  }

  #refuseOpenCalls(when: string): void {
    if (this.#open.size === 0) return
    const ids = [...this.#open.keys()].join(', ')
    const wayOut = 'append interruptedTurnClosers(events) first'
    throw new ProviderMessagesError('messages/open-calls', `${when} while calls ${ids} are unanswered: ${wayOut}`)
  }

  /** No part for blank text: some providers refuse it, and none can read it. */
  #text(block: TextBlock, message: Message): TextPart[] {
    const { text } = block
    const kept = isBlank(text) ? keptType(block) : undefined
    if (kept !== undefined) this.#note('block/left-out', message, kept)
    if (isBlank(text)) return []
    if (!isWellFormed(text)) this.#note('text/well-formed', message)
    return [{ type: 'text', text: toWellFormed(text), ...this.#kept(block) }]
  }

  /** What the block was in the target's own shape, where it is more than the block says. */
  #own(block: object): OwnPart | undefined {
    return ownPart(block, this.#target.kept?.shape, (ref) => this.#target.images.bytes(ref))
  }

  #kept(block: object): { kept?: JsonObject } {
    const kept = keptMembers(block, this.#target.kept?.shape, this.#target.kept?.ofParts ?? [])
    return Object.keys(kept).length === 0 ? {} : { kept }
  }

  #membersOf({ source }: Message): JsonObject {
    return keptMembers(source, this.#target.kept?.shape, this.#target.kept?.ofMessages ?? [])
  }

  #image(attachment: ImagePart['attachment'], message: Message): TextPart | ImagePart {
    return this.#target.images.part(attachment, (code, detail) => this.#note(code, message, detail))
  }

  /** Puts an image by for the message after the batch, and answers the text that stands in its place. */
  #moveImage(part: TextPart | ImagePart, message: Message): TextPart {
    if (part.type === 'text') return part
    this.#moved.push(part)
    this.#note('image/moved', message, part.attachment.attachmentId)
    return { type: 'text', text: movedImageText(this.#moved.length) }
  }

  #flushImages(): void {
    if (this.#moved.length === 0) return
    this.#turns.push({ role: 'user', parts: [{ type: 'text', text: MOVED_IMAGES_TEXT }, ...this.#moved] })
    this.#moved = []
  }

  #leaveOut(type: string, message: Message): [] {
    if (message.role !== 'user' || type === 'tool-call' || type === 'tool-result') {
      throw new ProviderMessagesError(
        'messages/invalid',
        `message ${message.id} has a ${type} block where none may stand`,
      )
    }
    this.#note('block/left-out', message, type)
    return []
  }

  #note(code: ExportNoteCode, message: Message, detail?: string): void {
    this.#notes.push({ code, messageId: message.id, ...(detail === undefined ? {} : { detail }) })
  }
}

/** Joins neighbouring users and neighbouring assistants into one turn each, for targets that ask for alternation. */
export function joinNeighbours(turns: readonly Turn[]): Turn[] {
  return runs(turns, (first, next) => first.role === next.role && first.role !== 'result').map((run): Turn => {
    const [first] = run
    if (first.role === 'result') return first
    if (first.role === 'user')
      return { ...first, parts: run.flatMap((turn) => (turn.role === 'user' ? turn.parts : [])) }
    return { ...first, parts: run.flatMap((turn) => (turn.role === 'assistant' ? turn.parts : [])) }
  })
}
