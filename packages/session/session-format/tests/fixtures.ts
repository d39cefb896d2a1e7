import { type AssistantBlock, type Json, type JsonObject, toJson, toolCallId } from '@palimpsest/session'

type Members = Readonly<Record<string, Json | undefined>>

/** Members that are undefined count as absent. */
function object(members: Members): JsonObject {
  return Object.fromEntries<Json>(
    Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  )
}

export function userMessage(id: string | undefined, text: string): JsonObject {
  return object({ id, role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } })
}

export function assistantMessage(id: string | undefined, content: readonly Json[]): JsonObject {
  return object({ id, role: 'assistant', content, source: { kind: 'model', provider: 'acme', model: 'm-1' } })
}

export function resultMessage(id: string | undefined, callId: string, text: string): JsonObject {
  const content = [{ type: 'text', text }]
  return object({
    id,
    role: 'user',
    source: { kind: 'tool', callId },
    content: [{ type: 'tool-result', toolCallId: callId, content, isError: false }],
  })
}

/** What a model streamed: whole blocks, and where their text was cut. */
export interface StreamedBlock {
  readonly block: AssistantBlock
  readonly parts: readonly string[]
}

export function streamed(type: 'text' | 'reasoning', parts: readonly string[]): StreamedBlock {
  return { block: { type, text: parts.join('') }, parts }
}

export function streamedCall(id: string, parts: readonly string[]): StreamedBlock {
  return { block: { type: 'tool-call', id: toolCallId(id), name: 'run', arguments: parts.join('') }, parts }
}

/** One delta of a block. */
function delta({ block }: StreamedBlock, index: number, part: string): JsonObject {
  if (block.type !== 'tool-call') return { type: `${block.type}-delta`, index, text: part }
  return { type: 'tool-call-delta', index, id: block.id, name: block.name, argumentsDelta: part }
}

/** How a log is written down: runs of deltas in one row or each in its own, cited seqs as ranges or one by one. */
export interface WrittenAs {
  readonly packed?: boolean
  readonly ranges?: boolean
  /** As the newest recorded fixtures: without `seq` and `time`. */
  readonly bare?: boolean
}

/** Writes a log of version 0 or 1, event by event. Each event has a time that no other has. */
export class OldLog {
  readonly header: JsonObject
  readonly events: JsonObject[] = []
  turn = 0
  step = 0

  constructor(header: Members = {}) {
    this.header = object({ type: 'session', version: 0, id: 'old', createdAt: 1_000, delegationDepth: 0, ...header })
  }

  /** Returns the seq. */
  add(type: string, data: JsonObject, metadata: Members = {}): number {
    const seq = this.events.length
    this.events.push(object({ type, seq, time: 2_000 + seq * 7, data, ...metadata }))
    return seq
  }

  append(type: string, data: JsonObject, sourceEventSeqs?: readonly number[]): number {
    return this.add(type, data, { surfaceOp: 'append', sourceEventSeqs })
  }

  startTurn(): void {
    this.turn += 1
    this.step = 0
    this.add('turn/start', { turn: this.turn })
  }

  endTurn(): void {
    this.add('turn/end', { turn: this.turn, reason: { kind: 'completed' } })
  }

  startStep(): void {
    this.step += 1
    this.add('step/start', this.here())
  }

  endStep(): void {
    this.add('step/end', this.here())
  }

  here(): JsonObject {
    return { turn: this.turn, step: this.step }
  }

  user(text: string): number {
    return this.append('user/message', userMessage(`u${this.events.length}`, text))
  }

  chunk(chunk: JsonObject): number {
    return this.add('assistant/chunk', { ...this.here(), chunk })
  }

  /** Chunks of an attempt; `between` is called before each block closes. Returns their seqs. */
  stream(blocks: readonly StreamedBlock[], finish: Json | undefined, between: () => void = () => {}): number[] {
    const seqs: number[] = []
    for (const [index, streamedBlock] of blocks.entries()) {
      const { block, parts } = streamedBlock
      seqs.push(this.chunk({ type: 'block-start', index, blockType: block.type }))
      for (const part of parts) seqs.push(this.chunk(delta(streamedBlock, index, part)))
      between()
      seqs.push(this.chunk({ type: 'block-end', index, block: toJson(block) }))
    }
    if (finish !== undefined) seqs.push(this.chunk({ type: 'finish', reason: finish }))
    return seqs
  }

  /** A whole answer: its chunks and the message that cites them. */
  answer(blocks: readonly StreamedBlock[], between?: () => void): number {
    const chunks = this.stream(blocks, { kind: 'stop' }, between)
    const content = blocks.map(({ block }) => toJson(block))
    const message = assistantMessage(`a${this.events.length}`, content)
    return this.append('assistant/message', { ...this.here(), message }, chunks)
  }

  callAndResult(id: string, text: string): number {
    const call = this.add('tool/call', { ...this.here(), callId: id, name: 'run', arguments: '{}' })
    const message = resultMessage(`r${this.events.length}`, id, text)
    return this.append('tool/result', { ...this.here(), message }, [call])
  }

  rows({ packed = false, ranges = false, bare = false }: WrittenAs = {}): readonly JsonObject[] {
    const rows = (packed ? packRows(this.events) : this.events).map((row) => {
      const sources = row['sourceEventSeqs'] as readonly number[] | undefined
      const { seq, time, seq0, time0, ...rest } = row
      const place = bare ? {} : object({ seq, time, seq0, time0 })
      return object({
        ...rest,
        ...place,
        sourceEventSeqs: ranges && sources !== undefined ? toRanges(sources) : sources,
      })
    })
    return [this.header, ...rows]
  }
}

/** Rows as the bytes of a file, in chunks of a few bytes each. */
export async function* bytesOf(rows: readonly Json[], chunkLength: number = 4_096): AsyncGenerator<Uint8Array> {
  yield* textBytes(rows.map((row) => `${JSON.stringify(row)}\n`).join(''), chunkLength)
}

export async function* textBytes(text: string | Uint8Array, chunkLength: number = 4_096): AsyncGenerator<Uint8Array> {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text
  // One buffer for all chunks, as a reader may do.
  const buffer = new Uint8Array(chunkLength)
  for (let at = 0; at < bytes.length; at += chunkLength) {
    const part = bytes.subarray(at, at + chunkLength)
    buffer.set(part)
    yield buffer.subarray(0, part.length)
  }
}

function toRanges(seqs: readonly number[]): Json {
  const ranges: Json[] = []
  for (let at = 0; at < seqs.length;) {
    const start = seqs[at] as number
    let length = 1
    while (seqs[at + length] === start + length) length += 1
    if (length > 2) ranges.push([start, start + length - 1])
    else ranges.push(...seqs.slice(at, at + length))
    at += length
  }
  return ranges
}

const runs: Readonly<Record<string, string>> = {
  'text-delta': 'text-chunks',
  'reasoning-delta': 'reasoning-chunks',
  'tool-call-delta': 'tool-call-chunks',
}

/** Packs each run of deltas of one block into one row. */
function packRows(events: readonly JsonObject[]): JsonObject[] {
  const rows: JsonObject[] = []
  let run: JsonObject[] = []
  const keyOf = (event: JsonObject): string | undefined => {
    const { chunk, ...place } = event['data'] as JsonObject
    const { type, text: _, argumentsDelta: __, ...block } = (chunk ?? {}) as JsonObject
    const packed = event['type'] === 'assistant/chunk' ? runs[type as string] : undefined
    return packed && JSON.stringify([packed, place, block])
  }
  const close = (): void => {
    const [first] = run
    const key = first && keyOf(first)
    if (first !== undefined && key !== undefined) {
      const [type, place, block] = JSON.parse(key) as [string, JsonObject, JsonObject]
      const chunks = run.map((event) => (event['data'] as JsonObject)['chunk'] as JsonObject)
      const times = run.map((event) => event['time'] as number)
      const parts = chunks.map((chunk) => chunk['text'] ?? chunk['argumentsDelta'] ?? '')
      const dt = times.slice(1).map((time, at) => time - (times[at] as number))
      const data = { ...place, ...block, dt, [type === 'tool-call-chunks' ? 'args' : 'texts']: parts }
      rows.push(object({ type, seq0: first['seq'], time0: first['time'], data }))
    }
    run = []
  }
  for (const event of events) {
    const key = keyOf(event)
    if (run[0] !== undefined && key !== keyOf(run[0])) close()
    if (key === undefined) rows.push(event)
    else run.push(event)
  }
  close()
  return rows
}
