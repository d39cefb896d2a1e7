import type { Draft, DraftOrigin, DraftUser } from '../conversation/draft.ts'
import type { ReadLine } from '../conversation/source-lines.ts'
import type { Conversation } from '../conversation/write.ts'
import { countMember, objectMember, stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'
import type { ImportWarning } from '../report.ts'
import type { Images } from './content.ts'
import { CodexHistory } from './history.ts'
import { readAgentMessage, readItem } from './item.ts'
import type { CodexItem, CodexUser, ReadItem } from './item.ts'
import { codexLine, codexMeta, nonEmpty } from './line.ts'
import type { CodexLine } from './line.ts'
import { compactionLeftOut, compactionOf, replacementItems, restated } from './replacement.ts'
import { CodexResponse, CodexUsage } from './response.ts'

/** Reads a rollout file whose images are in a sink already. Pure. FORMATS 2. */
export function readCodex(file: readonly ReadLine[], images: Images): Conversation {
  const reader = new CodexReader(images)
  for (const line of file) reader.read(line)
  return {
    drafts: reader.finish(),
    lines: file.flatMap((line) => (line.kind === 'blank' ? [] : [line.kept])),
    blank: file.filter(({ kind }) => kind === 'blank').length,
    warnings: reader.warnings,
    leftOut: reader.leftOut,
  }
}

/** Kinds of `event_msg` that show what a response item says too. */
const duplicates: ReadonlySet<string> = new Set([
  'user_message',
  'agent_message',
  'agent_reasoning',
  'agent_reasoning_raw_content',
])

const stateTypes: ReadonlySet<string> = new Set(
  (
    'session_meta turn_context world_state state inter_agent_communication_metadata security_risk_score realtime_item ' +
    'token_usage_record rollout_reference'
  ).split(' '),
)

type PlacedOrigin = DraftOrigin & { readonly key: string }

class CodexReader {
  readonly warnings: ImportWarning[] = []
  readonly leftOut = new Map<number, readonly string[]>()
  readonly #images: Images
  readonly #drafts: (Draft | CodexResponse)[] = []
  readonly #history = new CodexHistory()
  readonly #usage = new CodexUsage()
  /** Items that a compaction may refer to, by their ids. */
  readonly #items = new Map<string, LooseObject>()
  #response: CodexResponse | undefined
  #provider: string | undefined
  #model = 'unknown'
  #effort: string | undefined
  /** An abort whose turn may still write what it had begun. */
  #abort: { readonly line: number; readonly cause: string } | undefined
  #keys = 0

  constructor(images: Images) {
    this.#images = images
  }

  finish(): Draft[] {
    this.#endAborted()
    return this.#drafts.map((draft) => (draft instanceof CodexResponse ? draft.draft() : draft))
  }

  read(read: ReadLine): void {
    if (read.kind === 'blank') return
    if (read.kind === 'foreign') return this.#raw(read.kept.line, read.reason)
    const line = codexLine(read)
    if (line === undefined) return this.#raw(read.kept.line, 'line/no-type')
    this.#readLine(line)
  }

  #readLine(line: CodexLine): void {
    const { type, payload } = line
    switch (type) {
      case 'response_item':
        return this.#readItem(line)
      case 'event_msg':
        return this.#readEvent(line)
      case 'compacted':
        return this.#readCompacted(line)
      case 'inter_agent_communication':
        return this.#place(line, type, readAgentMessage(payload, this.#images))
      case 'session_meta':
        this.#readMeta(line)
        break
      case 'turn_context':
        this.#readContext(payload)
        break
    }
    this.#raw(line.kept.line, stateTypes.has(type) ? 'state' : 'line/unknown-type', type)
  }

  #raw(line: number, reason: string, type?: string): void {
    this.#drafts.push({ kind: 'raw', line, reason, ...(type === undefined ? {} : { type }) })
  }

  #origin({ kept: { line, time } }: CodexLine, id?: string): PlacedOrigin {
    this.#keys += 1
    return {
      lines: [line],
      key: String(this.#keys),
      ...(time === undefined ? {} : { time }),
      ...(id === undefined ? {} : { id }),
    }
  }

  /** A response ends with what no response can hold, and where the count of its tokens or a new request stands. */
  #endResponse(): void {
    this.#response = undefined
  }

  #endAborted(): void {
    if (this.#abort === undefined) return
    const { line, cause } = this.#abort
    this.#abort = undefined
    this.#endResponse()
    this.#drafts.push({ kind: 'turn-end', origin: { lines: [line] }, reason: { kind: 'aborted', cause } })
  }

  #readMeta(line: CodexLine): void {
    if (this.#provider !== undefined) return
    const { provider, instructions } = codexMeta(line.payload)
    this.#provider = provider
    if (instructions === undefined) return
    const content = [{ type: 'text' as const, text: instructions }]
    this.#drafts.push({ kind: 'system', origin: this.#origin(line, 'system'), content, place: 'head' })
  }

  #readContext(payload: LooseObject): void {
    this.#endAborted()
    this.#endResponse()
    this.#usage.requested()
    this.#model = nonEmpty(payload, 'model') ?? this.#model
    const effort = nonEmpty(payload, 'effort')
    if (effort === undefined || effort === this.#effort) return
    this.#effort = effort
    this.#drafts.push({ kind: 'setting', config: { reasoningEffort: effort } })
  }

  #readEvent(line: CodexLine): void {
    const kind = stringMember(line.payload, 'type') ?? ''
    this.#raw(line.kept.line, duplicates.has(kind) ? 'event/duplicate' : 'state', `event_msg/${kind}`)
    if (kind === 'token_count') {
      this.#usage.counted(line.payload)
      this.#endResponse()
    } else if (kind === 'task_started' || kind === 'turn_started') this.#endAborted()
    else if (kind === 'task_complete' || kind === 'turn_complete') this.#endTurn(line)
    else if (kind === 'turn_aborted') {
      this.#endAborted()
      this.#abort = { line: line.kept.line, cause: nonEmpty(line.payload, 'reason') ?? 'interrupted' }
    } else if (kind === 'thread_rolled_back') this.#rollBack(line)
  }

  #endTurn(line: CodexLine): void {
    if (this.#abort !== undefined) return this.#endAborted()
    this.#endResponse()
    const message = nonEmpty(objectMember(line.payload, 'error') ?? {}, 'message')
    const { key: _, ...origin } = this.#origin(line)
    const reason =
      message === undefined ? { kind: 'completed' as const } : { kind: 'error' as const, failure: { message } }
    this.#drafts.push({ kind: 'turn-end', origin, reason })
  }

  #rollBack(line: CodexLine): void {
    this.#endAborted()
    this.#endResponse()
    const first = this.#history.dropTurns(countMember(line.payload, 'num_turns') ?? 0)
    if (first === undefined) return
    this.#drafts.push({ kind: 'replace', origin: this.#origin(line), why: 'rollback', from: first.key })
  }

  #readItem(line: CodexLine): void {
    const { payload } = line
    const type = stringMember(payload, 'type') ?? ''
    const id = nonEmpty(payload, 'id')
    if (id !== undefined) this.#items.set(id, payload)
    this.#place(line, `response_item/${type}`, readItem(payload, this.#images))
  }

  /** Puts an item behind what is there. */
  #place(line: CodexLine, type: string, { item, isPartial, leftOut }: ReadItem): void {
    if (item.kind === 'off') return this.#raw(line.kept.line, item.reason, type)
    if (isPartial) this.#raw(line.kept.line, 'block/unsupported', type)
    this.leftOut.set(line.kept.line, [...line.leftOut, ...leftOut])
    if (item.kind === 'user' && item.isTurn) this.#endAborted()
    this.#append(line, item, nonEmpty(line.payload, 'id'))
  }

  #append(line: CodexLine, item: Exclude<CodexItem, { kind: 'off' }>, id: string | undefined): void {
    if (item.kind === 'model') return this.#appendOutput(line, item, id)
    this.#endResponse()
    if (item.kind === 'result') {
      const { key: _, ...origin } = this.#origin(line, id)
      this.#drafts.push({ ...item, origin })
      return
    }
    const origin = this.#origin(line, id)
    if (item.kind === 'system') {
      this.#history.add({ key: origin.key, isTurn: false, isContext: true })
      this.#drafts.push({ kind: 'system', origin, content: item.content, place: 'here' })
      return
    }
    this.#usage.requested()
    this.#user(origin, item, item.isTurn)
  }

  #user(origin: PlacedOrigin, item: CodexUser, opensTurn: boolean): void {
    this.#drafts.push(this.#remember(origin, item, opensTurn))
  }

  #remember(origin: PlacedOrigin, { content, plugin, isTurn }: CodexUser, opensTurn: boolean): DraftUser {
    const draft = { kind: 'user' as const, origin, content, opensTurn, ...(plugin === undefined ? {} : { plugin }) }
    const isPrompt = isTurn && (plugin === undefined || plugin['role'] === 'user')
    this.#history.add({ key: origin.key, isTurn, isContext: !isTurn, ...(isPrompt ? { prompt: draft } : {}) })
    return draft
  }

  #appendOutput(line: CodexLine, item: Extract<CodexItem, { kind: 'model' }>, id: string | undefined): void {
    const { time, line: number } = line.kept
    if (this.#response === undefined) {
      const { key } = this.#origin(line)
      this.#response = new CodexResponse(key, this.#provider ?? 'openai.responses', this.#model, time)
      this.#usage.began(this.#response)
      this.#history.add({ key, isTurn: false, isContext: false })
      this.#drafts.push(this.#response)
    }
    this.#response.add(number, time, item.blocks, item.isMessage ? id : undefined)
  }

  /** The history from here on: what the line lists, or in older versions every prompt and then the summary. */
  #readCompacted(line: CodexLine): void {
    this.#endAborted()
    this.#endResponse()
    const listed = replacementItems(line.payload, this.#items)
    const leftOut = compactionLeftOut(line.payload)
    if (listed === undefined) {
      this.leftOut.set(line.kept.line, [...line.leftOut, ...leftOut])
      return this.#keepPrompts(line)
    }
    if (listed.missing > 0) {
      const message = `${listed.missing} message(s) of the history it lists are not in the file: the surface lacks them`
      this.warnings.push({ line: line.kept.line, code: 'compaction/reference', message })
    }
    const read = listed.items.map((item) => readItem(item, this.#images))
    if (listed.missing > 0 || read.some(({ item, isPartial }) => item.kind === 'off' || isPartial)) {
      this.#raw(line.kept.line, 'block/unsupported', line.type)
    }
    this.leftOut.set(line.kept.line, [...line.leftOut, ...leftOut, ...new Set(read.flatMap((item) => item.leftOut))])
    this.#history.clear()
    const items = read.flatMap(({ item }) => (item.kind === 'off' ? [] : [item]))
    this.#replace(line, undefined, items)
  }

  #keepPrompts(line: CodexLine): void {
    const text = nonEmpty(line.payload, 'message') ?? '(no summary available)'
    const { from, prompts } = this.#history.keepPrompts()
    const summary: CodexUser = {
      kind: 'user',
      content: [{ type: 'text', text }],
      plugin: { role: 'summary' },
      isTurn: true,
    }
    const kept = prompts.map(({ content }): CodexUser => ({ kind: 'user', content, isTurn: true }))
    if (from === undefined) this.#user(this.#origin(line), restated(summary, compactionOf(line)), false)
    else this.#replace(line, from.key, [...kept, summary])
  }

  /** Writes items in the place of the history from an entry on, or of all behind the head. */
  #replace(line: CodexLine, from: string | undefined, items: readonly Exclude<CodexItem, { kind: 'off' }>[]): void {
    const [first] = items
    const origin = this.#origin(line)
    const by = first?.kind === 'user' ? this.#remember(origin, restated(first, compactionOf(line)), false) : undefined
    this.#drafts.push({
      kind: 'replace',
      origin,
      why: 'compaction',
      ...(from === undefined ? {} : { from }),
      ...(by === undefined ? {} : { by }),
    })
    for (const item of by === undefined ? items : items.slice(1)) {
      if (item.kind === 'user') this.#user(this.#origin(line), restated(item, { mark: line.kept.line }), false)
      else this.#append(line, item, undefined)
    }
    this.#endResponse()
  }
}
