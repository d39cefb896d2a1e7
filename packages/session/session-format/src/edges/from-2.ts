import { type Json, type JsonObject, coreEvents, isSurfaceType } from '@palimpsest/session'
import { unsupported } from '../errors.ts'
import type { EdgeContext, FormatEdge, FormatEvent, FormatHeader, VocabularyPack } from '../log.ts'
import { isObject, member } from '../members.ts'
import { moveEvent, requireNoSeqs, seqMembers } from '../references.ts'
import { SeqMap } from '../seq-map.ts'
import { PromptHead } from './prompt-head.ts'

/**
 * Version 2 to 3: the prompt leaves `request/header` for the head of the surface, a replacement names `startSeq` and
 * `endSeq`, and what version 3 does not have is refused. The head stands right after the first `step/start`, or before
 * the first surface event where that comes earlier, since nothing can be put before it afterwards. SPEC 3.4, 6.
 */
export const edgeFrom2: FormatEdge = {
  from: 2,
  to: 3,
  migrate: ({ header, events }, context) => ({
    header: migrateHeader(header),
    events: migrateEvents(header, events, context),
  }),
}

function migrateHeader(header: FormatHeader): FormatHeader {
  const preset = header['agentPreset'] === 'code' ? { agentPreset: 'ptc' } : {}
  return { ...header, version: 3, ...preset }
}

async function* migrateEvents(
  { id }: FormatHeader,
  events: AsyncIterable<FormatEvent>,
  { packs, note }: EdgeContext,
): AsyncGenerator<FormatEvent> {
  const stage = new Stage(id, packs, note)
  for await (const event of events) yield* stage.take(event)
  yield* stage.end()
}

class Stage {
  readonly #packs: readonly VocabularyPack[]
  readonly #note: EdgeContext['note']
  readonly #map = new SeqMap()
  readonly #head: PromptHead
  /** Where the source has its prompts: in its headers, or, as the last builds before version 3, on the surface already. */
  #prompts: 'unknown' | 'headers' | 'surface' = 'unknown'
  /** From the first `step/start` on, until the first surface event tells where the prompts are. */
  #held: FormatEvent[] = []
  #place = { turn: 1, step: 1 }

  constructor(session: string, packs: readonly VocabularyPack[], note: EdgeContext['note']) {
    this.#packs = packs
    this.#note = note
    this.#head = new PromptHead(session, this.#map)
  }

  *take(event: FormatEvent): Generator<FormatEvent> {
    requireConvertible(event, this.#packs)
    if (this.#prompts === 'unknown') {
      if (event.type === 'system/message') yield* this.#decide('surface', event)
      else if (isSurfaceType(event.type) || promptOf(event) !== '') yield* this.#decide('headers', event)
      else if (this.#held.length > 0 || event.type === 'step/start') {
        this.#held.push(event)
        return
      }
    }
    yield* this.#convert(event)
  }

  *end(): Generator<FormatEvent> {
    const [first] = this.#held
    if (first !== undefined) yield* this.#decide('headers', first)
  }

  /** Lets go of what was held, with the head where it belongs. */
  *#decide(prompts: 'headers' | 'surface', event: FormatEvent): Generator<FormatEvent> {
    this.#prompts = prompts
    const [first, ...rest] = this.#held
    this.#held = []
    if (first !== undefined) yield* this.#convert(first)
    if (prompts === 'headers') yield this.#head.set('', { ...this.#place, anchor: first ?? event })
    for (const held of rest) yield* this.#convert(held)
  }

  *#convert(event: FormatEvent): Generator<FormatEvent> {
    this.#follow(event)
    const prompt = promptOf(event)
    const isElsewhere = this.#prompts === 'headers' ? event.type === 'system/message' : prompt !== ''
    if (isElsewhere) throw unsupported(2, event, 'sets the prompt, which this log had in another place before')
    if (event.type === 'request/header' && this.#head.isThere && prompt !== this.#head.prompt)
      yield this.#head.set(prompt, { ...this.#place, anchor: event })
    yield this.#rewrite(moveEvent(event, 2, this.#map, this.#packs))
  }

  #follow({ type, data }: FormatEvent): void {
    const [turn, step] = [data['turn'], data['step']]
    if (type === 'turn/start' && typeof turn === 'number') this.#place = { turn, step: 1 }
    if (type === 'step/start' && typeof turn === 'number' && typeof step === 'number') this.#place = { turn, step }
  }

  #rewrite(event: FormatEvent): FormatEvent {
    return { ...event, type: this.#renamed(event.type), ...operationOf(event), data: this.#dataOf(event) }
  }

  #renamed(type: string): string {
    for (const { renamed = {} } of this.#packs) {
      const name = Object.hasOwn(renamed, type) ? renamed[type] : undefined
      if (name?.at === 3) return name.to
    }
    return type
  }

  #dataOf({ type, data, line }: FormatEvent): JsonObject {
    if (type === 'agent-preset/selected' && data['agentPreset'] === 'code') return { ...data, agentPreset: 'ptc' }
    const { header } = data
    if (type !== 'request/header' || !isObject(header)) return data
    const empty = ['tools', 'adapterDefaults'].filter((name) => isEmpty(member(header, name)))
    for (const name of empty)
      this.#note({ code: 'header/empty', line, message: `${name} was empty: version 3 leaves it out` })
    const kept = Object.entries(header).filter(([name]) => name !== 'system' && !empty.includes(name))
    return { ...data, header: Object.fromEntries(kept) }
  }
}

/** Throws `SessionFormatUnsupportedMigration` for what version 3 has no place for. */
function requireConvertible(event: FormatEvent, packs: readonly VocabularyPack[]): void {
  const { type, surfaceOp, sourceEventSeqs, ignorable } = event
  if (!coreEvents.accepts(type) && seqMembers(type, packs) === undefined) {
    if (ignorable === true) return requireNoSeqs(event, 2)
    throw unsupported(2, event, 'is of a type that no vocabulary pack lists: give the pack of its plugin')
  }
  if (!isSurfaceType(type)) {
    if (surfaceOp === undefined && sourceEventSeqs === undefined) return
    throw unsupported(2, event, 'is no surface event, yet it has a place on the surface')
  }
  if (surfaceOp === undefined) throw unsupported(2, event, 'does not say how it joins the surface')
  if (surfaceOp !== 'append' && !isReplacement(surfaceOp))
    throw unsupported(2, event, 'has a surfaceOp that is neither append nor exactly op, start and end')
  if (type === 'assistant/message' && sourceEventSeqs !== undefined)
    throw unsupported(2, event, 'cites sources, though its stream is in it')
  if (type === 'tool/result') requireOneOutcome(event)
}

function requireOneOutcome(event: FormatEvent): void {
  const content = member(event.data['message'], 'content')
  const isError = Array.isArray(content) && member(content[0] as Json, 'isError') === true
  if (event.data['error'] !== undefined && !isError)
    throw unsupported(2, event, 'carries an error, and its result does not say isError: true')
}

function isReplacement(
  surfaceOp: Json,
): surfaceOp is { readonly op: 'replace'; readonly start: Json; readonly end: Json } {
  return (
    member(surfaceOp, 'op') === 'replace' &&
    member(surfaceOp, 'start') !== undefined &&
    member(surfaceOp, 'end') !== undefined &&
    Object.keys(surfaceOp as JsonObject).length === 3
  )
}

function operationOf({ surfaceOp }: FormatEvent): Pick<FormatEvent, 'surfaceOp'> {
  if (surfaceOp === undefined || !isReplacement(surfaceOp)) return {}
  const { op, start: startSeq, end: endSeq } = surfaceOp
  return { surfaceOp: { op, startSeq, endSeq } }
}

/** The prompt that a header of version 2 holds; empty where it has none, and for every other event. */
function promptOf(event: FormatEvent): string {
  if (event.type !== 'request/header') return ''
  const system = member(event.data['header'], 'system') ?? ''
  if (typeof system === 'string') return system
  throw unsupported(2, event, 'has a prompt that is no text')
}

function isEmpty(value: Json | undefined): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}
