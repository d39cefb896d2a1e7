import type { JsonObject, SessionEvent } from '@palimpsest/session'
import type { Draft, DraftModel, DraftReplace } from '../conversation/draft.ts'
import type { KeptLine, ReadLine } from '../conversation/source-lines.ts'
import type { Conversation } from '../conversation/write.ts'
import { countMember, isObject, objectMember, plainJson, stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'
import type { ImportWarning } from '../report.ts'
import { assistantBlocks, resultBlocks, textBlocks, userBlocks } from './content.ts'

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
    else reader.read(line.value, line.kept.line)
  }
  const blank = lines.length - kept.length
  return { drafts: reader.drafts, lines: kept, blank, warnings: [refusal], leftOut: new Map() }
}

type Mutable<Draft> = { -readonly [Member in keyof Draft]: Draft[Member] }
type OpenModel = DraftModel & { readonly origin: { readonly lines: number[] } }

class Reader {
  readonly drafts: Draft[] = []
  /** Seqs on the surface, in surface order. */
  readonly #surface: number[] = []
  readonly #calls = new Map<string, OpenModel>()
  #seq = 0
  #hasHead = false
  #opensTurn = true
  #prompt = ''

  read(row: LooseObject, line: number): void {
    const type = stringMember(row, 'type')
    const seq = countMember(row, 'seq') ?? this.#seq
    this.#seq = seq + 1
    const data = objectMember(row, 'data')
    if (type === undefined) return this.raw(line, 'line/no-type')
    if (type === 'session') return this.raw(line, 'state', type)
    if (data === undefined) return this.raw(line, 'message/malformed', type)
    const reason = this.#readEvent({ type, row, data, line, seq })
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
    const header = objectMember(data, 'header') ?? {}
    const { provider: _, model: __, ...config } = objectMember(header, 'config') ?? {}
    const effort = stringMember(config, 'reasoningEffort')
    if (effort !== undefined) this.drafts.push({ kind: 'setting', config: { reasoningEffort: effort } })
    const prompt = stringMember(header, 'system')
    if (prompt === undefined || prompt === this.#prompt) return 'state'
    this.#prompt = prompt
    const origin = { lines: [line], ...timeOf(row) }
    this.drafts.push({ kind: 'system', place: 'head', content: [{ type: 'text', text: prompt }], origin })
    return 'state'
  }

  #readSystem(event: Row): string | undefined {
    const message = objectMember(event.data, 'message') ?? {}
    const content = textBlocks(message['content'])
    if (content === undefined) return 'message/malformed'
    const isHead = this.#surface.length === 0 || replacedBy(event.row)?.start === this.#surface[0]
    if (!isHead && replacedBy(event.row) !== undefined) return 'replace/unsupported'
    this.#hasHead ||= isHead
    this.#place(event)
    this.drafts.push({ kind: 'system', place: isHead ? 'head' : 'here', content, origin: originOf(event, message) })
    return undefined
  }

  #readUser(event: Row): string | undefined {
    const { data, row } = event
    const read = userBlocks(data['content'])
    if (read === undefined) return 'message/malformed'
    const source = objectMember(data, 'source') ?? {}
    const isPerson = stringMember(source, 'kind') === 'user'
    const replaced = this.#replacement(row)
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
    this.#place(event)
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
    if (event.data['interrupted'] === true) draft.interrupted = true
    for (const { block } of read.blocks) if (block.type === 'tool-call') this.#calls.set(block.id, draft)
    this.#place(event)
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
    const [block] = Array.isArray(message['content']) ? (message['content'] as readonly unknown[]) : []
    if (!isObject(block)) return 'message/malformed'
    const callId = stringMember(block, 'toolCallId')
    const read = resultBlocks(block['content'])
    if (callId === undefined || read === undefined) return 'message/malformed'
    if (replacedBy(event.row) !== undefined) return 'replace/unsupported'
    const error = objectMember(event.data, 'error') ?? {}
    const [name, code] = [stringMember(error, 'name'), stringMember(error, 'code')]
    const isError = block['isError'] === true || (name !== undefined && code !== undefined)
    const { meta } = event.data
    this.#place(event)
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
    return undefined
  }

  /** Where on the surface an event goes. */
  #place({ row, seq }: Row): void {
    const range = this.#rangeOf(row)
    if (range === undefined) this.#surface.push(seq)
    else this.#surface.splice(range.start, range.end - range.start + 1, seq)
  }

  #rangeOf(row: LooseObject): { readonly start: number; readonly end: number } | undefined {
    const replaced = replacedBy(row)
    if (replaced === undefined) return undefined
    const [start, end] = [this.#surface.indexOf(replaced.start), this.#surface.indexOf(replaced.end)]
    return start === -1 || end < start ? undefined : { start, end }
  }

  #replacement(row: LooseObject): Omit<DraftReplace, 'origin' | 'by'> | undefined {
    const range = this.#rangeOf(row)
    if (range === undefined) return undefined
    // The head stays: no summary stands for it.
    const start = this.#hasHead ? Math.max(range.start, 1) : range.start
    if (start > range.end) return undefined
    const keeps = new Set(this.#surface.slice(range.end + 1).map(String))
    return { kind: 'replace', why: 'compaction', from: String(this.#surface[start]), keeps }
  }
}

interface Row {
  readonly type: string
  readonly row: LooseObject
  readonly data: LooseObject
  readonly line: number
  readonly seq: number
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

/** The seqs that a replacement names, in the members of any version. */
function replacedBy(row: LooseObject): { readonly start: number; readonly end: number } | undefined {
  const op = objectMember(row, 'surfaceOp')
  if (op === undefined) return undefined
  const start = countMember(op, 'startSeq') ?? countMember(op, 'start')
  const end = countMember(op, 'endSeq') ?? countMember(op, 'end')
  return start === undefined || end === undefined ? undefined : { start, end }
}
