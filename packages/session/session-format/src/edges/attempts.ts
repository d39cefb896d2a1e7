import { type JsonObject, StreamAccumulator } from '@palimpsest/session'
import type { FormatEvent } from '../log.ts'
import { member } from '../members.ts'
import { type ChunkEvent, chunkOf } from '../v0/chunks.ts'

/** A chunk that waits for the message that cites it. */
export interface PendingChunk extends ChunkEvent {
  readonly event: FormatEvent
}

export function pendingChunk(event: FormatEvent): PendingChunk {
  return { ...chunkOf(event), event }
}

/** The chunks as the stream of a message or an attempt: deltas are never joined, and keep their times. SPEC 2.5. */
export function streamOf(chunks: readonly PendingChunk[]): readonly JsonObject[] {
  const stream = new StreamAccumulator()
  for (const { event, chunk } of chunks) stream.push(event.time, chunk)
  return stream.records() as unknown as readonly JsonObject[]
}

/**
 * Chunks in log order, as the attempts of a model that made them. An attempt ends with its `finish` chunk, and where
 * the next chunk is of another step, starts a block over, or is cited by a message.
 */
export function splitAttempts(chunks: readonly PendingChunk[], cited: ReadonlySet<number>): PendingChunk[][] {
  const attempts: PendingChunk[][] = []
  let open: PendingChunk[] = []
  let started = new Set<number>()
  const close = (): void => {
    if (open.length > 0) attempts.push(open)
    open = []
    started = new Set()
  }
  for (const pending of chunks) {
    const { event, turn, step, chunk } = pending
    if (cited.has(event.seq)) {
      close()
      continue
    }
    const isOver = chunk.type === 'block-start' && started.has(chunk.index)
    const [first] = open
    if (isOver || first?.turn !== turn || first.step !== step) close()
    open.push(pending)
    if (chunk.type === 'block-start') started.add(chunk.index)
    if (chunk.type === 'finish') close()
  }
  close()
  return attempts
}

/** The attempt as one log-only event, at the place and time of its last chunk. Its seq is that of its successor. SPEC 2.3. */
export function attemptEvent(chunks: readonly PendingChunk[], seq: number): FormatEvent {
  const { event, turn, step, chunk } = chunks.at(-1) as PendingChunk
  const reason = chunk.type === 'finish' ? chunk.reason : undefined
  const failure = member(reason, 'kind') === 'error' ? member(reason, 'failure') : undefined
  const data = { turn, step, stream: streamOf(chunks), ...(failure === undefined ? {} : { failure }) }
  return { type: 'assistant/attempt', seq, time: event.time, data, line: event.line }
}
