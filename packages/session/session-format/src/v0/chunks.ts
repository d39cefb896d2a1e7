import { type Json, type JsonObject, type StreamChunk, isSessionSeq } from '@palimpsest/session'
import { unsupported } from '../errors.ts'
import type { FormatEvent } from '../log.ts'
import { isObject } from '../members.ts'

/** A piece of a provider stream as an event of its own, as versions 0 and 1 logged it. */
export interface ChunkEvent {
  readonly turn: number
  readonly step: number
  readonly chunk: StreamChunk
}

const members = new Set(['turn', 'step', 'chunk'])
const isText = (value: Json | undefined): boolean => typeof value === 'string'

/** What the chunks that are packed must be, beside their index; of the others only that they have a type. */
const deltas: Readonly<Record<string, (chunk: JsonObject) => boolean>> = {
  'text-delta': ({ text }) => isText(text),
  'reasoning-delta': ({ text }) => isText(text),
  'tool-call-delta': ({ id, name, argumentsDelta }) =>
    isText(id) && id !== '' && (name === undefined || isText(name)) && isText(argumentsDelta),
}

/**
 * The chunk of an `assistant/chunk` event. Throws `SessionFormatUnsupportedMigration` for one that a stream would not
 * give back as it is. SPEC 2.5, 6.
 */
export function chunkOf(event: FormatEvent): ChunkEvent {
  const { data, surfaceOp, sourceEventSeqs } = event
  const { turn, step, chunk } = data
  if (surfaceOp !== undefined || sourceEventSeqs !== undefined) {
    throw unsupported(1, event, 'is a chunk with a place on the surface or with sources')
  }
  const other = Object.keys(data).find((name) => !members.has(name))
  if (other !== undefined) throw unsupported(1, event, `has a member ${JSON.stringify(other)} that no stream keeps`)
  if (!isCount(turn) || !isCount(step)) throw unsupported(1, event, 'is of no turn and step')
  if (!isObject(chunk) || typeof chunk['type'] !== 'string' || chunk['type'] === '') {
    throw unsupported(1, event, 'has no chunk')
  }
  const { type, index } = chunk
  const isDelta = Object.hasOwn(deltas, type)
  const isIndexed = isSessionSeq(index) || (index === undefined && !isDelta)
  if (!isIndexed || (isDelta && deltas[type]?.(chunk) !== true)) {
    throw unsupported(1, event, `has a chunk that is no ${JSON.stringify(type)}`)
  }
  return { turn, step, chunk: chunk as unknown as StreamChunk }
}

function isCount(value: Json | undefined): value is number {
  return isSessionSeq(value) && value > 0
}
