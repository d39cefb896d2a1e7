import { type Json, type JsonObject, isSessionSeq } from '@palimpsest/session'
import { unsupported } from './errors.ts'
import type { FormatEvent, FormatVersion, SeqMembers, VocabularyPack } from './log.ts'
import { isObject } from './members.ts'
import type { SeqMap } from './seq-map.ts'

const none: SeqMembers = {}
/** Members of core payloads that are seqs. No old version wrote them; where one stands, it means what it means here. */
const coreSeqs: ReadonlyMap<string, SeqMembers> = new Map<string, SeqMembers>([
  ['request/start', { throughSeq: 'cited' }],
  ['assistant/message', { requestSeq: 'cited' }],
  ['assistant/attempt', { requestSeq: 'cited' }],
])
const endpoints: SeqMembers = { start: 'cited', end: 'cited', startSeq: 'cited', endSeq: 'cited' }

/**
 * Takes the event into the successor, every seq that it names moved along: replace endpoints, cited sources, and the
 * payload members that a pack declares. Throws `SessionFormatUnsupportedMigration` for a seq whose
 * event is not in the successor. SPEC 6.
 */
export function moveEvent(
  event: FormatEvent,
  from: FormatVersion,
  map: SeqMap,
  packs: readonly VocabularyPack[],
): FormatEvent {
  const { surfaceOp, sourceEventSeqs, data } = event
  const move = (value: Json, shape: SeqMembers[string], path: string, isInList: boolean = false): Json => {
    if (Array.isArray(value) && !isInList) return value.map((each: Json) => move(each, shape, path, true))
    if (typeof shape === 'object') return moveMembers(value, shape, path)
    const moved = isSessionSeq(value) && value < event.seq ? map.get(value) : undefined
    if (moved !== undefined || value === null) return moved ?? null
    const named = typeof value === 'number' ? String(value) : 'what is no seq'
    throw unsupported(from, event, `names ${named} in ${path}, which is no earlier event that the migrated log has`)
  }
  const moveMembers = (value: Json, shape: SeqMembers, path: string): Json => {
    if (value === null) return value
    if (!isObject(value)) throw unsupported(from, event, `has a ${path} of another shape, and its seqs would not move`)
    const moved: Record<string, Json> = {}
    for (const [name, inner] of Object.entries(shape)) {
      if (Object.hasOwn(value, name)) moved[name] = move(value[name] ?? null, inner, `${path}.${name}`)
    }
    return { ...value, ...moved }
  }
  const shape = coreSeqs.get(event.type) ?? seqMembers(event.type, packs) ?? none
  return {
    ...event,
    data: moveMembers(data, shape, 'data') as JsonObject,
    ...(surfaceOp === undefined
      ? {}
      : { surfaceOp: isObject(surfaceOp) ? moveMembers(surfaceOp, endpoints, 'surfaceOp') : surfaceOp }),
    ...(sourceEventSeqs === undefined
      ? {}
      : { sourceEventSeqs: move(sourceEventSeqs, 'cited', 'sourceEventSeqs') as readonly number[] }),
    seq: map.keep(event.seq),
  }
}

/** What a pack declares of a type, under the name of before or after a renaming; undefined where no pack does. */
export function seqMembers(type: string, packs: readonly VocabularyPack[]): SeqMembers | undefined {
  for (const { types, renamed = {} } of packs) {
    if (Object.hasOwn(types, type)) return types[type]
    const later = Object.hasOwn(renamed, type) ? renamed[type]?.to : undefined
    if (later !== undefined) return Object.hasOwn(types, later) ? types[later] : none
  }
  return undefined
}

/**
 * Throws `SessionFormatUnsupportedMigration` for an event of a type that nobody declares when it has sources, a place on
 * the surface, or a member that is named like a seq: where that would move to, only its plugin knows. SPEC 6.
 */
export function requireNoSeqs(event: FormatEvent, from: FormatVersion): void {
  const { surfaceOp, sourceEventSeqs, data } = event
  const name = (surfaceOp ?? sourceEventSeqs) === undefined ? seqMember(data) : 'surfaceOp or sourceEventSeqs'
  if (name !== undefined)
    throw unsupported(from, event, `is of an unknown type, and its ${name} may name seqs that move`)
}

/** The first member of a payload that is named like a seq. Iterative, since payloads nest as deep as they like. */
function seqMember(data: JsonObject): string | undefined {
  const pending: Json[] = [data]
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (typeof value !== 'object' || value === null) continue
    for (const [name, member] of Object.entries(value)) {
      if (/(?:seqs?|^shadowedRange)$/i.test(name)) return name
      pending.push(member as Json)
    }
  }
  return undefined
}
