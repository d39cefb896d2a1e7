import type {
  AttachmentRef,
  ContentBlock,
  Json,
  JsonObject,
  Message,
  ToolCallBlock,
  ToolResultBlock,
} from '@palimpsest/session'
import { ProviderMessagesError } from '../errors.ts'
import { MISSING_IMAGE_TEXT } from '../shared/fixed-texts.ts'
import { Images } from '../shared/images.ts'
import type { ImageLookup } from '../shared/images.ts'
import { isRecord, member, parsed } from '../shared/json-reader.ts'
import { keptMembers, keptType, ownPart } from '../shared/kept-form.ts'
import { replayBlocks, replayMetadata } from '../shared/replay.ts'
import type { ReplayEntry } from '../shared/replay.ts'
import type { ExportNote } from '../shared/report.ts'
import { isBlank } from '../shared/unicode.ts'
import type { UiMessage, UiPart, UiToolPart } from './ui-wire.ts'

export interface UiMessagesOptions {
  /** Bytes of an attachment; without it a text stands for every image, and every document is left out. */
  readonly image?: ImageLookup
}

/** Messages for a page, and what was changed on the way. */
export interface UiMessagesExport {
  readonly messages: readonly UiMessage[]
  readonly report: { readonly notes: readonly ExportNote[] }
}

/**
 * Writes a derived list as `UIMessage`s of the AI SDK, version 5: everything from one user to the next is one message of
 * the assistant with a `step-start` before each response, and a call and its result are one part. Files are data URLs.
 * The ids are those of the messages; of a turn, that of its first response. Pure. Throws `ProviderMessagesError`
 * `messages/unknown-call` on a result whose call is not before it. SPEC 8.
 */
export function toUiMessages(messages: readonly Message[], options: UiMessagesOptions = {}): UiMessagesExport {
  const writer = new UiWriter(options.image)
  for (const message of messages) writer.add(message)
  return { messages: writer.messages, report: { notes: writer.notes } }
}

class UiWriter {
  readonly messages: {
    readonly id: string
    readonly role: UiMessage['role']
    metadata?: Json
    readonly parts: UiPart[]
  }[] = []
  readonly notes: ExportNote[] = []
  readonly #images: Images
  /** Calls without a result yet: the parts that they stand in, and their places there. */
  readonly #open = new Map<string, { readonly parts: UiPart[]; readonly at: number; readonly part: UiToolPart }>()

  constructor(lookup: ImageLookup | undefined) {
    this.#images = new Images(new Set(), { images: Infinity }, lookup)
  }

  add(message: Message): void {
    const [first] = message.content
    if (first?.type === 'tool-result') this.#result(first, message)
    else if (message.role === 'assistant') this.#assistant(message)
    else this.#start(message).push(...message.content.flatMap((block) => this.#part(block, undefined, message)))
  }

  #start({ id, role, source }: Message): UiPart[] {
    const parts: UiPart[] = []
    this.messages.push({ id, role, ...keptMembers(source, 'ui-messages', ['metadata']), parts })
    return parts
  }

  #assistant(message: Message): void {
    const replay = replayBlocks(message)
    const step = message.content.flatMap((block, index): UiPart[] => {
      return block.type === 'tool-call' ? [callPart(block, replay[index])] : this.#part(block, replay[index], message)
    })
    if (step.length === 0) {
      this.#note('assistant/left-out', message)
      return
    }
    const last = this.messages.at(-1)
    const parts = last?.role === 'assistant' ? last.parts : this.#start(message)
    parts.push({ type: 'step-start' })
    for (const part of step) {
      if (isCall(part)) this.#open.set(part.toolCallId, { parts, at: parts.length, part })
      parts.push(part)
    }
  }

  #part(block: ContentBlock, replay: ReplayEntry, message: Message): UiPart[] {
    const own = ownPart(block, 'ui-messages', (ref) => this.#images.bytes(ref))
    if (own !== undefined) return [own.value as unknown as UiPart]
    const metadata = replayMetadata(replay)
    const more = {
      ...(metadata === undefined ? {} : { providerMetadata: metadata }),
      ...keptMembers(block, 'ui-messages', ['providerMetadata', 'filename']),
    }
    if (block.type === 'text') {
      const type = isBlank(block.text) ? keptType(block) : undefined
      if (type !== undefined) this.#note('block/left-out', message, type)
      return type === undefined ? [{ type: 'text', text: block.text, ...more }] : []
    }
    if (block.type === 'reasoning') return [{ type: 'reasoning', text: block.text, ...more }]
    const attachment = member(block, 'attachment') as AttachmentRef | undefined
    if (attachment === undefined) return this.#leaveOut(block.type, message)
    const data = this.#images.bytes(attachment)
    if (data !== '') {
      const { mediaType, name } = attachment
      const filename = name === undefined ? {} : { filename: name }
      return [{ type: 'file', mediaType, url: `data:${mediaType};base64,${data}`, ...filename, ...more }]
    }
    if (block.type !== 'image') return this.#leaveOut(block.type, message)
    this.#note('image/missing', message, attachment.attachmentId)
    return [{ type: 'text', text: MISSING_IMAGE_TEXT }]
  }

  #leaveOut(type: string, message: Message): [] {
    this.#note('block/left-out', message, type)
    return []
  }

  #result(block: ToolResultBlock, message: Message): void {
    const open = this.#open.get(block.toolCallId)
    if (open === undefined) {
      const what = `message ${message.id} answers call ${block.toolCallId}, which is not open`
      throw new ProviderMessagesError('messages/unknown-call', `${what}: export the list that a session derives`)
    }
    this.#open.delete(block.toolCallId)
    const { output: form } = keptMembers(message.source, 'ui-messages', ['output'])
    const isDenied = form === 'denied' && isRecord(member(open.part, 'approval'))
    const outcome = isDenied ? { state: 'output-denied' } : this.#outcome(block, form, message)
    open.parts[open.at] = { ...open.part, ...outcome } as UiToolPart
  }

  #outcome({ content, isError }: ToolResultBlock, form: Json | undefined, message: Message): Partial<UiToolPart> {
    const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n')
    if (isError === true) {
      for (const { type } of content) if (type !== 'text') this.#note('block/left-out', message, type)
      return { state: 'output-error', errorText: text }
    }
    const [first] = content
    if (content.length !== 1 || first?.type !== 'text') {
      return {
        state: 'output-available',
        output: { type: 'content', value: content.map((block) => this.#inner(block, message)) },
      }
    }
    const value = form === 'json' ? parsed(text) : undefined
    return { state: 'output-available', output: value === undefined ? text : (value as Json) }
  }

  /** A part of an output of several, in the form that tools of the AI SDK give models. */
  #inner(block: ContentBlock, message: Message): JsonObject {
    if (block.type === 'text') return { type: 'text', text: block.text }
    const attachment = member(block, 'attachment') as AttachmentRef | undefined
    const data = attachment === undefined ? '' : this.#images.bytes(attachment)
    if (attachment !== undefined && data !== '') return { type: 'media', mediaType: attachment.mediaType, data }
    this.#note('image/missing', message, attachment?.attachmentId)
    return { type: 'text', text: MISSING_IMAGE_TEXT }
  }

  #note(code: ExportNote['code'], message: Message, detail?: string): void {
    this.notes.push({ code, messageId: message.id, ...(detail === undefined ? {} : { detail }) })
  }
}

function callPart(block: ToolCallBlock, replay: ReplayEntry): UiToolPart {
  const { type, ...kept } = keptMembers(block, 'ui-messages', ['type', 'title', 'approval'])
  const metadata = replayMetadata(replay)
  const name = type === 'dynamic-tool' ? { type, toolName: block.name } : { type: `tool-${block.name}` as const }
  return {
    ...name,
    toolCallId: block.id,
    state: 'input-available',
    input: inputOf(block.arguments),
    ...kept,
    ...(metadata === undefined ? {} : { callProviderMetadata: metadata }),
  } as UiToolPart
}

/** Whether a part is a call that waits for its result. */
function isCall(part: UiPart): part is UiToolPart {
  return 'toolCallId' in part && part['state'] === 'input-available'
}

/** The value of the arguments; their own text where they are no JSON, or JSON of a string. */
function inputOf(text: string): Json {
  const value = parsed(text)
  return value === undefined || typeof value === 'string' ? text : (value as Json)
}
