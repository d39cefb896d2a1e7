import { streamSchema } from './core-events.ts'
import { SessionError } from './errors.ts'
import type { ToolCallId } from './ids.ts'
import type { AssistantBlock } from './messages.ts'
import type { AssistantStreamRecord, StreamChunk, TimedChunk } from './stream.ts'

/** Packs chunks as they come. Runs of deltas of one block are packed together, never joined. SPEC 2.5. */
export class StreamAccumulator {
  readonly #records: StreamRun[] = []
  #lastTime = 0

  /** `time` in epoch milliseconds, a safe integer. */
  push(time: number, chunk: StreamChunk): void {
    const last = this.#records.at(-1)
    const delta = asDelta(chunk)
    if (delta === undefined) {
      this.#records.push({ type: 'chunk', time, chunk })
    } else if (last !== undefined && last.type !== 'chunk' && sameRun(last, delta)) {
      last.dt.push(time - this.#lastTime)
      last.parts.push(delta.part)
    } else {
      this.#records.push({ ...delta, time0: time, dt: [], parts: [delta.part] })
    }
    this.#lastTime = time
  }

  /** The records so far, as a fresh array. */
  records(): AssistantStreamRecord[] {
    return this.#records.map((run) => {
      if (run.type === 'chunk') return { ...run }
      const { type, time0, index, id, name } = run
      const dt = [...run.dt]
      if (type !== 'tool-call-chunks') return { type, time0, index, dt, texts: [...run.parts] }
      return {
        type,
        time0,
        index,
        dt,
        id: id as ToolCallId,
        ...(name === undefined ? {} : { name }),
        args: [...run.parts],
      }
    })
  }
}

interface Delta {
  readonly type: 'text-chunks' | 'reasoning-chunks' | 'tool-call-chunks'
  readonly index: number
  readonly id?: ToolCallId | undefined
  readonly name?: string | undefined
  readonly part: string
}
type StreamRun =
  | (Delta & { readonly time0: number; readonly dt: number[]; readonly parts: string[] })
  | { readonly type: 'chunk'; readonly time: number; readonly chunk: StreamChunk }

/** The chunk as a member of a run; undefined when it is no delta, or has a member that a run would lose. */
function asDelta(chunk: StreamChunk): Delta | undefined {
  const members = Object.keys(chunk).length
  switch (chunk.type) {
    case 'text-delta':
      return members === 3 ? { type: 'text-chunks', index: chunk.index, part: chunk.text } : undefined
    case 'reasoning-delta':
      return members === 3 ? { type: 'reasoning-chunks', index: chunk.index, part: chunk.text } : undefined
    case 'tool-call-delta': {
      const { index, id, name, argumentsDelta: part } = chunk
      return members === (name === undefined ? 4 : 5) ? { type: 'tool-call-chunks', index, id, name, part } : undefined
    }
    default:
      return undefined
  }
}

function sameRun(run: Delta, delta: Delta): boolean {
  return run.type === delta.type && run.index === delta.index && run.id === delta.id && run.name === delta.name
}

/**
 * The chunks of a stream with their times, exactly as they were pushed. Throws `SessionError` `stream/invalid`, naming
 * the record, for one of any other shape than `StreamAccumulator` writes. SPEC 2.5.
 */
export function expandStream(records: readonly AssistantStreamRecord[]): TimedChunk[] {
  const issue = streamSchema.safeParse(records).error?.issues[0]
  if (issue !== undefined) {
    const [at, ...member] = issue.path
    throw invalid(Number(at ?? 0), [...member, issue.message].join(': '))
  }
  const chunks: TimedChunk[] = []
  for (const [at, record] of records.entries()) {
    if (record.type === 'chunk') {
      chunks.push({ time: record.time, chunk: record.chunk })
      continue
    }
    const parts = record.type === 'tool-call-chunks' ? record.args : record.texts
    if (parts.length === 0) throw invalid(at, 'the run is empty')
    if (record.dt.length !== parts.length - 1) {
      throw invalid(at, `${parts.length} parts have ${parts.length - 1} gaps, but dt has ${record.dt.length}`)
    }
    let time = record.time0
    for (const [member, part] of parts.entries()) {
      if (member > 0) time += record.dt[member - 1] as number
      if (!Number.isSafeInteger(time)) throw invalid(at, `time ${time} is not an integer number of milliseconds`)
      chunks.push({ time, chunk: expandPart(record, part) })
    }
  }
  return chunks
}

function expandPart(record: Exclude<AssistantStreamRecord, { type: 'chunk' }>, part: string): StreamChunk {
  const { index } = record
  if (record.type === 'tool-call-chunks') {
    const { id, name } = record
    return { type: 'tool-call-delta', index, id, ...(name === undefined ? {} : { name }), argumentsDelta: part }
  }
  return { type: record.type === 'text-chunks' ? 'text-delta' : 'reasoning-delta', index, text: part }
}

function invalid(at: number, why: string): SessionError {
  return new SessionError('stream/invalid', `stream record ${at}: ${why}`)
}

interface OpenBlock {
  type: 'text' | 'reasoning' | 'tool-call' | undefined
  text: string
  id: ToolCallId | undefined
  name: string | undefined
  /** The block as the provider closed it, which settles its content. */
  closed: AssistantBlock | undefined
}

/**
 * The content that a stream built, blocks in the order in which they first appeared. A block that was not closed is
 * assembled from its deltas; of an interrupted stream its text is kept and its half-written call is not, since only
 * the visible prefix counts. Throws `SessionError` `stream/invalid`. SPEC 2.5.
 */
export function assembleStream(
  records: readonly AssistantStreamRecord[],
  options: { readonly interrupted?: boolean } = {},
): AssistantBlock[] {
  const blocks = new Map<number, OpenBlock>()
  for (const { chunk } of expandStream(records)) collect(blocks, chunk)
  return [...blocks.values()].flatMap((block) => settle(block, options.interrupted === true) ?? [])
}

function collect(blocks: Map<number, OpenBlock>, chunk: StreamChunk): void {
  if (!('index' in chunk)) return
  const block = blocks.get(chunk.index) ?? {
    type: undefined,
    text: '',
    id: undefined,
    name: undefined,
    closed: undefined,
  }
  blocks.set(chunk.index, block)
  switch (chunk.type) {
    case 'text-delta':
    case 'reasoning-delta':
      block.type = chunk.type === 'text-delta' ? 'text' : 'reasoning'
      block.text += chunk.text
      break
    case 'tool-call-delta':
      block.type = 'tool-call'
      block.id = chunk.id
      block.name = chunk.name ?? block.name
      block.text += chunk.argumentsDelta
      break
    case 'block-end':
      block.closed = chunk.block
      break
    default:
  }
}

function settle(block: OpenBlock, interrupted: boolean): AssistantBlock | undefined {
  const { type, text, id, name, closed } = block
  if (closed !== undefined) return closed
  if (type === 'text' || type === 'reasoning') return text === '' ? undefined : { type, text }
  if (type === undefined || id === undefined || interrupted) return undefined
  return { type: 'tool-call', id, name: name ?? '', arguments: text }
}
