import type { Session, SessionSeq, StepRef } from '@palimpsest/session'
import type { ImportRaw } from '../events.ts'
import type { ImportWarning } from '../report.ts'
import { compactionRange } from '../conversation/compaction-range.ts'
import type { Item, ModelItem, Place } from './items.ts'
import { assistantMessage, systemHead, toolResultMessage, userMessage } from './messages.ts'
import type { Outline } from './outline.ts'
import type { AssistantPart, LinePart, UserPart } from './parts.ts'
import type { LineRecord } from './record.ts'
import { Trail } from '../conversation/trail.ts'

/** A line to keep as it stands. */
export interface RawLine extends ImportRaw {
  /** Epoch milliseconds; absent where the line has none. */
  readonly time?: number
}

export interface WriteInput {
  readonly session: Session
  /** Sets the time of the events that follow, in epoch milliseconds. */
  readonly setTime: (time: number) => void
  readonly records: readonly LineRecord[]
  readonly items: readonly Item[]
  readonly outline: Outline
  /** Content by line number. */
  readonly parts: ReadonlyMap<number, LinePart>
  /** In file order. */
  readonly raws: readonly RawLine[]
}

/** Writes one conversation into a session. Every rule of acceptance applies to each event as it is appended. SPEC 8. */
export class ConversationWriter {
  readonly warnings: ImportWarning[] = []
  readonly #input: WriteInput
  readonly #session: Session
  readonly #trail: Trail
  /** Uuids of the source lines behind a surface entry. */
  readonly #uuids = new Map<SessionSeq, readonly string[]>()
  readonly #messageIds = new Set<string>()
  #nextRaw = 0
  #model: string | undefined

  constructor(input: WriteInput) {
    this.#input = input
    this.#session = input.session
    this.#trail = new Trail(input.session)
  }

  /** Writes everything. Returns the seqs of the results that nobody gave. */
  write(): ReadonlySet<SessionSeq> {
    const { items, outline } = this.#input
    for (const [index, item] of items.entries()) {
      this.#keepRaws(this.#record(item.at).line)
      this.#at(item.at)
      this.#settle(item.at)
      if (outline.starts.has(index)) this.#startTurn()
      if (item.kind === 'model') this.#writeModel(item)
      else this.#writeUser(item)
      const reason = outline.ends.get(index)
      if (reason === undefined) continue
      this.#settle(item.at)
      this.#trail.endTurn(reason)
    }
    this.#keepRaws(Infinity)
    const last = items.at(-1)
    const open = this.#trail.finish()
    if (last !== undefined && open.length > 0) {
      this.#warn(
        last.at,
        'call/unanswered-tail',
        `the source ends before an answer to ${open.join(', ')}: closed as interrupted`,
      )
    }
    return this.#trail.synthetic
  }

  #record(at: number): LineRecord {
    const record = this.#input.records[at]
    if (record === undefined)
      throw new RangeError(`no line ${at} in a conversation of ${this.#input.records.length} lines`)
    return record
  }

  #userPart(at: number): UserPart {
    const part = this.#input.parts.get(this.#record(at).line)
    if (part?.kind !== 'user')
      throw new TypeError(`line ${this.#record(at).line} was planned as a user line and is none`)
    return part
  }

  #assistantPart(at: number): AssistantPart {
    const part = this.#input.parts.get(this.#record(at).line)
    if (part?.kind !== 'assistant') {
      throw new TypeError(`line ${this.#record(at).line} was planned as an assistant line and is none`)
    }
    return part
  }

  #at(at: number): void {
    const { time } = this.#record(at)
    if (time !== undefined) this.#input.setTime(time)
  }

  #warn(at: number, code: string, message: string): void {
    this.warnings.push({ line: this.#record(at).line, code, message })
  }

  #uniqueId(wanted: string): string {
    let id = wanted
    for (let n = 2; this.#messageIds.has(id); n += 1) id = `${wanted}~${n}`
    this.#messageIds.add(id)
    return id
  }

  #keepRaws(before: number): void {
    const { raws, setTime } = this.#input
    for (let raw = raws[this.#nextRaw]; raw !== undefined && raw.line < before; raw = raws[this.#nextRaw]) {
      this.#nextRaw += 1
      const { time, ...data } = raw
      if (time !== undefined) setTime(time)
      this.#session.append('import/raw', data, { ignorable: true })
    }
  }

  #settle(at: number): void {
    const settled = this.#trail.settle()
    if (settled.length === 0) return
    this.#warn(at, 'call/unanswered', `no answer to ${settled.join(', ')} before this line: closed as interrupted`)
    this.#trail.endStep()
  }

  #startTurn(): void {
    const step = this.#trail.startTurn()
    if (this.#session.surface.nodes.length > 0) return
    this.#session.append(
      'system/message',
      { ...step, message: systemHead(this.#uniqueId('system')) },
      { surfaceOp: 'append' },
    )
  }

  #writeUser(item: Exclude<Item, ModelItem>): void {
    const { uuid, line } = this.#record(item.at)
    const mark = item.kind === 'summary' ? this.#record(item.compaction.mark).uuid : undefined
    const origin = { id: this.#uniqueId(uuid ?? `line-${line}`), lines: [line] }
    const message = userMessage(item, this.#userPart(item.at), origin, mark === undefined ? undefined : { mark })
    const intent = item.kind === 'summary' ? this.#compaction(item) : ({ surfaceOp: 'append' } as const)
    const { seq } = this.#session.append('user/message', message, intent)
    this.#uuids.set(seq, uuid === undefined ? [] : [uuid])
  }

  #compaction({ at, compaction }: Extract<Item, { kind: 'summary' }>): {
    surfaceOp: 'append' | { op: 'replace'; startSeq: SessionSeq; endSeq: SessionSeq }
    sourceEventSeqs?: readonly SessionSeq[]
  } {
    const isKept = (seq: SessionSeq): boolean =>
      this.#uuids.get(seq)?.some((uuid) => compaction.preserved.has(uuid)) === true
    const { range, notes } = compactionRange(this.#session, isKept)
    for (const { code, text } of notes) this.#warn(at, code, text)
    const [startSeq, endSeq] = [range[0], range.at(-1)]
    if (startSeq !== undefined && endSeq !== undefined) {
      return { surfaceOp: { op: 'replace', startSeq, endSeq }, sourceEventSeqs: range }
    }
    if (compaction.hasHistory)
      this.#warn(at, 'compaction/nothing-covered', 'the summary covers no visible message: it is appended')
    return { surfaceOp: 'append' }
  }

  #writeModel(item: ModelItem): void {
    const parts = item.lines.map((at) => this.#assistantPart(at))
    const lines = item.lines.map((at) => this.#record(at).line)
    const step = this.#trail.modelStep()
    const wanted = parts[0]?.messageId ?? this.#record(item.at).uuid ?? `line-${lines[0]}`
    const message = assistantMessage(item, parts, { id: this.#uniqueId(wanted), lines })
    const usage = parts.findLast((part) => part.usage !== undefined)?.usage
    const interrupted = parts.some((part) => part.isAborted)
    this.#setModel(message.source.model)
    const { seq } = this.#session.append(
      'assistant/message',
      {
        ...step,
        message,
        stream: [],
        ...(usage === undefined ? {} : { usage }),
        ...(interrupted ? { interrupted } : {}),
      },
      { surfaceOp: 'append' },
    )
    this.#uuids.set(
      seq,
      item.lines.flatMap((at) => this.#record(at).uuid ?? []),
    )
    this.#writeTools(item, message.content, step)
    this.#trail.endStep()
  }

  #setModel(model: string): void {
    if (model === this.#model) return
    const reason = this.#model === undefined ? 'initial' : 'change'
    this.#model = model
    this.#session.append('request/header', { header: { config: { provider: 'anthropic', model } }, reason })
  }

  #writeTools(item: ModelItem, content: ReturnType<typeof assistantMessage>['content'], step: StepRef): void {
    const callSeqs = new Map<string, SessionSeq>()
    const blocks = content.filter((block) => block.type === 'tool-call')
    item.calls.forEach((call, index) => {
      const block = blocks[index]
      if (block === undefined) return
      this.#at(call.place.at)
      this.#trail.opened(block.id)
      const { seq } = this.#session.append('tool/call', {
        ...step,
        callId: block.id,
        name: block.name,
        arguments: block.arguments,
      })
      callSeqs.set(call.callId, seq)
    })
    const answers = item.calls.flatMap(({ callId, answer }) => (answer === undefined ? [] : [{ callId, answer }]))
    answers.sort((a, b) => a.answer.at - b.answer.at || a.answer.index - b.answer.index)
    for (const { callId, answer } of answers) this.#writeResult(callId, answer, callSeqs.get(callId), step)
  }

  #writeResult(callId: string, answer: Place, callSeq: SessionSeq | undefined, step: StepRef): void {
    const part = this.#userPart(answer.at)
    const result = part.results[answer.index]
    const { uuid, line } = this.#record(answer.at)
    if (result === undefined) throw new RangeError(`line ${line} has no result ${answer.index}`)
    this.#at(answer.at)
    if (result.asText.length > 0) {
      this.#warn(
        answer.at,
        'block/as-text',
        `a result holds text and images only: ${result.asText.join(', ')} stands as text`,
      )
    }
    const suffix = part.results.length > 1 || part.content.length > 0 ? `#${answer.index}` : ''
    const message = toolResultMessage(callId, result, {
      id: this.#uniqueId(`${uuid ?? `line-${line}`}${suffix}`),
      lines: [line],
    })
    const shown = answer.index === 0 ? part.toolUseResult : undefined
    const { seq } = this.#session.append(
      'tool/result',
      { ...step, message, ...(shown === undefined ? {} : { meta: { toolUseResult: shown } }) },
      { surfaceOp: 'append', ...(callSeq === undefined ? {} : { sourceEventSeqs: [callSeq] }) },
    )
    this.#trail.answered(message.source.callId)
    this.#uuids.set(seq, uuid === undefined ? [] : [uuid])
  }
}
