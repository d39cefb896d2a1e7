import { foldSurface, isSurfaceType } from '@palimpsest/session'
import type { EventOf, JsonObject, SessionEvent, SessionHeader, StoredSession } from '@palimpsest/session'
import { Losses } from '../export.ts'
import type { TranscriptExport, TranscriptExportOptions } from '../export.ts'
import { isObject, isTooDeep, objectMember, stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'
import { BlockWriter } from './export-blocks.ts'
import { LineIds, sessionUuid } from './line-ids.ts'

/** The version of Claude Code whose lines these are. */
const version = '2.1.114'

/**
 * The session file that Claude Code itself would have written for what is on the surface now: a line for each block,
 * responses joined by their ids, each result hanging off its call. Uuids come from the session, so that exporting again
 * gives the same bytes. Whatever the file cannot hold is in the report. Throws `SessionAcceptanceError` for a log that
 * does not fold. SPEC 8.
 */
export function exportClaudeCode(session: StoredSession, options: TranscriptExportOptions = {}): TranscriptExport {
  const losses = new Losses()
  const { nodes } = foldSurface(session.events)
  const file = new SessionFile(session.header, new BlockWriter(losses, options), losses)
  for (const [place, seq] of nodes.entries()) {
    const event = session.events[seq]
    if (event !== undefined) file.add(event, place === 0)
  }
  countLeftBehind(session.events, new Set(nodes), losses)
  return { text: file.lines.map((line) => `${JSON.stringify(line)}\n`).join(''), report: { losses: losses.list() } }
}

/** Events that the conversation itself says: they need no line. */
const implied: ReadonlySet<string> = new Set(['turn/start', 'turn/end', 'step/start', 'step/end', 'tool/call'])

function countLeftBehind(events: readonly SessionEvent[], shown: ReadonlySet<number>, losses: Losses): void {
  for (const { type, seq } of events) {
    if (shown.has(seq) || implied.has(type)) continue
    if (isSurfaceType(type)) losses.add('history/replaced', 'messages that something else stands for now', seq)
    else losses.add('event/beside', 'events beside the conversation', seq)
  }
}

class SessionFile {
  readonly lines: JsonObject[] = []
  readonly #envelope: JsonObject
  readonly #blocks: BlockWriter
  readonly #losses: Losses
  readonly #ids: LineIds
  /** The line of each call that is still open, by the id of the call. */
  readonly #callLines = new Map<string, string>()
  #last: string | null = null

  constructor(header: SessionHeader, blocks: BlockWriter, losses: Losses) {
    this.#envelope = envelopeOf(header)
    this.#blocks = blocks
    this.#losses = losses
    this.#ids = new LineIds(header.id)
  }

  add(event: SessionEvent, isFirst: boolean): void {
    switch (event.type) {
      case 'system/message':
        return this.#addSystem(event, isFirst)
      case 'user/message':
        return this.#addUser(event)
      case 'assistant/message':
        return this.#addResponse(event)
      case 'tool/result':
        return this.#addResult(event)
      default:
        return
    }
  }

  /** Adds a line and returns its uuid. It follows the last one unless told otherwise. */
  #line(event: SessionEvent, place: string, members: JsonObject, wanted?: string): string {
    const uuid = this.#ids.uuid(`${event.seq}/${place}`, wanted)
    const line = { parentUuid: this.#last, ...this.#envelope, ...members, uuid, ...this.#timestamp(event) }
    this.lines.push(line)
    this.#last = uuid
    return uuid
  }

  #timestamp({ time, seq }: SessionEvent): JsonObject {
    const date = new Date(time)
    if (!Number.isNaN(date.getTime())) return { timestamp: date.toISOString() }
    this.#losses.add('event/time', 'times that no date can say', seq)
    return {}
  }

  #addSystem(event: EventOf<'system/message'>, isFirst: boolean): void {
    const { message } = event.data
    if (message.content.length === 0) return
    if (isFirst) {
      this.#losses.add('system/prompt', 'the system prompt: Claude Code brings its own', event.seq)
      return
    }
    this.#losses.add('system/as-user', 'system messages within the conversation stand as reminders', event.seq)
    const content = this.#blocks.user(message.content, event.seq)
    this.#line(event, '', { type: 'user', isMeta: true, message: { role: 'user', content } }, message.id)
  }

  #addUser(event: EventOf<'user/message'>): void {
    const { id, content, source } = event.data
    const { seq } = event
    if (content.length === 0) {
      this.#losses.add('message/empty', 'messages without any content', seq)
      return
    }
    const isPlugin = source.kind !== 'user'
    if (isPlugin && source['plugin'] !== 'claude-code') {
      this.#losses.add('message/plugin', 'which plugin wrote a message', seq)
    }
    const isSummary = isPlugin && event.surfaceOp !== 'append' && this.lines.length === 0
    if (isSummary) {
      const boundary = { type: 'system', subtype: 'compact_boundary', content: 'Conversation compacted', level: 'info' }
      this.#line(event, 'boundary', { ...boundary, isMeta: false, compactMetadata: { trigger: 'auto' } })
    }
    const [only] = content
    const said = content.length === 1 && only?.type === 'text' ? only.text : this.#blocks.user(content, seq)
    const marks = isSummary
      ? { isCompactSummary: true, isVisibleInTranscriptOnly: true }
      : isPlugin
        ? { isMeta: true }
        : {}
    this.#line(event, '', { type: 'user', message: { role: 'user', content: said }, ...marks }, id)
  }

  #addResponse(event: EventOf<'assistant/message'>): void {
    const { message, usage = {}, interrupted } = event.data
    const { source, content } = message
    const { seq } = event
    if (content.length === 0) {
      this.#losses.add('message/empty', 'messages without any content', seq)
      return
    }
    if (source.provider.split('.', 1)[0] !== 'anthropic') {
      this.#losses.add('model/provider', 'which provider a model was asked through', seq)
    }
    if (usage.reasoningTokens !== undefined) {
      this.#losses.add('usage/reasoning', 'how many tokens went into reasoning', seq)
    }
    const state: LooseObject = isObject(source.replayState) ? source.replayState : {}
    const response = objectMember(state, 'response') ?? {}
    const requestId = stringMember(response, 'requestId')
    const hasCalls = content.some(({ type }) => type === 'tool-call')
    const replay = Array.isArray(state['blocks']) ? (state['blocks'] as readonly unknown[]) : []
    const head = {
      model: source.model === '<synthetic>' ? 'synthetic' : source.model,
      id: this.#ids.response(String(seq), stringMember(response, 'id') ?? message.id),
      type: 'message',
      role: 'assistant',
    }
    const tail = {
      stop_reason: stringMember(response, 'stopReason') ?? (hasCalls ? 'tool_use' : 'end_turn'),
      stop_sequence: null,
      ...usageOf(usage),
    }
    for (const [index, block] of content.entries()) {
      const written = this.#blocks.assistant(block, replay[index], seq)
      const uuid = this.#line(event, String(index), {
        type: 'assistant',
        message: { ...head, content: [written], ...tail },
        ...(requestId === undefined ? {} : { requestId }),
        ...(interrupted === true ? { isAbortedMidStream: true } : {}),
      })
      if (block.type === 'tool-call') this.#callLines.set(block.id, uuid)
    }
  }

  #addResult(event: EventOf<'tool/result'>): void {
    const { message, meta, error } = event.data
    const [{ toolCallId, content, isError }] = message.content
    const callLine = this.#callLines.get(toolCallId)
    if (error !== undefined) this.#losses.add('result/error', 'names and codes of errors of tools', event.seq)
    const result = { tool_use_id: toolCallId, type: 'tool_result', content: this.#blocks.result(content, event.seq) }
    if (callLine !== undefined) this.#last = callLine
    const members = {
      type: 'user',
      message: { role: 'user', content: [{ ...result, is_error: isError === true }] },
      ...this.#shown(meta, event),
      ...(callLine === undefined ? {} : { sourceToolAssistantUUID: callLine }),
    }
    this.#line(event, '', members, message.id)
  }

  /** What Claude Code showed to the user of a result: it is in `meta` where an import put it. */
  #shown(meta: unknown, { seq }: SessionEvent): JsonObject {
    const isOwn = isObject(meta) && Object.hasOwn(meta, 'toolUseResult')
    const shown = isOwn ? { toolUseResult: meta['toolUseResult'] as JsonObject } : {}
    const isWhole = isOwn && Object.keys(meta).length === 1 && !isTooDeep(shown)
    if (meta !== undefined && !isWhole) this.#losses.add('result/meta', 'what plugins keep beside results', seq)
    return isTooDeep(shown) ? {} : shown
  }
}

function envelopeOf({ id, cwd, parentSession, origin }: SessionHeader): JsonObject {
  const prefix = `${parentSession ?? ''}.agent-`
  const isAgent = origin === 'subagent' && parentSession !== undefined && id.startsWith(prefix)
  const owner = isAgent ? { isSidechain: true, agentId: id.slice(prefix.length) } : { isSidechain: false }
  const sessionId = isAgent ? parentSession : sessionUuid(id)
  return { ...owner, userType: 'external', cwd: cwd ?? '/', sessionId, version, gitBranch: '' }
}

function usageOf(
  usage: NonNullable<EventOf<'assistant/message'>['data']['usage']> | Record<string, never>,
): JsonObject {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage
  const counts = Object.entries({
    input_tokens: inputTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cacheReadTokens,
    output_tokens: outputTokens,
  }).filter((entry): entry is [string, number] => entry[1] !== undefined)
  return counts.length === 0 ? {} : { usage: Object.fromEntries(counts) }
}
