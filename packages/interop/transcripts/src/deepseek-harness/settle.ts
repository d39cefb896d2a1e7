import type { JsonObject, SessionEvent } from '@palimpsest/session'
import type { Draft, DraftModel, DraftReplace } from '../conversation/draft.ts'
import type { KeptLine, ReadLine } from '../conversation/source-lines.ts'
import type { Conversation } from '../conversation/write.ts'
import { countMember, isObject, objectMember, plainJson, stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'
import type { ImportWarning } from '../report.ts'
import { assistantBlocks, resultBlocks, textBlocks, userBlocks } from './content.ts'
import { leftOutOf, usageOf } from './row-members.ts'
import { SourceSurface, replacedBy } from './source-surface.ts'
import type { SurfaceRange } from './source-surface.ts'

/**
 * What a log of deepseek-harness says, whatever is wrong with it: its messages in the order of the file, its replacements
 * by the seqs that they name, its answers by the calls that are open, and every other row raw. SPEC 8.
 */
export function readConversation(lines: readonly ReadLine[], refusal: ImportWarning): Conversation {
  const reader = new Reader()
  const kept: KeptLine[] = []
  for (const line of lines) {
    if (line.kind === 'blank') continue
    const time = line.kind === 'object' ? countMember(line.value, 'time') : undefined
    kept.push(time === undefined ? line.kept : { ...line.kept, time })
    if (line.kind === 'foreign') reader.raw(line.kept.line, line.reason)
    else reader.read(line.value, line.kept)
  }
  const blank = lines.length - kept.length
  const { drafts, leftOut, warnings } = reader
  return { drafts, lines: kept, blank, warnings: [refusal, ...warnings], leftOut }
}

type Mutable<Draft> = { -readonly [Member in keyof Draft]: Draft[Member] }
type OpenModel = DraftModel & { readonly origin: { readonly lines: number[] } }

class Reader {
  readonly drafts: Draft[] = []
  readonly leftOut = new Map<number, readonly string[]>()
  readonly warnings: ImportWarning[] = []
  readonly #surface = new SourceSurface()
  readonly #texts = new Map<number, string>()
  readonly #calls = new Map<string, OpenModel>()
  #seq = 0
  #hasHead = false
  #opensTurn = true
  #prompt = ''

  read(row: LooseObject, { line, text }: KeptLine): void {
    const type = stringMember(row, 'type')
    if (type === undefined) return this.raw(line, 'line/no-type')
    if (type === 'session') return this.raw(line, 'state', type)
    const data = objectMember(row, 'data')
    const seq = countMember(row, 'seq') ?? countMember(row, 'seq0') ?? this.#seq
    this.#seq = seq + eventsIn(row, data)
    // A batch that was written twice was said once.
    if (this.#texts.get(seq) === text) return this.raw(line, 'line/repeated', type)
    if (countMember(row, 'seq') !== undefined) this.#texts.set(seq, text)
    if (data === undefined) return this.raw(line, 'message/malformed', type)
    const event = { type, row, data, line, seq }
    const { length } = this.drafts
    const reason = this.#readEvent(event)
    const isDrafted = this.drafts.length > length
    if (surfaceTypes.has(type)) this.#place(event, isDrafted)
    if (isDrafted) this.leftOut.set(line, leftOutOf(type, data))
    if (reason !== undefined) this.raw(line, reason, type)
  }

  raw(line: number, reason: string, type?: string): void {
    this.drafts.push({ kind: 'raw', line, reason, ...(type === undefined ? {} : { type }) })
  }

  /** Takes a row, or says why it is kept raw. */
  #readEvent(event: Row): string | undefined {
    switch (event.type) {
      case 'turn/start':
        this.#opensTurn = true
        return 'state'
      case 'turn/end':
        return this.#endTurn(event)
      case 'request/header':
        return this.#readHeader(event)
      case 'system/message':
        return this.#readSystem(event)
      case 'user/message':
        return this.#readUser(event)
      case 'assistant/message':
        return this.#readModel(event)
      case 'tool/call':
        return this.#readCall(event)
      case 'tool/result':
        return this.#readResult(event)
      default:
        return 'state'
    }
  }

  #endTurn({ data, line, row }: Row): string {
    const kind = stringMember(objectMember(data, 'reason') ?? {}, 'kind')
    const reason = endKinds.find((known) => known === kind) ?? 'interrupted'
    this.drafts.push({ kind: 'turn-end', origin: { lines: [line], ...timeOf(row) }, reason: { kind: reason } })
    return 'state'
  }

  #readHeader({ data, line, row }: Row): string | undefined {
    const header = objectMember(data, 'header')
    if (header === undefined) return 'state'
    const { provider: _, model: __, ...config } = objectMember(header, 'config') ?? {}
    const effort = stringMember(config, 'reasoningEffort')
    if (effort !== undefined) this.drafts.push({ kind: 'setting', config: { reasoningEffort: effort } })
    // A header without a prompt clears the one before it. From version 3 on no header has one.
    const prompt = stringMember(header, 'system') ?? ''
    if (prompt === this.#prompt) return 'state'
    this.#prompt = prompt
    const origin = { lines: [line], ...timeOf(row) }
    const content = prompt === '' ? [] : [{ type: 'text', text: prompt } as const]
    this.drafts.push({ kind: 'system', place: 'head', content, origin })
    return 'state'
  }

  #readSystem(event: Row): string | undefined {
    const message = objectMember(event.data, 'message') ?? {}
    const content = textBlocks(message['content'])
    if (content === undefined) return 'message/malformed'
    const range = this.#surface.rangeOf(event.row)
    const isHead = this.#surface.length === 0 || (this.#hasHead && range?.start === 0 && range.end === 0)
    if (!isHead && replacedBy(event.row) !== undefined) return this.#unsupported(event)
    this.#hasHead ||= isHead
    this.drafts.push({ kind: 'system', place: isHead ? 'head' : 'here', content, origin: originOf(event, message) })
    return undefined
  }

  #readUser(event: Row): string | undefined {
    const { data } = event
    const read = userBlocks(data['content'])
    if (read === undefined) return 'message/malformed'
    const source = objectMember(data, 'source') ?? {}
    const isPerson = stringMember(source, 'kind') === 'user'
    const replaced = this.#replacement(event)
    const opensTurn = isPerson && this.#opensTurn && replaced === undefined
    if (opensTurn) this.#opensTurn = false
    const origin = originOf(event, data)
    const user = {
      kind: 'user',
      origin,
      content: read.blocks,
      opensTurn,
      ...(isPerson ? {} : { plugin: { from: plainJson(source) } }),
    } as const
    this.drafts.push(replaced === undefined ? user : { ...replaced, origin, by: user })
    return read.odd.length > 0 ? 'block/unsupported' : undefined
  }

  #readModel(event: Row): string | undefined {
    const message = objectMember(event.data, 'message') ?? {}
    const source = objectMember(message, 'source') ?? {}
    const read = assistantBlocks(message['content'], source['replayState'])
    if (read === undefined) return 'message/malformed'
    if (read.blocks.length === 0) return read.odd.length > 0 ? 'block/unsupported' : 'message/empty'
    const origin = originOf(event, message)
    const draft: Mutable<OpenModel> = {
      kind: 'model',
      origin: { ...origin, lines: [event.line] },
      provider: stringMember(source, 'provider') || 'deepseek',
      model: stringMember(source, 'model') || 'unknown',
      blocks: read.blocks,
    }
    const response = objectMember(objectMember(source, 'replayState') ?? {}, 'response')
    if (response !== undefined) draft.response = plainJson(response) as JsonObject
    const usage = usageOf(event.data)
    if (usage !== undefined) draft.usage = usage
    if (event.data['interrupted'] === true) draft.interrupted = true
    for (const { block } of read.blocks) if (block.type === 'tool-call') this.#calls.set(block.id, draft)
    this.drafts.push(draft)
    return read.odd.length > 0 ? 'block/unsupported' : undefined
  }

  /** The record of a call says nothing that its message does not. */
  #readCall({ data, line }: Row): string | undefined {
    const model = this.#calls.get(stringMember(data, 'callId') ?? '')
    if (model === undefined) return 'state'
    model.origin.lines.push(line)
    return undefined
  }

  #readResult(event: Row): string | undefined {
    const message = objectMember(event.data, 'message') ?? {}
    const [block, ...others] = Array.isArray(message['content']) ? (message['content'] as readonly unknown[]) : []
    if (!isObject(block)) return 'message/malformed'
    const callId = stringMember(block, 'toolCallId')
    const read = resultBlocks(block['content'])
    if (callId === undefined || read === undefined) return 'message/malformed'
    if (replacedBy(event.row) !== undefined) return this.#unsupported(event)
    const error = objectMember(event.data, 'error') ?? {}
    const [name, code] = [stringMember(error, 'name'), stringMember(error, 'code')]
    const isError = block['isError'] === true || (name !== undefined && code !== undefined)
    const { meta } = event.data
    this.drafts.push({
      kind: 'result',
      origin: originOf(event, message),
      callId,
      content: read.blocks,
      asText: read.odd,
      isError,
      ...(name === undefined || code === undefined ? {} : { error: { name, code } }),
      ...(meta === undefined ? {} : { meta: plainJson(meta) }),
    })
    return others.length > 0 ? 'block/unsupported' : undefined
  }

  /** What is rewritten stays as it was. */
  #unsupported({ line }: Row): string {
    const message = 'it rewrites an entry, which stays as it was: kept raw'
    this.warnings.push({ line, code: 'replace/unsupported', message })
    return 'replace/unsupported'
  }

  /** Where on the surface of the source an event goes: its later rows name what they cover by that. */
  #place(event: Row, isDrafted: boolean): void {
    const range = this.#covered(event)
    const key = isDrafted ? String(event.seq) : range && this.#surface.keyIn(range)
    const entry = { seq: event.seq, ...(key === undefined ? {} : { key }) }
    if (range !== undefined) this.#surface.replace(range, entry)
    else if (Object.hasOwn(event.row, 'surfaceOp')) this.#surface.append(entry)
  }

  /** What a row covers. The head stays but for another: no summary stands for it. */
  #covered({ row, type }: Row): SurfaceRange | undefined {
    const range = this.#surface.rangeOf(row)
    if (range === undefined || !this.#hasHead || type === 'system/message') return range
    return range.end === 0 ? undefined : { ...range, start: Math.max(range.start, 1) }
  }

  #replacement(event: Row): Omit<DraftReplace, 'origin' | 'by'> | undefined {
    const { row, line } = event
    if (replacedBy(row) === undefined) return undefined
    const range = this.#covered(event)
    const from = range && this.#surface.keyIn(range)
    if (range === undefined || from === undefined) {
      const message = 'what it replaces is not visible: it is appended, and covers nothing'
      this.warnings.push({ line, code: 'compaction/not-visible', message })
      return undefined
    }
    return { kind: 'replace', why: 'compaction', from, keeps: this.#surface.behind(range) }
  }
}

interface Row {
  readonly type: string
  readonly row: LooseObject
  readonly data: LooseObject
  readonly line: number
  readonly seq: number
}

const surfaceTypes: ReadonlySet<string> = new Set([
  'system/message',
  'user/message',
  'assistant/message',
  'tool/result',
])

/** How many seqs a row takes: a run of chunks is one for each of them. */
function eventsIn(row: LooseObject, data: LooseObject | undefined): number {
  const parts = data?.['texts'] ?? data?.['args']
  return stringMember(row, 'type')?.endsWith('-chunks') === true && Array.isArray(parts) ? parts.length : 1
}

type EndKind = Extract<SessionEvent, { type: 'turn/end' }>['data']['reason']['kind']
const endKinds: readonly EndKind[] = ['completed', 'aborted', 'error', 'blocked', 'max-tokens', 'interrupted']

const timeOf = (row: LooseObject): { time?: number } => {
  const time = countMember(row, 'time')
  return time === undefined ? {} : { time }
}

function originOf({ row, line, seq }: Row, message: LooseObject): DraftModel['origin'] {
  const id = stringMember(message, 'id')
  return { lines: [line], key: String(seq), ...timeOf(row), ...(id === undefined ? {} : { id }) }
}
