import { toolCallId } from '@palimpsest/session'
import type { ToolCallId } from '@palimpsest/session'
import type { Draft, DraftModel, DraftResult } from './draft.ts'
import { UniqueNames } from './unique-names.ts'

/** A call of a response, with the id that it gets and the answer that the source gives it. */
export interface PairedCall {
  /** Unambiguous while it is open. SPEC 2.4. */
  readonly callId: ToolCallId
  readonly sourceId: string
  readonly answer?: DraftResult
}

export interface Pairing {
  /** In the order of the call blocks of each response. */
  readonly calls: ReadonlyMap<DraftModel, readonly PairedCall[]>
  /** Results that answer nothing, and why. */
  readonly orphans: ReadonlyMap<DraftResult, 'result/no-call' | 'result/duplicate'>
}

interface OpenCall {
  readonly model: DraftModel
  readonly index: number
  isAnswered: boolean
}

/** Calls of one id in one response, or under one key. */
class Batch {
  readonly #calls: OpenCall[] = []
  #first = 0

  add(call: OpenCall): void {
    this.#calls.push(call)
  }

  /** The first call that nothing has answered yet. */
  firstOpen(): OpenCall | undefined {
    while (this.#calls[this.#first]?.isAnswered === true) this.#first += 1
    return this.#calls[this.#first]
  }
}

/**
 * Pairs results with calls by outstanding call, never by "seen before": some servers reuse one id for every call. A
 * result answers the call that it names; else the first open one of its id in the latest response before it; one that
 * stands before its call answers that. SPEC 3.1 `pairing/duplicate-call`.
 */
export function pairCalls(drafts: readonly Draft[]): Pairing {
  const batches = new Map<string, Batch[]>()
  const named = new Map<string, Batch>()
  const answers = new Map<DraftModel, Map<number, DraftResult>>()
  const assign = (result: DraftResult): boolean => {
    const key = result.callKey === undefined ? undefined : named.get(keyOf(result.callId, result.callKey))
    const call = key?.firstOpen() ?? lastOpen(batches.get(result.callId) ?? [])
    if (call === undefined) return false
    call.isAnswered = true
    const given = answers.get(call.model) ?? new Map<number, DraftResult>()
    answers.set(call.model, given.set(call.index, result))
    return true
  }
  const early: DraftResult[] = []
  for (const draft of drafts) {
    if (draft.kind === 'model') openCalls(draft, batches, named)
    else if (draft.kind === 'result' && !assign(draft)) early.push(draft)
  }
  // What is left stands before its call: some writers race. The first call is the next one then.
  for (const open of batches.values()) open.reverse()
  const orphans = new Map<DraftResult, 'result/no-call' | 'result/duplicate'>()
  for (const result of early) {
    if (assign(result)) continue
    orphans.set(result, batches.has(result.callId) ? 'result/duplicate' : 'result/no-call')
  }
  const calls = new Map<DraftModel, readonly PairedCall[]>()
  for (const draft of drafts) if (draft.kind === 'model') calls.set(draft, pairedCalls(draft, answers.get(draft)))
  return { calls, orphans }
}

const keyOf = (callId: string, key: string): string => JSON.stringify([callId, key])

function openCalls(model: DraftModel, batches: Map<string, Batch[]>, named: Map<string, Batch>): void {
  const own = new Map<string, Batch>()
  callsOf(model).forEach(({ id, key }, index) => {
    const call = { model, index, isAnswered: false }
    const batch = own.get(id) ?? new Batch()
    if (!own.has(id)) {
      own.set(id, batch)
      const known = batches.get(id)
      if (known === undefined) batches.set(id, [batch])
      else known.push(batch)
    }
    batch.add(call)
    if (key === undefined) return
    const keyed = named.get(keyOf(id, key)) ?? new Batch()
    named.set(keyOf(id, key), keyed)
    keyed.add(call)
  })
}

/** The first open call of the last batch that has one. Batches without any are let go. */
function lastOpen(batches: Batch[]): OpenCall | undefined {
  for (let last = batches.at(-1); last !== undefined; last = batches.at(-1)) {
    const call = last.firstOpen()
    if (call !== undefined) return call
    batches.pop()
  }
  return undefined
}

function callsOf({ blocks }: DraftModel): { readonly id: string; readonly key?: string }[] {
  return blocks.flatMap(({ block, key }) => {
    return block.type === 'tool-call' ? [{ id: block.id, ...(key === undefined ? {} : { key }) }] : []
  })
}

/** Ids are unambiguous within a response: `<id>~2` and so on stand for those that are not. SPEC 2.4. */
function pairedCalls(model: DraftModel, answers: ReadonlyMap<number, DraftResult> | undefined): PairedCall[] {
  const ids = new UniqueNames()
  return callsOf(model).map(({ id: sourceId }, index): PairedCall => {
    const answer = answers?.get(index)
    return { callId: toolCallId(ids.give(sourceId)), sourceId, ...(answer === undefined ? {} : { answer }) }
  })
}
