import type { Draft, DraftOrigin, DraftSystem, DraftUser } from '../conversation/draft.ts'
import { countMember, isObject, objectMember, stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'
import type { ImportWarning } from '../report.ts'
import type { Conversation } from '../conversation/write.ts'
import type { Keep } from './content.ts'
import { firstKept, messageOf, retainedTail } from './entries.ts'
import type { PiEntry, PiFile } from './entries.ts'
import { membersLeftOut } from './left-out.ts'
import { readCustom, readMessage, readSummary } from './message.ts'
import type { ReadMessage } from './message.ts'
import { systemContent, systemType } from './system.ts'

/** The conversation that a session file holds: what pi puts before a model, and how it came about. FORMATS 3. */
export async function readConversation(file: PiFile, keep: Keep): Promise<Conversation> {
  const reader = new PathReader(file, keep)
  for (const [place, entry] of file.path.entries()) await reader.read(entry, place)
  return {
    drafts: [...file.raws, ...reader.drafts],
    lines: file.lines,
    blank: file.blank,
    warnings: [...file.warnings, ...reader.warnings],
    leftOut: reader.leftOut,
  }
}

type Visible = NonNullable<ReadMessage['draft']>

class PathReader {
  readonly drafts: Draft[] = []
  readonly warnings: ImportWarning[] = []
  readonly leftOut = new Map<number, readonly string[]>()
  readonly #file: PiFile
  readonly #keep: Keep
  /** By place on the path, what a model reads of the entry. */
  readonly #visible: (Visible | undefined)[] = []
  /** Place from which on every entry is visible, but for those that are hidden from models. */
  #from = 0
  /** Whether something else is visible before those: a summary, with what its line keeps. */
  #hasSummary = false
  /** How many more entries may be said again: what compactions bring back must not outgrow the file. */
  #copies: number

  constructor(file: PiFile, keep: Keep) {
    this.#file = file
    this.#keep = keep
    this.#copies = file.path.length
    const level = stringMember(file.header, 'thinkingLevel')
    if (level !== undefined) this.drafts.push({ kind: 'setting', config: { reasoningEffort: level } })
  }

  async read(entry: PiEntry, place: number): Promise<void> {
    const { line, type, value } = entry
    const origin = originOf(entry, messageOf(value))
    this.#visible.push(undefined)
    if (type === 'compaction') return this.#compact(entry, place, origin)
    const { draft, reason } = await this.#readEntry(entry, origin)
    if (draft !== undefined) {
      this.drafts.push(draft)
      if (isOnSurface(draft)) this.#visible[place] = draft
      this.leftOut.set(line, membersLeftOut(value))
    }
    if (reason !== undefined) this.#raw(entry, reason)
  }

  #raw({ line, type, value }: PiEntry, reason: string): void {
    const role = type === 'message' ? stringMember(messageOf(value) ?? {}, 'role') : undefined
    this.drafts.push({ kind: 'raw', line, reason, type: role === undefined ? type : `${type}/${role}` })
  }

  async #readEntry({ type, value }: PiEntry, origin: DraftOrigin): Promise<ReadMessage> {
    switch (type) {
      case 'message':
        return readMessage(messageOf(value) ?? {}, origin, this.#keep)
      case 'custom_message':
        return readCustom(value, origin, this.#keep)
      case 'branch_summary':
        // One without a text says nothing to the model.
        if (value['summary'] === '') return { reason: 'state' }
        return readSummary(value, origin, 'branchSummary')
      case 'thinking_level_change': {
        const level = stringMember(value, 'thinkingLevel')
        if (level !== undefined) this.drafts.push({ kind: 'setting', config: { reasoningEffort: level } })
        return { reason: 'state' }
      }
      case 'custom': {
        const head = headOf(value, origin)
        return head === undefined ? { reason: 'state' } : { draft: head }
      }
      // The model of a response is in the response.
      case 'model_change':
      case 'label':
      case 'session_info':
        return { reason: 'state' }
      default:
        return { reason: 'line/unknown-type' }
    }
  }

  async #compact(entry: PiEntry, place: number, origin: DraftOrigin): Promise<void> {
    const { line, value } = entry
    const { draft: by } = readSummary(value, origin, 'compaction')
    if (by?.kind !== 'user') {
      this.#raw(entry, 'message/malformed')
      return
    }
    this.leftOut.set(line, membersLeftOut(value))
    const tail = retainedTail(entry)
    if (tail !== undefined) {
      this.#cover(origin, by, new Set())
      await this.#sayTail(tail, origin)
      this.#startAt(place)
      return
    }
    const kept = firstKept(this.#file, entry, place)
    const wanted = stringMember(value, 'firstKeptEntryId')
    // One that names itself keeps nothing: an export writes it so.
    if (kept === undefined && wanted !== undefined && wanted !== stringMember(value, 'id')) {
      this.#warn(line, 'compaction/kept-missing', 'the first entry that it keeps is not before it: it keeps none')
    }
    this.#keepFrom(kept ?? place, place, origin, by)
  }

  /** What stays visible behind the summary is what stands from a place of the path on. */
  #keepFrom(kept: number, place: number, origin: DraftOrigin, by: DraftUser): void {
    const covers = this.#hasSummary || this.#isVisible(this.#from, kept)
    if (kept >= this.#from && (covers || !this.#isVisible(kept, place))) {
      this.#cover(origin, by, this.#keysBetween(kept, place))
      this.#startAt(kept)
      return
    }
    // The summary stands before entries that are no longer visible, or before all that are: they are said again behind it.
    const again = this.#visible.slice(kept, place).flatMap((draft) => draft ?? [])
    this.#cover(origin, by, new Set())
    this.#copies -= again.length
    if (this.#copies < 0) {
      this.#warn(
        origin.lines[0] ?? 0,
        'compaction/kept-hidden',
        `${again.length} message(s) that it keeps stay covered`,
      )
      this.#startAt(place)
      return
    }
    for (const draft of again) this.drafts.push({ ...draft, origin: { ...draft.origin, lines: origin.lines } })
    this.#startAt(kept)
  }

  #startAt(place: number): void {
    this.#from = place
    this.#hasSummary = true
  }

  #cover(origin: DraftOrigin, by: DraftUser, keeps: ReadonlySet<string>): void {
    const isEmpty = !this.#hasSummary && !this.#isVisible(this.#from, this.#visible.length)
    this.drafts.push(isEmpty ? by : { kind: 'replace', origin, why: 'compaction', keeps, by })
  }

  #isVisible(from: number, to: number): boolean {
    for (let place = from; place < to; place += 1) if (this.#visible[place] !== undefined) return true
    return false
  }

  #keysBetween(from: number, to: number): ReadonlySet<string> {
    return new Set(this.#visible.slice(from, to).flatMap((draft) => draft?.origin.key ?? []))
  }

  async #sayTail(tail: readonly unknown[], origin: DraftOrigin): Promise<void> {
    const line = origin.lines[0] ?? 0
    let unread = 0
    for (const [index, message] of tail.entries()) {
      const { key: _, ...rest } = origin
      const id = `${origin.id ?? `line-${line}`}.${index}`
      const place = { ...rest, id }
      const { draft, reason } = isObject(message)
        ? await readMessage(message, place, this.#keep)
        : { reason: 'malformed' }
      if (draft !== undefined) this.drafts.push(draft)
      if (reason !== undefined) unread += 1
    }
    if (unread > 0) this.drafts.push({ kind: 'raw', line, reason: 'block/unsupported', type: 'compaction' })
  }

  #warn(line: number, code: string, message: string): void {
    this.warnings.push({ line, code, message })
  }
}

/** Whether a compaction can cover it: no attempt, and not the head. */
const isOnSurface = (draft: Visible): boolean =>
  draft.kind !== 'attempt' && !(draft.kind === 'system' && draft.place === 'head')

function originOf({ line, value, time }: PiEntry, message: LooseObject | undefined): DraftOrigin {
  const at = time ?? countMember(message ?? {}, 'timestamp')
  const id = stringMember(value, 'id')
  return {
    lines: [line],
    key: String(line),
    ...(at === undefined ? {} : { time: at }),
    ...(id === undefined ? {} : { id }),
  }
}

/** The system prompt that an export kept beside the conversation. */
function headOf(value: LooseObject, origin: DraftOrigin): DraftSystem | undefined {
  if (value['customType'] !== systemType) return undefined
  const content = systemContent(objectMember(value, 'data')?.['content'])
  return content === undefined ? undefined : { kind: 'system', origin, content, place: 'head' }
}
