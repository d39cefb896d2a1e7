import { deriveEventMessage, foldSurface, TOOL_OUTCOME_UNKNOWN } from '@palimpsest/session'
import type { AssistantMessage, EventOf, Message, SessionEvent, StoredSession, TokenUsage } from '@palimpsest/session'
import { Losses } from '../export.ts'
import type { TranscriptExport, TranscriptExportOptions } from '../export.ts'
import { isObject } from '../json.ts'
import { exportOutputItems } from './export-output.ts'
import { exportParts, exportResult } from './export-parts.ts'
import type { CodexRecord, ExportPlace } from './export-parts.ts'

/**
 * Writes what a session's model sees now as a rollout file of the Codex CLI. Importing it derives the same list, but for
 * what the report names, message ids, and the members of sources. Pure: same input, same bytes. Throws
 * `SessionAcceptanceError` for a log that no session accepts. SPEC 8.
 */
export function exportCodex(session: StoredSession, options: TranscriptExportOptions = {}): TranscriptExport {
  const losses = new Losses()
  const nodes = foldSurface(session.events).nodes
  const events = nodes.flatMap((seq) => session.events[seq] ?? [])
  const writer = new RolloutWriter(session, losses, options, unanswered(events))
  writer.writeMeta(events)
  for (const event of events[0]?.type === 'system/message' ? events.slice(1) : events) writer.write(event)
  const visible = new Set<number>(nodes)
  for (const { seq, surfaceOp } of session.events) {
    if (surfaceOp === undefined || visible.has(seq)) continue
    losses.add('history/replaced', 'messages that a compaction or a rollback covers stay behind', seq)
  }
  return { text: writer.text, report: { losses: losses.list() } }
}

/**
 * Closers that stay out of the file: the CLI leaves a call that nobody answered as it is, and an import closes it again,
 * behind the answers that its batch has. One that stands before such an answer is written, to keep its place.
 */
function unanswered(events: readonly SessionEvent[]): ReadonlySet<SessionEvent> {
  const left = new Set<SessionEvent>()
  let isLast = true
  for (const event of events.toReversed()) {
    isLast = event.type !== 'tool/result' || (isLast && isCloser(event))
    if (isLast && event.type === 'tool/result') left.add(event)
  }
  return left
}

const isCloser = ({ surfaceOp, data }: EventOf<'tool/result'>): boolean =>
  surfaceOp === 'append' && data.error?.code === TOOL_OUTCOME_UNKNOWN

class RolloutWriter {
  readonly #session: StoredSession
  readonly #losses: Losses
  readonly #options: TranscriptExportOptions
  readonly #lines: string[] = []
  readonly #efforts = new Map<number, string>()
  readonly #provider: string
  /** Calls of custom tools, whose outputs have a type of their own. */
  readonly #custom = new Set<string>()
  readonly #unanswered: ReadonlySet<SessionEvent>
  #context = ''
  #total: Record<string, number> = {}

  constructor(
    session: StoredSession,
    losses: Losses,
    options: TranscriptExportOptions,
    unanswered: ReadonlySet<SessionEvent>,
  ) {
    this.#unanswered = unanswered
    this.#session = session
    this.#losses = losses
    this.#options = options
    let effort: string | undefined
    let provider: string | undefined
    for (const event of session.events) {
      if (event.type === 'request/header') effort = event.data.header.config.reasoningEffort
      if (event.type !== 'assistant/message') continue
      if (effort !== undefined) this.#efforts.set(event.seq, effort)
      provider ??= event.data.message.source.provider
    }
    this.#provider = provider ?? 'openai.responses'
  }

  get text(): string {
    return this.#lines.map((line) => `${line}\n`).join('')
  }

  #line(time: number, type: string, payload: CodexRecord): void {
    this.#lines.push(JSON.stringify({ timestamp: timestampOf(time), type, payload }))
  }

  /** The first line, which holds the head of the surface too. */
  writeMeta(events: readonly SessionEvent[]): void {
    const { id, createdAt, cwd, parentSession } = this.#session.header
    const [head] = events
    const blocks = head?.type === 'system/message' ? head.data.message.content : []
    if (head !== undefined && blocks.length > 1) {
      this.#losses.add('system/blocks', 'base instructions are one text: blocks are joined by an empty line', head.seq)
    }
    this.#line(createdAt, 'session_meta', {
      id,
      timestamp: timestampOf(createdAt),
      cwd: cwd ?? '/',
      originator: 'palimpsest',
      cli_version: '0.0.0',
      source: 'cli',
      model_provider: this.#provider === 'openai.responses' ? 'openai' : this.#provider,
      ...(parentSession === undefined ? {} : { forked_from_id: parentSession }),
      ...(blocks.length === 0 ? {} : { base_instructions: { text: blocks.map(({ text }) => text).join('\n\n') } }),
    })
  }

  write(event: SessionEvent): void {
    const message = deriveEventMessage(event)
    if (message === null) return
    const place = { seq: event.seq, losses: this.#losses, ...this.#options }
    switch (event.type) {
      case 'system/message':
        return this.#item(event.time, { type: 'message', role: 'system', content: exportParts(message.content, place) })
      case 'user/message':
        return this.#writeUser(event.time, message, place)
      case 'assistant/message':
        return this.#writeAssistant(event.time, event.data.message, place, event.data.usage)
      case 'tool/result': {
        if (this.#unanswered.has(event)) return
        const custom = this.#custom.has(event.data.message.source.callId)
        if (event.data.meta !== undefined) {
          this.#losses.add('result/meta', 'what a result keeps beside what the model read stays behind', event.seq)
        }
        return this.#item(event.time, exportResult(event.data.message, custom, place))
      }
      default:
    }
  }

  #item(time: number, payload: CodexRecord): void {
    this.#line(time, 'response_item', payload)
  }

  #writeUser(time: number, { source, content }: Message, place: ExportPlace): void {
    const role = Reflect.get(source, 'role') === 'developer' ? 'developer' : 'user'
    const compaction: unknown = Reflect.get(source, 'compaction')
    if (isObject(compaction) && typeof compaction['encrypted_content'] === 'string') {
      return this.#item(time, { type: 'compaction', encrypted_content: compaction['encrypted_content'] })
    }
    if (source.kind !== 'user' && role === 'user') {
      this.#losses.add('message/plugin', 'what a program said stands as if the user had said it', place.seq)
    }
    const parts = exportParts(content, place)
    this.#item(time, { type: 'message', role, content: parts })
    if (source.kind !== 'user') return
    const text = parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n')
    this.#line(time, 'event_msg', { type: 'user_message', message: text, images: [] })
  }

  #writeAssistant(time: number, message: AssistantMessage, place: ExportPlace, usage: TokenUsage | undefined): void {
    const { provider, model } = message.source
    const effort = this.#efforts.get(place.seq)
    const context = {
      cwd: this.#session.header.cwd ?? '/',
      approval_policy: 'on-request',
      sandbox_policy: { type: 'read-only' },
      model,
      ...(effort === undefined ? {} : { effort }),
      summary: 'auto',
    }
    const written = JSON.stringify(context)
    if (written !== this.#context) this.#line(time, 'turn_context', context)
    this.#context = written
    if (provider !== this.#provider) {
      this.#losses.add('model/provider', `a rollout names one provider: ${this.#provider} stands for it`, place.seq)
    }
    for (const item of exportOutputItems(message, provider === this.#provider, place)) {
      if (item['type'] === 'custom_tool_call') this.#custom.add(String(item['call_id']))
      if (item['type'] === 'function_call') this.#custom.delete(String(item['call_id']))
      this.#item(time, item)
    }
    this.#line(time, 'event_msg', { type: 'token_count', info: this.#count(usage), rate_limits: null })
  }

  /** Counts of tokens stand behind a response; they end it too. */
  #count(usage: TokenUsage | undefined): CodexRecord | null {
    if (usage === undefined) return null
    const last = {
      input_tokens: usage.inputTokens ?? 0,
      cached_input_tokens: usage.cacheReadTokens ?? 0,
      output_tokens: usage.outputTokens ?? 0,
      reasoning_output_tokens: usage.reasoningTokens ?? 0,
      total_tokens: (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0),
    }
    this.#total = Object.fromEntries(
      Object.entries(last).map(([member, tokens]) => [member, tokens + (this.#total[member] ?? 0)]),
    )
    return { total_token_usage: this.#total, last_token_usage: last, model_context_window: null }
  }
}

/** Times beyond what dates can hold are the epoch. */
function timestampOf(time: number): string {
  return new Date(Math.abs(time) <= 8.64e15 ? time : 0).toISOString()
}
