import { foldSurface } from '@palimpsest/session'
import type { EventOf, Json, JsonObject, SessionEvent, StoredSession, UserMessage } from '@palimpsest/session'
import { Losses } from '../export.ts'
import type { TranscriptExport, TranscriptExportOptions } from '../export.ts'
import { objectMember, stringMember } from '../json.ts'
import { bashOutput } from './bash.ts'
import { writeAssistant } from './export-assistant.ts'
import { ContentWriter } from './export-content.ts'
import { systemType } from './system.ts'

/**
 * Writes what is on the surface as a session file of pi, version 3: one chain of entries, in order. What such a file has no
 * place for is in the report. Calls that are open stay without an answer. Pure: same input, same bytes. SPEC 8, FORMATS 3.
 */
export function exportPi(session: StoredSession, options: TranscriptExportOptions = {}): TranscriptExport {
  const losses = new Losses()
  const { header, events } = session
  const nodes = foldSurface(events).nodes.flatMap((seq) => events[seq] ?? [])
  const chain = new Chain(losses, new ContentWriter(losses, options))
  for (const [place, event] of nodes.entries()) chain.add(event, place)
  const visible = new Set(nodes)
  for (const event of events) {
    if (event.surfaceOp !== undefined && !visible.has(event)) {
      losses.add('history/replaced', 'what something else stands for now is not in the file', event.seq)
    } else if (event.type === 'import/raw') {
      losses.add('history/raw', 'lines of an imported file that no model reads are not in the file', event.seq)
    }
  }
  const head = {
    type: 'session',
    version: 3,
    id: header.id,
    timestamp: isoDate(header.createdAt),
    cwd: header.cwd ?? '/',
  }
  return {
    text: [head, ...chain.entries].map((line) => `${JSON.stringify(line)}\n`).join(''),
    report: { losses: losses.list() },
  }
}

/** Dates beyond those that ISO can say become the nearest. */
const isoDate = (time: number): string => new Date(Math.min(Math.max(time, -8.64e15), 8.64e15)).toISOString()

type Entry = Readonly<Record<string, unknown>>

/** The entries of a file, each below the one before it. */
class Chain {
  readonly entries: Entry[] = []
  readonly #losses: Losses
  readonly #content: ContentWriter
  readonly #callNames = new Map<string, string>()
  #parent: string | null = null
  #model = ''
  /** Whether a model reads anything of what is written yet. */
  #isBegun = false

  constructor(losses: Losses, content: ContentWriter) {
    this.#losses = losses
    this.#content = content
  }

  add(event: SessionEvent, place: number): void {
    if (event.type === 'system/message') this.#addSystem(event, place)
    else if (event.type === 'user/message') this.#addUser(event)
    else if (event.type === 'assistant/message') this.#addAssistant(event)
    else if (event.type === 'tool/result') this.#addResult(event)
    else this.#losses.add('event/foreign', 'events of other packages are not in the file', event.seq)
  }

  /** The id that the next entry gets: 8 hex digits, none twice. */
  get #nextId(): string {
    return (this.entries.length + 1).toString(16).padStart(8, '0')
  }

  #write({ time }: SessionEvent, type: string, members: Entry): void {
    const id = this.#nextId
    this.entries.push({ type, id, parentId: this.#parent, timestamp: isoDate(time), ...members })
    this.#parent = id
    if (type !== 'model_change' && type !== 'custom') this.#isBegun = true
  }

  #addSystem(event: EventOf<'system/message'>, place: number): void {
    const { content } = event.data.message
    if (content.length === 0) return
    const data = { customType: systemType, content }
    if (place === 0) {
      this.#losses.add('system/prompt', 'pi makes its own prompt: this one stands beside the conversation', event.seq)
      this.#write(event, 'custom', { customType: systemType, data: { content } })
    } else {
      this.#losses.add('system/as-user', 'pi reads a system message inside the conversation as a user’s', event.seq)
      this.#write(event, 'custom_message', { ...data, display: true })
    }
  }

  #addUser(event: EventOf<'user/message'>): void {
    const { source } = event.data
    const content = this.#content.write(event.data.content, event.seq)
    if (source.kind === 'user') {
      this.#write(event, 'message', { message: { role: 'user', content, timestamp: event.time } })
      return
    }
    const text = onlyText(event.data)
    const summary = summaryOf(event, text)
    if (summary !== undefined && !this.#isBegun) {
      // It names itself as the first entry that it keeps: nothing before it is kept.
      this.#write(event, 'compaction', { tokensBefore: 0, ...summary, firstKeptEntryId: this.#nextId })
      return
    }
    const members = source as JsonObject
    const [branch, bash] = [objectMember(members, 'branchSummary'), objectMember(members, 'bashExecution')]
    const output = bash && text !== undefined ? bashOutput(text, bash) : undefined
    if (branch !== undefined && text !== undefined && text !== '') {
      this.#write(event, 'branch_summary', { fromId: 'root', ...branch, summary: text })
    } else if (output !== undefined) {
      const message = { role: 'bashExecution', cancelled: false, truncated: false, ...bash, output }
      this.#write(event, 'message', { message: { ...message, timestamp: event.time } })
    } else {
      const custom = objectMember(members, 'custom') ?? {}
      const customType = stringMember(members, 'plugin') ?? stringMember(members, 'kind') ?? ''
      this.#write(event, 'custom_message', { customType, display: true, ...custom, content })
    }
  }

  #addAssistant(event: EventOf<'assistant/message'>): void {
    const { message } = event.data
    if (message.content.length === 0) return
    for (const block of message.content) if (block.type === 'tool-call') this.#callNames.set(block.id, block.name)
    const written = writeAssistant(event, this.#losses)
    const model = JSON.stringify([written.provider, written.model])
    if (model !== this.#model) {
      this.#write(event, 'model_change', { provider: written.provider, modelId: written.model })
      this.#model = model
    }
    this.#write(event, 'message', { message: written })
  }

  #addResult(event: EventOf<'tool/result'>): void {
    const { message, meta, error } = event.data
    const [{ toolCallId, content, isError = false }] = message.content
    if (error !== undefined) this.#losses.add('result/error', 'the code of a failed call is not in the file', event.seq)
    const written = {
      role: 'toolResult',
      toolCallId,
      toolName: this.#callNames.get(toolCallId) ?? '',
      content: this.#content.write(content, event.seq),
      ...(meta === undefined ? {} : { details: meta }),
      isError,
      timestamp: event.time,
    }
    this.#write(event, 'message', { message: written })
  }
}

function onlyText({ content }: UserMessage): string | undefined {
  const [first] = content
  return content.length === 1 && first?.type === 'text' ? first.text : undefined
}

/** The members of a compaction, where a message is the summary of what it stands for. */
function summaryOf(event: EventOf<'user/message'>, text: string | undefined): JsonObject | undefined {
  if (text === undefined) return undefined
  const source = event.data.source as { readonly [member: string]: Json | undefined }
  const own = source['plugin'] === 'pi' ? objectMember(source, 'compaction') : undefined
  if (own !== undefined) {
    const { firstKeptEntryIndex: _, firstKeptEntryId: __, ...members } = own as JsonObject
    return { ...members, summary: text }
  }
  return event.surfaceOp !== 'append' && stringMember(source, 'kind') === 'plugin' ? { summary: text } : undefined
}
