import type { Draft, DraftBlock, DraftModel, DraftOrigin, DraftUser } from '../conversation/draft.ts'
import type { ReadLine } from '../conversation/source-lines.ts'
import type { Conversation } from '../conversation/write.ts'
import type { AttachmentSink } from '../source.ts'
import { planItems } from './items.ts'
import type { Item, ModelItem } from './items.ts'
import type { Lane } from './lanes.ts'
import { outlineTurns } from './outline.ts'
import type { Outline } from './outline.ts'
import { membersLeftOut, readPart } from './parts.ts'
import type { AssistantPart, LinePart, UserPart } from './parts.ts'
import { reconstruct } from './path.ts'
import type { LineRecord } from './record.ts'
import { conversationWarnings } from './warnings.ts'

/** Reads one conversation of a file, whose lines are all given. Bytes go to the sink. FORMATS 1. */
export async function readLane(
  { records }: Lane,
  file: readonly ReadLine[],
  sink: AttachmentSink,
): Promise<Conversation> {
  const found = reconstruct(records)
  const items = planItems(records, found.segments)
  const parts = new Map<number, LinePart>()
  const leftOut = new Map<number, readonly string[]>()
  for (const at of new Set(items.flatMap((item) => (item.kind === 'model' ? item.lines : [item.at])))) {
    const line = file[(records[at]?.line ?? 0) - 1]
    if (line?.kind !== 'object') continue
    parts.set(at, await readPart(line.value, sink))
    leftOut.set(line.kept.line, membersLeftOut(line.value))
  }
  return {
    drafts: [...new LaneDrafts(records, parts, outlineTurns(items)).of(items), ...rawDrafts(records, found.left)],
    lines: records.flatMap(({ line }) => {
      const read = file[line - 1]
      return read === undefined || read.kind === 'blank' ? [] : [read.kept]
    }),
    blank: records.filter(({ kind }) => kind === 'blank').length,
    warnings: conversationWarnings(records, found),
    leftOut,
  }
}

/** Lines to keep as they stand. Those that answer nothing are for the writer to find. */
function* rawDrafts(records: readonly LineRecord[], left: ReadonlyMap<number, string>): Generator<Draft> {
  for (const [at, { line, kind, type, reason, oddBlocks, userClass, results }] of records.entries()) {
    if (kind === 'blank') continue
    const why =
      reason ??
      left.get(at) ??
      (oddBlocks.length > 0 ? 'block/unsupported' : undefined) ??
      (userClass === 'summary' && results.length > 0 ? 'result/no-call' : undefined)
    if (why !== undefined) yield { kind: 'raw', line, reason: why, ...(type === undefined ? {} : { type }) }
  }
}

/** Turns what was said into drafts. Drafts are named by the position of their first line. */
class LaneDrafts {
  readonly #records: readonly LineRecord[]
  readonly #parts: ReadonlyMap<number, LinePart>
  readonly #outline: Outline
  /** By uuid of a line, the draft that it went into. */
  readonly #keys = new Map<string, string>()

  constructor(records: readonly LineRecord[], parts: ReadonlyMap<number, LinePart>, outline: Outline) {
    this.#records = records
    this.#parts = parts
    this.#outline = outline
  }

  *of(items: readonly Item[]): Generator<Draft> {
    for (const item of items) {
      if (item.kind === 'model') yield this.#model(item)
      else if (item.kind === 'results') yield* this.#results(item.at)
      else if (item.kind === 'summary') yield this.#summary(item)
      else yield this.#user(item, item.userClass === 'meta' ? {} : undefined)
      if (!this.#outline.aborts.has(item)) continue
      yield { kind: 'turn-end', origin: this.#origin([item.at]), reason: { kind: 'aborted', cause: 'user' } }
    }
  }

  #origin(places: readonly number[], id?: string): DraftOrigin {
    const at = places[0] ?? 0
    const { uuid, time } = this.#records[at] ?? {}
    const name = id ?? uuid
    for (const place of places) this.#keys.set(this.#records[place]?.uuid ?? '', String(at))
    return {
      lines: places.flatMap((place) => this.#records[place]?.line ?? []),
      key: String(at),
      ...(time === undefined ? {} : { time }),
      ...(name === undefined ? {} : { id: name }),
    }
  }

  #userPart(at: number): UserPart | undefined {
    const part = this.#parts.get(at)
    return part?.kind === 'user' ? part : undefined
  }

  #user(item: Exclude<Item, { kind: 'model' | 'results' }>, plugin: DraftUser['plugin']): DraftUser {
    return {
      kind: 'user',
      origin: this.#origin([item.at]),
      content: this.#userPart(item.at)?.content ?? [],
      opensTurn: this.#outline.opens.has(item),
      ...(plugin === undefined ? {} : { plugin }),
    }
  }

  #summary(item: Extract<Item, { kind: 'summary' }>): Draft {
    const { mark, preserved, hasHistory } = item.compaction
    const uuid = this.#records[mark]?.uuid
    const keeps = new Set([...preserved].flatMap((kept) => this.#keys.get(kept) ?? []))
    const by = this.#user(item, uuid === undefined ? {} : { compaction: { mark: uuid } })
    return hasHistory ? { kind: 'replace', origin: by.origin, why: 'compaction', keeps, by } : by
  }

  *#results(at: number): Generator<Draft> {
    const { results = [], content = [], toolUseResult } = this.#userPart(at) ?? {}
    const { uuid, line = 0, answers } = this.#records[at] ?? {}
    const name = uuid ?? `line-${line}`
    for (const [index, { callId, content: said, isError, asText }] of results.entries()) {
      const isAlone = results.length === 1 && content.length === 0
      yield {
        kind: 'result',
        origin: this.#origin([at], isAlone ? name : `${name}#${index}`),
        callId,
        content: said,
        isError,
        asText,
        ...(answers === undefined ? {} : { callKey: answers }),
        ...(index > 0 || toolUseResult === undefined ? {} : { meta: { toolUseResult } }),
      }
    }
  }

  #model({ lines, hasCalls, stopReason }: ModelItem): DraftModel {
    const parts = lines.flatMap((at) => {
      const part = this.#parts.get(at)
      return part?.kind === 'assistant' ? [{ at, part }] : []
    })
    const last = parts.at(-1)?.part
    const usage = parts.findLast(({ part }) => part.usage !== undefined)?.part.usage
    return {
      kind: 'model',
      origin: this.#origin(lines, parts[0]?.part.messageId),
      provider: 'anthropic',
      model: last?.model ?? 'unknown',
      blocks: parts.flatMap(({ at, part }) => this.#blocks(at, part)),
      response: last === undefined ? {} : responseOf(last),
      ...(usage === undefined ? {} : { usage }),
      ...(parts.some(({ part }) => part.isAborted) ? { interrupted: true } : {}),
      ...(stopReason === 'max_tokens' && !hasCalls ? { ends: { kind: 'max-tokens' } } : {}),
    }
  }

  #blocks(at: number, { blocks }: AssistantPart): DraftBlock[] {
    const { uuid, time } = this.#records[at] ?? {}
    const named = { ...(uuid === undefined ? {} : { key: uuid }), ...(time === undefined ? {} : { time }) }
    return blocks.map((block) => (block.block.type === 'tool-call' ? { ...block, ...named } : block))
  }
}

function responseOf({ messageId: id, requestId, stopReason }: AssistantPart): NonNullable<DraftModel['response']> {
  return {
    ...(id === undefined ? {} : { id }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(stopReason === undefined ? {} : { stopReason }),
  }
}
