import { toolCallId } from '@palimpsest/session'
import type { ToolCallId } from '@palimpsest/session'
import type { Draft, DraftModel, DraftResult } from './draft.ts'

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
  readonly at: number
  readonly index: number
}

/**
 * Pairs results with calls by outstanding call, never by "seen before": some servers reuse one id for every call. A
 * result answers the first open call of its id in the latest response before it; one that stands before its call
 * answers that. SPEC 3.1 `pairing/duplicate-call`.
 */
export function pairCalls(drafts: readonly Draft[]): Pairing {
  const open = new Map<string, OpenCall[]>()
  const answers = new Map<DraftModel, Map<number, DraftResult>>()
  const early: DraftResult[] = []
  const assign = (result: DraftResult, calls: OpenCall[] | undefined, place: number): boolean => {
    const [call] = calls?.splice(place, 1) ?? []
    if (call === undefined) return false
    const given = answers.get(call.model) ?? new Map<number, DraftResult>()
    answers.set(call.model, given.set(call.index, result))
    return true
  }
  for (const [at, draft] of drafts.entries()) {
    if (draft.kind === 'model') {
      callIdsOf(draft).forEach((id, index) => {
        const call = { model: draft, at, index }
        const same = open.get(id)
        if (same === undefined) open.set(id, [call])
        else same.push(call)
      })
    } else if (draft.kind === 'result') {
      const calls = open.get(draft.callId)
      if (!assign(draft, calls, firstOfLatest(calls))) early.push(draft)
    }
  }
  const orphans = new Map<DraftResult, 'result/no-call' | 'result/duplicate'>()
  for (const result of early) {
    if (assign(result, open.get(result.callId), 0)) continue
    orphans.set(result, open.has(result.callId) ? 'result/duplicate' : 'result/no-call')
  }
  const calls = new Map<DraftModel, readonly PairedCall[]>()
  for (const draft of drafts) if (draft.kind === 'model') calls.set(draft, pairedCalls(draft, answers.get(draft)))
  return { calls, orphans }
}

/** The place of the first call of the latest response among open calls of one id. */
function firstOfLatest(calls: readonly OpenCall[] = []): number {
  let place = calls.length - 1
  while (place > 0 && calls[place - 1]?.at === calls[place]?.at) place -= 1
  return Math.max(place, 0)
}

function callIdsOf({ blocks }: DraftModel): string[] {
  return blocks.flatMap(({ block }) => (block.type === 'tool-call' ? [block.id] : []))
}

function pairedCalls(model: DraftModel, answers: ReadonlyMap<number, DraftResult> | undefined): PairedCall[] {
  const taken = new Set<string>()
  return callIdsOf(model).map((sourceId, index): PairedCall => {
    const callId = mint(sourceId, taken)
    taken.add(callId)
    const answer = answers?.get(index)
    return { callId: toolCallId(callId), sourceId, ...(answer === undefined ? {} : { answer }) }
  })
}

/** The id itself, or `<id>~2` and so on where it is empty or open already. SPEC 2.4. */
export function mint(sourceId: string, taken: ReadonlySet<string>): string {
  let callId = sourceId
  for (let n = 2; callId === '' || taken.has(callId); n += 1) callId = `${sourceId}~${n}`
  return callId
}
