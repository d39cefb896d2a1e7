import { Session } from '@palimpsest/session'
import type { JsonObject, SessionSeq, StepRef } from '@palimpsest/session'
import type { ImportWarning } from '../report.ts'
import { importVocabulary } from '../events.ts'
import type { ImportedSession } from '../source.ts'
import { compactionRange } from './compaction-range.ts'
import type {
  Draft,
  DraftAttempt,
  DraftModel,
  DraftOrigin,
  DraftReplace,
  DraftResult,
  DraftSystem,
  DraftUser,
} from './draft.ts'
import { assistantMessage, systemMessage, toolResultMessage, userMessage } from './messages.ts'
import type { MessageOrigin } from './messages.ts'
import { pairCalls } from './pair.ts'
import type { PairedCall, Pairing } from './pair.ts'
import { RawLines } from './raw-lines.ts'
import { reportOf } from './report-of.ts'
import type { KeptLine } from './source-lines.ts'
import { Trail } from './trail.ts'
import { UniqueNames } from './unique-names.ts'

/** Which session a conversation becomes. */
export interface ConversationInit {
  /** Name of the agent, in headers and message sources. */
  readonly agent: string
  /** File name of the source, never a path. */
  readonly source: string
  readonly sessionId: string
  /** Epoch milliseconds; the first time of any line where the source says none. */
  readonly createdAt?: number
  /** Kept where it is absolute. */
  readonly cwd?: string
  readonly parentSession?: string
  readonly isSubagent?: boolean
}

/** Everything that a format's reader found in a source. */
export interface Conversation {
  /** In the order in which things happened. */
  readonly drafts: readonly Draft[]
  /** Every line that is not blank, in file order. */
  readonly lines: readonly KeptLine[]
  readonly blank: number
  readonly warnings: readonly ImportWarning[]
  /** By line, the members that no event has a place for. */
  readonly leftOut: ReadonlyMap<number, readonly string[]>
}

/**
 * Writes a conversation as a session in which every rule of acceptance holds: turns and steps around what user and model
 * did, each response with its answers behind it, replacements where the source covers something, and `import/raw` for
 * every line that is in no message. SPEC 8.
 */
export function writeConversation(init: ConversationInit, conversation: Conversation): ImportedSession {
  const first = conversation.lines.find(({ time }) => time !== undefined)?.time
  const clock = { now: init.createdAt ?? first ?? 0 }
  const isAbsolute = /^(\/|[A-Za-z]:[\\/])/.test(init.cwd ?? '')
  const session = Session.create({
    id: init.sessionId,
    createdAt: clock.now,
    importedFrom: { agent: init.agent, source: init.source },
    vocabulary: importVocabulary,
    now: () => clock.now,
    ...(isAbsolute ? { cwd: init.cwd } : {}),
    ...(init.parentSession === undefined ? {} : { parentSession: init.parentSession }),
    ...(init.isSubagent === true ? { origin: 'subagent', delegationDepth: 1 } : {}),
  })
  const writer = new ConversationWriter(session, init.agent, conversation, (time) => void (clock.now = time))
  writer.write()
  const stored = { header: session.header, events: session.events, inheritedEventCount: 0 }
  return { session: stored, report: reportOf(init, conversation, session, writer) }
}

class ConversationWriter {
  readonly warnings: ImportWarning[] = []
  /** Lines that messages are made of. */
  readonly mapped = new Set<number>()
  readonly raws: RawLines
  readonly #session: Session
  readonly #agent: string
  readonly #drafts: readonly Draft[]
  readonly #pairing: Pairing
  readonly #places: ReadonlyMap<Draft, number>
  readonly #trail: Trail
  readonly #setTime: (time: number) => void
  readonly #keys = new Map<SessionSeq, string>()
  readonly #messageIds = new UniqueNames()
  #prompt: DraftSystem | undefined
  #settings: JsonObject = {}
  #config = ''
  #hasAnswer = false
  /** The last line of a response or of an answer so far. */
  #batchEnd = 0

  constructor(session: Session, agent: string, { drafts, lines }: Conversation, setTime: (time: number) => void) {
    this.#session = session
    this.#agent = agent
    this.#drafts = drafts
    this.#pairing = pairCalls(drafts)
    this.#places = new Map(drafts.map((draft, place) => [draft, place]))
    this.#trail = new Trail(session)
    this.#setTime = setTime
    this.raws = new RawLines(session, setTime, lines, drafts, this.#pairing)
  }

  /** Results that nobody gave: closers of calls that the source leaves unanswered. */
  get synthetic(): ReadonlySet<SessionSeq> {
    return this.#trail.synthetic
  }

  write(): void {
    for (const [index, draft] of this.#drafts.entries()) {
      if (draft.kind === 'raw' || draft.kind === 'result') continue
      if (draft.kind === 'setting') {
        this.#settings = { ...this.#settings, ...(draft.config as JsonObject) }
        continue
      }
      this.raws.keepBefore(draft.origin.lines[0] ?? 0)
      this.#at(draft.origin)
      this.#settle(draft.origin)
      if (draft.kind === 'user' || draft.kind === 'system') this.#warnIfMoved(draft.origin)
      this.#writeDraft(draft, index)
    }
    if (this.#prompt !== undefined) this.#openTurn()
    this.raws.keepUnplaced(this.mapped)
    this.raws.keepBefore(Infinity)
    const open = this.#trail.finish()
    if (open.length > 0) {
      const line = Math.max(0, ...[...this.mapped].slice(-1))
      const message = `the source ends before an answer to ${open.join(', ')}: closed as interrupted`
      this.warnings.push({ line, code: 'call/unanswered-tail', message })
    }
  }

  /** Where a result stands among all of them. */
  #place(result: DraftResult): number {
    return this.#places.get(result) ?? 0
  }

  #warnIfMoved(origin: DraftOrigin): void {
    if ((origin.lines[0] ?? 0) >= this.#batchEnd) return
    this.#warn(origin, 'order/after-batch', 'written while calls were open: it stands after their answers')
  }

  #writeDraft(draft: Exclude<Draft, { kind: 'raw' | 'result' | 'setting' }>, index: number): void {
    switch (draft.kind) {
      case 'user':
        return this.#writeUser(draft)
      case 'model':
        return this.#writeModel(draft, index)
      case 'attempt':
        return this.#writeAttempt(draft)
      case 'system':
        return this.#writeSystem(draft)
      case 'replace':
        return this.#writeReplacement(draft)
      case 'turn-end':
        return this.#trail.endTurn(draft.reason)
    }
  }

  #at({ time }: { readonly time?: number | undefined }): void {
    if (time !== undefined && Number.isSafeInteger(time)) this.#setTime(time)
  }

  #warn({ lines }: DraftOrigin, code: string, message: string): void {
    this.warnings.push({ line: lines[0] ?? 0, code, message })
  }

  #identity({ id, lines, members }: DraftOrigin): MessageOrigin {
    const unique = this.#messageIds.give(id === undefined || id === '' ? `line-${lines[0] ?? 0}` : id)
    return { id: unique, lines, ...(members === undefined ? {} : { members }) }
  }

  #placed({ key, lines }: DraftOrigin, seq: SessionSeq): void {
    if (key !== undefined) this.#keys.set(seq, key)
    for (const line of lines) this.mapped.add(line)
  }

  /** Closes calls that the source never answers, before anything else can follow. SPEC 4. */
  #settle(origin: DraftOrigin): void {
    const settled = this.#trail.settle()
    if (settled.length === 0) return
    this.#warn(origin, 'call/unanswered', `no answer to ${settled.join(', ')} before this line: closed as interrupted`)
    this.#trail.endStep()
  }

  /** Begins a turn; the first one brings the head of the surface. SPEC 3.4. */
  #openTurn(): StepRef {
    const step = this.#trail.startTurn()
    this.#hasAnswer = false
    if (this.#session.surface.nodes.length > 0) return step
    const head = this.#prompt
    this.#prompt = undefined
    const origin = head?.origin ?? { id: 'system', lines: [] }
    const message = systemMessage(
      this.#agent,
      head?.content ?? [],
      this.#identity({ id: 'system', ...origin }),
      head?.plugin,
    )
    this.#placed(origin, this.#session.append('system/message', { ...step, message }, { surfaceOp: 'append' }).seq)
    return step
  }

  #writeUser(draft: DraftUser): void {
    if (draft.opensTurn && this.#trail.isInTurn && this.#hasAnswer) this.#trail.endTurn({ kind: 'interrupted' })
    if (!this.#trail.isInTurn && (draft.opensTurn || this.#session.surface.nodes.length === 0)) this.#openTurn()
    const message = userMessage(this.#agent, draft, this.#identity(draft.origin))
    this.#placed(draft.origin, this.#session.append('user/message', message, { surfaceOp: 'append' }).seq)
  }

  #writeModel(draft: DraftModel, index: number): void {
    if (!this.#trail.isInTurn) this.#openTurn()
    const step = this.#trail.modelStep()
    this.#hasAnswer = true
    const calls = this.#pairing.calls.get(draft) ?? []
    const message = assistantMessage(draft, calls, this.#identity(draft.origin))
    this.#announce(draft)
    const { usage, interrupted } = draft
    const more = { ...(usage === undefined ? {} : { usage }), ...(interrupted === undefined ? {} : { interrupted }) }
    const { seq } = this.#session.append(
      'assistant/message',
      { ...step, message, stream: [], ...more },
      { surfaceOp: 'append' },
    )
    this.#placed(draft.origin, seq)
    const lines = [draft, ...calls.flatMap(({ answer }) => answer ?? [])].flatMap(({ origin }) => origin.lines)
    this.#batchEnd = lines.reduce((last, line) => Math.max(last, line), this.#batchEnd)
    this.#writeTools(draft, calls, step)
    this.#trail.endStep()
    if ((calls.length > 0 && draft.ends === undefined) || this.#goesOn(index)) return
    this.#settle(draft.origin)
    this.#trail.endTurn(draft.ends ?? { kind: 'completed' })
  }

  /** Whether the turn goes on after this response: with another one, or to an end that the source marks. */
  #goesOn(index: number): boolean {
    for (let at = index + 1; at < this.#drafts.length; at += 1) {
      const next = this.#drafts[at]
      if (next?.kind === 'model' || next?.kind === 'attempt' || next?.kind === 'turn-end') return true
      if (next?.kind === 'user' && next.opensTurn) return false
    }
    return false
  }

  /** What of the next request is not history, where it changes. */
  #announce({ provider, model }: DraftModel): void {
    const config = { ...this.#settings, provider, model }
    const written = JSON.stringify(config)
    if (written === this.#config) return
    const reason = this.#config === '' ? 'initial' : 'change'
    this.#config = written
    this.#session.append('request/header', { header: { config }, reason })
  }

  #writeTools(draft: DraftModel, calls: readonly PairedCall[], step: StepRef): void {
    const blocks = draft.blocks.flatMap(({ block, time }) => (block.type === 'tool-call' ? [{ ...block, time }] : []))
    const recorded = calls.map((call, index): { call: PairedCall; seq: SessionSeq } => {
      const { name = '', arguments: text = '', time } = blocks[index] ?? {}
      this.#at({ time })
      this.#trail.opened(call.callId)
      const { seq } = this.#session.append('tool/call', { ...step, callId: call.callId, name, arguments: text })
      return { call, seq }
    })
    const answers = recorded.flatMap(({ call, seq }) =>
      call.answer === undefined ? [] : [{ call, seq, answer: call.answer }],
    )
    answers.sort(({ answer: a }, { answer: b }) => {
      return (a.origin.lines[0] ?? 0) - (b.origin.lines[0] ?? 0) || this.#place(a) - this.#place(b)
    })
    for (const { call, seq, answer } of answers) this.#writeResult(call, seq, answer, step)
  }

  #writeResult(call: PairedCall, callSeq: SessionSeq, draft: DraftResult, step: StepRef): void {
    this.#at(draft.origin)
    const message = toolResultMessage(call.callId, draft, this.#identity(draft.origin))
    const { error, meta, asText = [] } = draft
    if (asText.length > 0) {
      const message = `a result holds text and images only: ${asText.join(', ')} stands as text`
      this.#warn(draft.origin, 'block/as-text', message)
    }
    const more = { ...(error === undefined ? {} : { error }), ...(meta === undefined ? {} : { meta }) }
    const { seq } = this.#session.append(
      'tool/result',
      { ...step, message, ...more },
      { surfaceOp: 'append', sourceEventSeqs: [callSeq] },
    )
    this.#trail.answered(call.callId)
    this.#placed(draft.origin, seq)
  }

  #writeAttempt({ origin, failure }: DraftAttempt): void {
    if (!this.#trail.isInTurn) this.#openTurn()
    const { seq } = this.#session.append('assistant/attempt', { ...this.#trail.modelStep(), stream: [], failure })
    this.#placed(origin, seq)
    this.#trail.endStep()
  }

  #writeSystem(draft: DraftSystem): void {
    const [head] = this.#session.surface.nodes
    if (head === undefined) {
      if (draft.place === 'head') {
        this.#prompt = draft
        return
      }
      this.#openTurn()
    }
    const step = this.#trail.currentStep
    const message = systemMessage(this.#agent, draft.content, this.#identity(draft.origin), draft.plugin)
    const intent =
      draft.place === 'here' || head === undefined
        ? ({ surfaceOp: 'append' } as const)
        : { surfaceOp: { op: 'replace', startSeq: head, endSeq: head } as const, sourceEventSeqs: [head] }
    this.#placed(draft.origin, this.#session.append('system/message', { ...step, message }, intent).seq)
  }

  #writeReplacement(draft: DraftReplace): void {
    const { origin, by, why } = draft
    const range = this.#coveredRange(draft)
    this.#batchEnd = 0
    const [startSeq, endSeq] = [range[0], range.at(-1)]
    if (startSeq === undefined || endSeq === undefined) {
      if (by === undefined) this.#warn(origin, `${why}/nothing-covered`, 'it covers nothing that is visible')
      else {
        this.#warn(origin, `${why}/nothing-covered`, 'the summary covers no visible message: it is appended')
        this.#writeUser(by)
      }
      return
    }
    const intent = { surfaceOp: { op: 'replace', startSeq, endSeq } as const, sourceEventSeqs: range }
    if (by === undefined) {
      const step = this.#trail.currentStep
      const message = systemMessage(this.#agent, [], this.#identity(origin), { [why]: {} })
      this.#placed(origin, this.#session.append('system/message', { ...step, message }, intent).seq)
    } else {
      const message = userMessage(this.#agent, by, this.#identity(by.origin))
      this.#placed(by.origin, this.#session.append('user/message', message, intent).seq)
    }
  }

  #coveredRange({ origin, why, from, keeps }: DraftReplace): readonly SessionSeq[] {
    const isKept = (seq: SessionSeq): boolean => keeps?.has(this.#keys.get(seq) ?? '') === true
    const { range, notes } = compactionRange(this.#session, isKept)
    for (const { code, text } of notes) this.#warn(origin, code, text)
    if (from === undefined) return range
    const first = range.findIndex((seq) => this.#keys.get(seq) === from)
    if (first !== -1) return range.slice(first)
    this.#warn(origin, `${why}/not-visible`, 'what it begins with is not visible: nothing was covered')
    return []
  }
}
