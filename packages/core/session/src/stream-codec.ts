import { streamSchema } from './core-events.ts'
import { SessionError } from './errors.ts'
import type { ToolCallId } from './ids.ts'
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
